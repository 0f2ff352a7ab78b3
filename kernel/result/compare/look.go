package compare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/methods"
)

// LooksCount reports whether there is a verdict for which it matters how often one looks:
// some pair could have been decided by samples as many as these. Graders alone give no
// verdict. An e-value holds whenever one looks. A design of looks has paid for them, so that
// all of them are one; with another limit it is another look.
func (c *Comparison) LooksCount() bool {
	if c.Metric == "" || c.Uncalibrated() || c.Sequential != nil && c.Sequential.Looks == 0 {
		return false
	}
	return slices.ContainsFunc(c.Pairs, func(p Pair) bool {
		d := p.Metrics[c.Metric]
		if d.Stop != nil {
			return d.Stop.State != Open
		}
		return !d.Silent && d.P.Defined()
	})
}

// Look records in the store that somebody is shown the verdict of c, which compares m, and
// says in c what all looks at its question mean for it. runs are the ids of those that
// are shown. After an error, c says what could be read.
func (m *Merged) Look(ctx context.Context, store *cache.Store, c *Comparison, runs []string) error {
	question, data, series, err := m.asked(c)
	if err != nil {
		return err
	}
	looks, err := looksAt(ctx, store, question)
	number := 1 + slices.IndexFunc(looks, func(l keyed) bool { return l.data == data.String() })
	if err == nil && number == 0 && len(looks) < MaxLooks {
		now := keyed{c.lookAt(series, runs), data.String()}
		var raw []byte
		if raw, err = record.Marshal(now.Look); err == nil {
			err = store.PutLook(ctx, question, data, raw)
		}
		looks = append(looks, now)
		number = len(looks)
	}
	all := make([]Look, len(looks))
	for i, l := range looks {
		all[i] = l.Look
	}
	if len(all) > 0 {
		c.setLooks(question.String(), all, number)
	}
	return err
}

// keyed is a look with the key of its data.
type keyed struct {
	Look
	data string
}

// looksAt reads the looks at a question, the first one first. A damaged one is a look
// of which nothing else is known.
func looksAt(ctx context.Context, store *cache.Store, question cache.Key) (all []keyed, err error) {
	for e, err := range store.Looks(ctx, question) {
		if err != nil && !errors.Is(err, cache.ErrCorrupt) {
			return all, err
		}
		look := keyed{data: e.ID}
		if err == nil && json.Unmarshal(e.Data, &look.Look) != nil {
			look.Look = Look{}
		}
		all = append(all, look)
	}
	slices.SortFunc(all, func(a, b keyed) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.data, b.data)) })
	return all, nil
}

// asked identifies the question of a comparison, the data that it is answered with,
// and the series that they grow in. The question is what is compared and on which
// measure, whatever the samples, epochs and seeds; the data are the trials that say
// something about a method.
func (m *Merged) asked(c *Comparison) (question, data cache.Key, series string, err error) {
	sum := func(v any) cache.Key {
		return sha256.Sum256(methods.Must(json.Marshal(v))) // strings always encode
	}
	var sides, trials, seeds []string
	for _, s := range m.sides {
		run := s.runs[0].Run
		at := slices.IndexFunc(run.Config.Methods, func(m record.Method) bool { return m.Label == s.method })
		method := run.Config.Methods[at]
		config := *run
		config.Config.Seed, method.Label = 0, ""
		digest, err := madeBy(&config, method)
		if err != nil {
			return question, data, "", err
		}
		sides, seeds = append(sides, digest), append(seeds, fmt.Sprint(digest, run.Config.Seed))
		var hashes []string
		for _, t := range s.trials {
			if !t.Infra {
				hashes = append(hashes, t.Hash)
			}
		}
		slices.Sort(hashes)
		trials = append(trials, digest+sum(hashes).String())
	}
	first := ""
	if len(m.sides) > 0 {
		if samples := samplesOf(m.sides[0].runs); len(samples) > 0 {
			first = samples[0].ID
		}
	}
	slices.Sort(sides)
	slices.Sort(seeds)
	slices.Sort(trials)
	if g := c.Grading; g != nil && g.Labelled > 0 { // more labels are another look
		trials = append(trials, fmt.Sprint(g.Labelled, g.Right, g.TooKind, g.TooHard))
	}
	if c.Budget != nil { // one that was tried is another look
		trials = append(trials, fmt.Sprintf("%+v", *c.Budget))
	}
	question = sum([]any{"noema/question/1", c.Metric, nil, sides})
	return question, sum(trials), sum([]any{seeds, first}).String()[:8], nil
}
