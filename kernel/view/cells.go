package view

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

// came is how a trial came out.
type came byte

const (
	notRun came = iota
	leftOut
	unscored
	right
	wrong
	noAnswer
)

// looks are the class, the mark and the words of each.
func (c came) looks() (class, mark, words string) {
	switch c {
	case leftOut:
		return "missing", "–", "left out"
	case unscored:
		return "", "", "unscored"
	case right:
		return "good", "✓", "right"
	case wrong:
		return "bad", "✕", "wrong"
	case noAnswer:
		return "none", "–", "no answer"
	}
	return "missing", "", "not run"
}

func cameOf(t *record.Trial) came {
	switch {
	case t.Infra:
		return leftOut
	case compare.Right(t): // a default may be
		return right
	case t.Answer.Outcome != methods.Answered:
		return noAnswer
	case compare.Wrong(t):
		return wrong
	}
	return unscored
}

// cells are what each method came to on each sample. They are all that stays of the trials
// of a large run.
type cells struct {
	methods []string
	tally   [][]tally // of a sample's epochs, by method and sample
	samples []task.Sample
	at      map[string]int      // of a sample
	came    [][]came            // in most epochs, by method and sample
	words   [][]string          // answers in short, of an epoch that came out as most
	outcome [][]methods.Outcome // of the first epoch that brought no answer, or of the first
	seeds   [][]uint64          // of the trials whose answers these are
	beats   map[[2]int][]bool   // by two methods: the samples on which the first is better
	dispute []int               // samples, the most disputed first
	blocks  []block             // of dispute
	trials  int
	tree    string // the hash of the tree over all trials; empty while the run is unfinished
}

// tally counts how epochs came out.
type tally [noAnswer + 1]uint16

// most is how the most epochs came out, and of equally many the worse.
func (t tally) most() (most came) {
	for i, n := range t {
		if n > 0 && n >= t[most] {
			most = came(i)
		}
	}
	return most
}

// block is a run of samples that are disputed alike.
type block struct {
	from, to int
	agree    int // methods that are right; -1 where no verdict is known
}

// cellWords is how much of an answer a cell keeps, in characters.
const cellWords = 60

func cellsOf(l *loaded, all *lab.Result) (*cells, error) {
	c := &cells{methods: runner.Labels(l.Run), samples: l.Samples(), trials: len(all.Result.Trials)}
	c.room()
	for _, t := range all.Result.Trials {
		c.add(t)
	}
	var err error
	if c.tree, err = treeOf(all); err != nil {
		return nil, err
	}
	c.order()
	c.pairs(all)
	return c, nil
}

// room makes room for every trial.
func (c *cells) room() {
	n, of := len(c.samples), len(c.methods)
	c.at, c.seeds, c.beats = make(map[string]int, n), make([][]uint64, of), map[[2]int][]bool{}
	c.tally, c.came, c.words, c.outcome = make([][]tally, of), make([][]came, of), make([][]string, of), make([][]methods.Outcome, of)
	for i, s := range c.samples {
		c.at[s.ID] = i
	}
	for m := range c.methods {
		c.tally[m], c.came[m], c.words[m], c.outcome[m], c.seeds[m] = make([]tally, n), make([]came, n), make([]string, n), make([]methods.Outcome, n), make([]uint64, n)
	}
}

// add notes a trial; those of a sample come in the order of their epochs.
func (c *cells) add(t *record.Trial) {
	m := slices.Index(c.methods, t.ID.Method)
	i, known := c.at[t.ID.Sample]
	if m < 0 || !known {
		return
	}
	before := c.came[m][i]
	c.tally[m][i][cameOf(t)]++
	c.came[m][i] = c.tally[m][i].most()
	if was := c.outcome[m][i]; was == "" || was == methods.Answered {
		c.outcome[m][i] = t.Answer.Outcome
	}
	if c.came[m][i] == before {
		return
	}
	words := unquoted(string(t.Answer.Value))
	if said, ok := t.Answer.InWords(); ok {
		words = said
	}
	if words == "" {
		words = cmp.Or(t.Failure, t.Answer.Reason)
	}
	c.words[m][i], c.seeds[m][i] = strings.Clone(display.Line(words, cellWords)), t.Seed
}

// unquoted is a text as JSON has it, or anything else as it is.
func unquoted(raw string) string {
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	return raw
}

// votes are how many methods are right on a sample, and how many are not.
func (c *cells) votes(i int) (yes, no int) {
	for m := range c.methods {
		switch c.came[m][i] {
		case right:
			yes++
		case wrong, noAnswer:
			no++
		}
	}
	return yes, no
}

// failed reports whether a method is wrong, in some epoch, on a sample whose target is known.
func (c *cells) failed(m, i int) bool {
	t := c.tally[m][i]
	return t[wrong] > 0 || t[noAnswer] > 0 && c.samples[i].Scored()
}

// order puts the most disputed samples first, and equal verdicts beside each other.
func (c *cells) order() {
	n := len(c.samples)
	minority, agree := make([]int, n), make([]int, n)
	c.dispute = make([]int, n)
	for i := range c.dispute {
		yes, no := c.votes(i)
		if c.dispute[i], minority[i], agree[i] = i, min(yes, no), yes; yes+no == 0 {
			agree[i] = -1
		}
	}
	slices.SortStableFunc(c.dispute, func(a, b int) int {
		if by := cmp.Or(cmp.Compare(minority[b], minority[a]), cmp.Compare(agree[b], agree[a])); by != 0 {
			return by
		}
		for m := range c.methods {
			if by := cmp.Compare(c.came[m][a], c.came[m][b]); by != 0 {
				return by
			}
		}
		return 0
	})
	for at, i := range c.dispute {
		if last := len(c.blocks) - 1; last >= 0 && c.blocks[last].agree == agree[i] {
			c.blocks[last].to = at + 1
			continue
		}
		c.blocks = append(c.blocks, block{at, at + 1, agree[i]})
	}
}

// pairs notes for every two methods the samples that the first wins; nothing of measures of
// all samples together.
func (c *cells) pairs(all *lab.Result) {
	beats, err := all.Beats()
	if err != nil {
		return
	}
	for a, first := range c.methods {
		for b, second := range c.methods {
			if a == b {
				continue
			}
			won, err := beats(first, second)
			if err != nil {
				return
			}
			on := make([]bool, len(c.samples))
			for _, id := range won {
				if i, ok := c.at[id]; ok {
					on[i] = true
				}
			}
			c.beats[[2]int{a, b}] = on
		}
	}
}

// label is a target or an answer as people read it: the items of a ranking by their names.
func (l *loaded) label(s task.Sample, seed uint64, method int, words string) string {
	if s.Problem.Answer.Kind != methods.Ranking || !strings.HasPrefix(words, "[") {
		return unquoted(words)
	}
	list, _, _ := strings.Cut(strings.Trim(words, "[]"), "…")
	var place int
	if err := json.Unmarshal([]byte(strings.Split(list, ",")[0]), &place); err != nil {
		return words
	}
	if names := l.items(s, seed, method >= 0 && l.Run.Config.Methods[method].Shuffle); 0 < place && place <= len(names) {
		return names[place-1]
	}
	return words
}

// items are the names of a ranking's items as a trial meets them, as exports have them.
func (l *loaded) items(s task.Sample, seed uint64, shuffle bool) []string {
	type key struct {
		sample  string
		seed    uint64
		shuffle bool
	}
	k := key{s.ID, seed, shuffle}
	if known, ok := l.names.Load(k); ok {
		return known.([]string)
	}
	var names []string
	if p, _, err := s.Present(seed, shuffle); err == nil {
		names = runner.ItemNames(p.Context)
	}
	l.names.Store(k, names)
	return names
}
