// Package attack changes the texts that methods read, to see what they withstand: typos,
// instructions that were slipped in, fake or repeated reviews, sarcasm, padding. An
// attack never touches what decides a right answer. By default reviews that share a
// word with the request stay as they are, for every item alike, so that neither the
// answer changes nor the right item stands out by being clean. On real reviews that
// spares most of the text; with scope=all those are attacked as well, and a change
// is kept only if the review, read again, still decides the same.
//
// The rate is that of the text that may change. What share of all text that is,
// each sample and the table say: see [Extent]. An attack that changes no byte is an
// error and no result. Trials keep the random seeds of the clean task, so that items
// are shuffled alike with and without the attack.
//
// Source: the robustness runs of the project behind seed 000, which edited a field
// that its data did not have, and so measured nothing.
package attack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// Attack is what is done, and to which share of the texts.
type Attack struct {
	Name string
	Rate float64 // above 0, at most 1: share of the words (typo) or of the reviews that may change
	All  bool    // scope=all: reviews that share a word with the request may change, too
}

// Names lists the attacks.
func Names() []string {
	return []string{"typo", "injection", "override", "fake-positive", "sarcasm", "verbose", "duplicate", "heterogeneity"}
}

// Parse reads "typo:0.1" and "typo:0.1?scope=all".
func Parse(text string) (Attack, error) {
	before, option, scoped := strings.Cut(text, "?")
	name, rate, ok := strings.Cut(before, ":")
	r, err := strconv.ParseFloat(rate, 64)
	if ok && err == nil && !slices.Contains(Names(), name) {
		return Attack{}, fmt.Errorf("parse attack %q: unknown attack %q%s: use one of %s", text, name, methods.DidYouMean(name, Names()), strings.Join(Names(), ", "))
	}
	if !slices.Contains(Names(), name) || !ok || err != nil || !(r > 0 && r <= 1) {
		return Attack{}, fmt.Errorf("parse attack %q: use NAME:RATE, as in typo:0.1, with a rate above 0 up to 1 and one of %s", text, strings.Join(Names(), ", "))
	}
	if scoped && option != "scope=all" && option != "scope=spare" {
		return Attack{}, fmt.Errorf("parse attack %q: unknown option %q: use scope=all or scope=spare", text, option)
	}
	return Attack{name, r, option == "scope=all"}, nil
}

// String is the attack as it is written.
func (a Attack) String() string {
	if a.All {
		return fmt.Sprintf("%s:%g?scope=all", a.Name, a.Rate)
	}
	return fmt.Sprintf("%s:%g", a.Name, a.Rate)
}

// Apply returns a copy of t under attack. Targets, tools and everything else stay.
// The same seed always gives the same texts.
func (a Attack) Apply(t *task.Task, seed uint64) (*task.Task, error) {
	out := *t
	out.Samples = slices.Clone(t.Samples)
	out.Config = strings.TrimPrefix(t.Config+"&attack="+a.String(), "&")
	out.Version = t.Version + "+attack2"
	out.Change = a.String()
	var err error
	if out.SeedDigest, err = t.Digest(); err != nil {
		return nil, err
	}
	var all Extent
	for i, s := range t.Samples {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s", a.Name, s.ID)
		w := work{Attack: a, rng: rand.New(rand.NewPCG(seed, h.Sum64())), decides: deciderOf(s.Problem.Query)}
		context, err := w.context(s.Problem.Context)
		if err != nil {
			return nil, fmt.Errorf("attack %s on task %q, sample %q: %w", a, t.Name, s.ID, err)
		}
		out.Samples[i].Problem.Context = context
		out.Samples[i].Metadata = with(s.Metadata, "attack", w.extent.text(a))
		all.add(w.extent)
	}
	if all.Changed == 0 {
		return nil, fmt.Errorf("attack %s on task %q: the attack changes nothing: %s", a, t.Name, all.cure(a))
	}
	out.Notes = append(slices.Clone(t.Notes), fmt.Sprintf("attack %s: %s", a, all.text(a)))
	return &out, nil
}

// with is a copy of the metadata with one entry more.
func with(all map[string]string, key, value string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, all)
	out[key] = value
	return out
}

// work is an attack on one sample.
type work struct {
	Attack
	rng     *rand.Rand
	decides decider
	extent  Extent
}

// errNoReviews says that a problem has nothing to attack.
var errNoReviews = errors.New("this task has no reviews: attacks need cafes or policy, or your own data with reviews")

// context attacks the reviews of a problem's data. All else keeps its bytes.
func (w *work) context(raw json.RawMessage) (json.RawMessage, error) {
	if at, ok := member(raw, "reviews"); ok {
		return w.replace(raw, at)
	}
	items, ok := member(raw, task.ItemsKey)
	if !ok {
		return nil, errNoReviews
	}
	var b bytes.Buffer
	done, found := 0, false
	for _, item := range elements(raw[items.from:items.to]) {
		from, to := items.from+item.from, items.from+item.to
		at, ok := member(raw[from:to], "reviews")
		if !ok {
			continue
		}
		found = true
		changed, err := w.replace(raw[from:to], at)
		if err != nil {
			return nil, err
		}
		b.Write(raw[done:from])
		b.Write(changed)
		done = to
	}
	if !found {
		return nil, errNoReviews
	}
	b.Write(raw[done:])
	return b.Bytes(), nil
}

// replace puts attacked reviews in the place of the list at a place in its
// surroundings.
func (w *work) replace(around json.RawMessage, at span) (json.RawMessage, error) {
	var reviews, attacked []json.RawMessage
	if err := json.Unmarshal(around[at.from:at.to], &reviews); err != nil {
		return nil, fmt.Errorf("read reviews: %w", err)
	}
	before := w.extent.Changed
	for _, raw := range reviews {
		attacked = append(attacked, w.review(raw)...)
	}
	if w.extent.Changed == before {
		return around, nil
	}
	return at.replace(around, methods.Must(methods.EncodeJSON(attacked))), nil
}
