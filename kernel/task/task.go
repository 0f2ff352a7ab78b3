// Package task holds what methods are measured on: samples with their
// targets, the environment of tools that their problems come with, and the
// loaders that read them. A task has no solver in it (unlike Inspect's), and
// nothing that a method may see leads from a sample to its target.
package task

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"noema/kernel/base/score"
	"noema/methods"
)

// Task is a set of samples with the environment that their problems need.
type Task struct {
	Name    string   // as written after --task
	Version string   // of the generator or loader; changes when the samples do
	Summary string   // one line for listings
	Config  string   // the options it was made with, as sorted "key=value&…"
	Source  string   // where the data is from: "generated", or a description of the files
	Notes   []string // what a reader of results must know, for example dropped fields
	// Scorer says how answers are scored; the zero value by their kind.
	Scorer score.Scoring `json:",omitzero"`
	// SeedDigest is the digest that trials' seeds are derived from; empty means the
	// task's own. A changed copy of a task keeps the seeds of the original. A sample may
	// have its own.
	SeedDigest string   `json:",omitempty"`
	Change     string   `json:",omitempty"` // what was done to that original, such as "typo:0.3"
	Reading    *Reading `json:",omitempty"` // what of the problems' data its tools can find; nil for nothing
	Samples    []Sample

	Right       string      `json:"-"` // the column that its targets are from, where they are from one
	Environment Environment `json:"-"` // nil if its problems have no tools
	// Context is what the problems of its environment need beside their question,
	// such as the workflows of a log; a user's own question gets it too. May be nil.
	Context json.RawMessage `json:"-"`
}

// Sample is one dataset item.
type Sample struct {
	ID       string
	Group    string            // for breakdowns, such as "G03"; may be empty
	Cluster  string            // samples of one cluster are not independent; may be empty
	Problem  methods.Problem   // without Seed and Options, which belong to a trial
	Target   json.RawMessage   // the right answer, in the form of Answer.Value; for a ranking, the gold items; nil or null if it is not known
	Metadata map[string]string // for people; no method sees it
	// SeedDigest, in a task that grows, is what the seeds of the sample's trials are derived
	// from in place of the task's digest and the ID; see [SeedEach].
	SeedDigest string `json:",omitempty"`
}

// SeedEach derives the trials' seeds of each sample from its own problem, and of equal ones
// from their order, so that adding a row to a table, or putting a target right, asks no other
// row again. What only the reader of replies uses moves no seed: the question is the same.
func SeedEach(samples []Sample) error {
	known := map[[sha256.Size]byte]int{} // how many so far, by the digest of a problem
	for i := range samples {
		asked := samples[i].Problem
		asked.Answer.Texts, asked.Answer.Decimal, asked.Answer.Percent = nil, "", ""
		raw, err := json.Marshal(asked)
		if err != nil {
			return fmt.Errorf("digest sample %q: %w", samples[i].ID, err)
		}
		problem := sha256.Sum256(raw)
		known[problem]++
		sum := sha256.Sum256(fmt.Appendf(raw, "\n%d", known[problem]))
		samples[i].SeedDigest = hex.EncodeToString(sum[:16])
	}
	return nil
}

// Seeded is what record.TrialSeed derives the seeds of the sample's trials from, in a task
// whose digest for seeds is given.
func (s Sample) Seeded(taskDigest string) (digest, sample string) {
	if s.SeedDigest != "" {
		return s.SeedDigest, ""
	}
	return taskDigest, s.ID
}

// Scored reports whether the right answer is known. Trials on a sample without a
// target are run and shown; no metric counts them.
func (s Sample) Scored() bool { return len(s.Target) > 0 && string(s.Target) != "null" }

// ItemsKey is the key of a ranking problem's Context that holds its items, a
// list of AnswerSpec.N values.
const ItemsKey = "items"

// Digest identifies the task's content: two tasks with equal digests ask the
// same questions, offer the same tools and expect the same answers.
func (t *Task) Digest() (string, error) {
	var tools []methods.ToolSpec
	if t.Environment != nil {
		tools = t.Environment.Tools()
	}
	raw, err := json.Marshal(struct {
		Format        int
		Name, Version string
		Scorer        score.Scoring      `json:",omitzero"`
		Tools         []methods.ToolSpec `json:",omitempty"`
		Reading       *Reading           `json:",omitempty"`
		Samples       []Sample
	}{1, t.Name, t.Version, t.Scorer, tools, t.Reading, t.Samples})
	if err != nil {
		return "", fmt.Errorf("digest task %q: %w", t.Name, err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

// Present returns the problem and the target of s as a trial with the given
// seed meets them. If shuffle is set, the items of a ranking problem come in
// an order drawn from the seed, and the target is renumbered to match, so
// that a model's bias for a position cannot favour any item.
func (s Sample) Present(seed uint64, shuffle bool) (methods.Problem, json.RawMessage, error) {
	p := s.Problem
	p.ID, p.Seed = s.ID, seed
	if !s.Scored() {
		s.Target = nil // a stored sample says null
	}
	if !shuffle || p.Answer.Kind != methods.Ranking {
		return p, s.Target, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.Context, &fields); err != nil {
		return p, nil, fmt.Errorf("present sample %q: context: %w", s.ID, err)
	}
	var items []json.RawMessage
	if err := json.Unmarshal(fields[ItemsKey], &items); err != nil {
		return p, nil, fmt.Errorf("present sample %q: context %q: %w", s.ID, ItemsKey, err)
	}
	var gold []int
	if s.Scored() {
		if err := json.Unmarshal(s.Target, &gold); err != nil {
			return p, nil, fmt.Errorf("present sample %q: target: %w", s.ID, err)
		}
	}

	shuffled, moved, err := shuffleItems(items, gold, seed)
	if err != nil {
		return p, nil, fmt.Errorf("present sample %q: %w", s.ID, err)
	}
	if fields[ItemsKey], err = json.Marshal(shuffled); err == nil {
		p.Context, err = json.Marshal(fields)
	}
	if err != nil {
		return p, nil, fmt.Errorf("present sample %q: %w", s.ID, err)
	}
	if !s.Scored() {
		return p, nil, nil
	}
	target, err := json.Marshal(moved)
	return p, target, err
}

// shuffleItems puts items into an order drawn from the seed, and renumbers gold, which
// counts them from 1.
func shuffleItems(items []json.RawMessage, gold []int, seed uint64) (shuffled []json.RawMessage, moved []int, err error) {
	order := rand.New(rand.NewPCG(seed, shuffleStream)).Perm(len(items))
	shuffled = make([]json.RawMessage, len(items))
	position := make([]int, len(items)) // of each original item, 0-based
	for to, from := range order {
		shuffled[to], position[from] = items[from], to
	}
	moved = make([]int, len(gold))
	for i, g := range gold {
		if g < 1 || g > len(items) {
			return nil, nil, fmt.Errorf("gold item %d is not within 1..%d", g, len(items))
		}
		moved[i] = position[g-1] + 1
	}
	slices.Sort(moved)
	return shuffled, moved, nil
}

// shuffleStream separates the shuffle's random numbers from a method's own,
// which start from the same trial seed.
const shuffleStream = 0x6e6f656d61

// Reading is the part of each problem's Context that the task's tools can find as
// well. Methods that call no tool read it; methods that search get the question
// without it, and must find what they need.
type Reading struct {
	Key  string // of Context
	What string // for people, such as "12 articles"
}

// SearchTool is the name of the tool that finds a task's Reading.
const SearchTool = "search"

// Data says what a method works on, for people: "searches", or what it reads, such
// as "reads 12 articles". It is empty for a task whose tools find nothing of the
// context.
func (t *Task) Data(d methods.Description) string {
	switch {
	case t.Reading == nil || t.Environment == nil:
		return ""
	case t.searches(d):
		return "searches"
	}
	return "reads " + t.Reading.What
}

// searches reports whether a method gets the question without the Reading: it says
// that it works by the tool that finds it, or by whichever tools there are.
func (t *Task) searches(d methods.Description) bool {
	return t.Reading != nil && t.Environment != nil &&
		(slices.Contains(d.Tools, SearchTool) || slices.Contains(d.Tools, methods.AnyTool))
}

// Shown is a problem as a method meets it: without the Reading if it searches.
func (t *Task) Shown(p methods.Problem, d methods.Description) (methods.Problem, error) {
	if !t.searches(d) || len(p.Context) == 0 {
		return p, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(p.Context, &fields); err != nil {
		return p, fmt.Errorf("leave %q out of sample %q: context: %w", t.Reading.Key, p.ID, err)
	}
	delete(fields, t.Reading.Key)
	p.Context = nil
	if len(fields) == 0 {
		return p, nil
	}
	var err error
	p.Context, err = json.Marshal(fields)
	return p, err
}
