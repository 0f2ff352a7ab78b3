package compare

import (
	"bytes"
	"fmt"
	"strings"

	"noema/kernel/result/record"
	"noema/methods"
)

// Side is one of two runs, with the trials that it has, which may be light.
type Side struct {
	Run    *record.Run
	Method string // its only one that counts; empty means all
	Trials []*record.Trial
	Whole  func(*record.Trial) (*record.Trial, error)
}

// methods are those that count.
func (s Side) methods() ([]record.Method, error) {
	all := s.Run.Config.Methods
	if s.Method == "" {
		return all, nil
	}
	for i, m := range all {
		if m.Label == s.Method {
			return all[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("diff runs: run %s has no method %q: use one of %s", s.Run.ID, s.Method, strings.Join(s.Run.Labels(), ", "))
}

// name is what the side is called.
func (s Side) name() string {
	if s.Method == "" {
		return s.Run.ID
	}
	return s.Run.ID + "/" + s.Method
}

// Diff is what two runs differ in, trial by trial, down to the first call that
// differs: the answer to "why did this sample flip?".
type Diff struct {
	A        string           `json:"a"` // run ids, with the method where it is of one alone
	B        string           `json:"b"`
	Same     int              `json:"same"`   // trials with equal transcripts
	Trials   []TrialDiff      `json:"trials"` // those that differ, in canonical order of a
	OnlyA    []record.TrialID `json:"only_a,omitempty"`
	OnlyB    []record.TrialID `json:"only_b,omitempty"`
	Warnings []string         `json:"warnings,omitempty"` // why the runs are hard to compare
}

// TrialDiff is a trial that went differently in the two runs.
type TrialDiff struct {
	A      record.TrialID     `json:"a"`
	B      record.TrialID     `json:"b"` // differs from A only where methods of two names are paired
	First  *record.Divergence `json:"first_divergence"`
	CallA  *record.Call       `json:"call_a,omitempty"` // the diverging call, where there is one
	CallB  *record.Call       `json:"call_b,omitempty"`
	Metric string             `json:"metric,omitempty"` // the headline measure
	ScoreA *float64           `json:"score_a"`
	ScoreB *float64           `json:"score_b"`
	// Unscored says that the right answer is not known.
	Unscored bool           `json:"unscored,omitempty"`
	AnswerA  methods.Answer `json:"answer_a"`
	AnswerB  methods.Answer `json:"answer_b"`
}

// Flipped reports whether the trial scored differently or, unscored, answered
// differently.
func (t TrialDiff) Flipped() bool {
	if t.Unscored {
		return t.AnswerA.Outcome != t.AnswerB.Outcome || !bytes.Equal(t.AnswerA.Value, t.AnswerB.Value)
	}
	if t.ScoreA == nil || t.ScoreB == nil {
		return (t.ScoreA == nil) != (t.ScoreB == nil) || t.AnswerA.Outcome != t.AnswerB.Outcome
	}
	return *t.ScoreA != *t.ScoreB
}

// Flipped returns the trials that scored differently.
func (d Diff) Flipped() []TrialDiff {
	var flipped []TrialDiff
	for _, t := range d.Trials {
		if t.Flipped() {
			flipped = append(flipped, t)
		}
	}
	return flipped
}

// DiffRuns pairs the trials of two runs by sample, epoch and method and finds where
// each pair first differs. Runs of one method each, or with the one that counts, are paired
// whatever the methods are called. Runs over different tasks or data are an error, unless force is set:
// then samples are paired by their ids, with a warning.
func DiffRuns(a, b Side, force bool) (*Diff, error) {
	of, err := a.methods()
	if err != nil {
		return nil, err
	}
	against, err := b.methods()
	if err != nil {
		return nil, err
	}
	d := &Diff{A: a.name(), B: b.name(), Warnings: differences(a.Run.Config, b.Run.Config)}
	if ta, tb := a.Run.Config.Task, b.Run.Config.Task; ta.Digest != tb.Digest {
		why := fmt.Sprintf("run %s is over task %s?%s (data %.12s), run %s over %s?%s (data %.12s)",
			a.Run.ID, ta.Name, ta.Config, ta.Digest, b.Run.ID, tb.Name, tb.Config, tb.Digest)
		if !force {
			return nil, fmt.Errorf("diff runs: %s: their samples differ; --force pairs those with equal ids", why)
		}
		d.Warnings = append(d.Warnings, why+": samples are paired by id alone")
	}
	rename := renamed(of, against)
	other := map[record.TrialID]*record.Trial{}
	for _, t := range b.Trials {
		if b.Method == "" || b.Method == t.ID.Method {
			other[t.ID] = t
		}
	}
	for _, t := range a.Trials {
		id := t.ID
		if a.Method != "" && a.Method != id.Method {
			continue
		}
		if to, ok := rename[id.Method]; ok {
			id.Method = to
		}
		u, ok := other[id]
		if !ok {
			d.OnlyA = append(d.OnlyA, t.ID)
			continue
		}
		delete(other, id)
		if t.Hash == u.Hash {
			d.Same++
			continue
		}
		t, err := a.Whole(t)
		if err == nil {
			u, err = b.Whole(u)
		}
		if err != nil {
			return nil, err
		}
		d.Trials = append(d.Trials, diffTrial(t, u))
	}
	for _, t := range b.Trials {
		if other[t.ID] != nil {
			d.OnlyB = append(d.OnlyB, t.ID)
		}
	}
	return d, nil
}

// renamed maps the method of a to that of b where each has one.
func renamed(a, b []record.Method) map[string]string {
	if len(a) == 1 && len(b) == 1 {
		return map[string]string{a[0].Label: b[0].Label}
	}
	return nil
}

func diffTrial(a, b *record.Trial) TrialDiff {
	t := TrialDiff{A: a.ID, B: b.ID, First: record.FirstDivergence(a, b), AnswerA: a.Answer, AnswerB: b.Answer, Unscored: !a.HasTarget()}
	if t.First != nil && t.First.Path != "" {
		t.CallA, t.CallB = callAt(a, t.First.Path), callAt(b, t.First.Path)
	}
	if name, v, ok := Headline(a); ok {
		t.Metric, t.ScoreA = name, &v
	}
	if name, v, ok := Headline(b); ok {
		t.Metric, t.ScoreB = name, &v
	}
	return t
}

func callAt(t *record.Trial, path string) *record.Call {
	for i := range t.Calls {
		if t.Calls[i].Path == path {
			return &t.Calls[i]
		}
	}
	return nil
}

// differences lists how the configurations differ.
func differences(a, b record.Config) []string {
	var list []string
	note := func(what string, x, y any) {
		if fmt.Sprint(x) != fmt.Sprint(y) {
			list = append(list, fmt.Sprintf("different %s: %v and %v", what, x, y))
		}
	}
	note("models", a.Model.ID, b.Model.ID)
	note("random seeds", a.Seed, b.Seed)
	note("epochs", a.Epochs, b.Epochs)
	note("sampling", sampling(a.Sampling), sampling(b.Sampling))
	note("limits", a.Limits, b.Limits)
	for _, m := range a.Methods {
		for _, n := range b.Methods {
			if m.Label == n.Label {
				note("versions of "+m.Label, version(m), version(n))
			}
		}
	}
	return list
}

func version(m record.Method) string {
	return strings.Trim(fmt.Sprintf("%s, prompts %s, code %.12s", m.Version, m.PromptVersion, m.Code), ", ")
}

func sampling(s record.Sampling) string {
	raw, err := record.Marshal(s)
	if err != nil || string(raw) == "{}" {
		return "the methods' own"
	}
	return string(raw)
}
