package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
)

// Credit is what the steps of a method earn: how its score changes when the replies
// at some of its call paths are others, and all the rest is the same.
type Credit struct {
	Run       string       `json:"run"` // with the trials under interventions
	Root      string       `json:"root_hash"`
	Method    string       `json:"method"`
	Metric    string       `json:"metric"`
	By        string       `json:"by"`        // what a place is: a phase or a call path
	Recorded  score.Metric `json:"recorded"`  // the metric of the method as it is
	Failed    int          `json:"no_answer"` // its trials without an answer; they count as wrong
	LeftOut   int          `json:"left_out"`  // its trials that the infrastructure failed
	Level     float64      `json:"level"`
	PairLevel float64      `json:"pair_level"` // of each interval, so that all together hold Level
	Samples   int          `json:"samples"`
	Trials    int          `json:"trials"` // of the method as it is, and of each intervention
	Places    []Place      `json:"places"`
	Notes     []string     `json:"notes,omitempty"`
}

// Place is one phase or call path with the effect of each intervention on it.
type Place struct {
	At      string   `json:"at"`
	Calls   int      `json:"calls"`  // recorded there, in all trials
	Trials  int      `json:"trials"` // that have any
	Tokens  Number   `json:"tokens"` // of a trial's calls there, on average over all trials; seeds' are shared
	Effects []Effect `json:"effects"`
}

// Effect is what an intervention changes.
type Effect struct {
	Kind   string `json:"kind"`
	Method string `json:"method"` // label of its trials in the run
	// Change is the metric with the intervention minus the metric as recorded,
	// paired by sample.
	Change Difference `json:"change"`
	// PerThousand is the change for each 1,000 tokens of the place, whose number is
	// taken as known. Undefined where nothing was used or it is not known.
	PerThousand score.Metric `json:"per_1000_tokens"`
	Calls       int          `json:"calls"`     // made at the place under the intervention
	Changed     int          `json:"changed"`   // of those, with another reply than the recorded one, or none there
	Failed      int          `json:"no_answer"` // trials without an answer; they count as wrong
	LeftOut     int          `json:"left_out"`  // trials that the infrastructure failed, such as crashes
}

// Verdict says in a word or two whether the change is decided.
func (e Effect) Verdict() string {
	switch e.Change.Winner {
	case "":
		return "undecided"
	case e.Method:
		return "better"
	}
	return "worse"
}

// CreditOf computes the credit from the trials of a run whose methods are one method
// and its interventions. The headline metric is the first of metrics, or the task's.
func CreditOf(run *record.Run, samples []task.Sample, trials []*record.Trial, o Options, metrics ...string) (*Credit, error) {
	of := map[string][]*record.Trial{}
	for _, t := range trials {
		of[t.ID.Method] = append(of[t.ID.Method], t)
	}
	c := &Credit{Run: run.ID, Root: run.Root, Level: o.plan(0).Level, Samples: len(samples)}
	var pairs []Data
	for _, m := range run.Config.Methods {
		v := m.Intervention
		if v == nil {
			c.Method = m.Label
			continue
		}
		d, err := FromTrials([]string{m.Label, v.Of}, samples, slices.Concat(of[m.Label], of[v.Of]), metrics...)
		if err != nil {
			return nil, err
		}
		if len(d.Metrics) == 0 {
			return nil, d.noScore()
		}
		if c.By, c.Metric = v.By, d.Metrics[0]; isSeed(v.At) {
			d.together(of[v.Of], v)
		}
		pairs = append(pairs, d)
	}
	if len(pairs) == 0 {
		return nil, errors.New("credit: the run has no interventions: \"noema credit METHOD --run RUN\" makes such a run")
	}
	base := of[c.Method]
	c.Trials = len(base)
	c.Failed, c.LeftOut = withoutAnswer(base)
	c.Recorded = pairs[0].scored().metric(1, view{metric: c.Metric}, o.plan(0))
	changes, err := Contrasts(pairs, o)
	if err != nil {
		return nil, err
	}
	c.PairLevel = o.plan(len(pairs)).simultaneous()
	i := 0
	for _, m := range run.Config.Methods {
		if m.Intervention != nil {
			c.add(m, changes[i], run, base, of[m.Label])
			i++
		}
	}
	c.note()
	return c, nil
}

// isSeed reports whether a place is that of method seeds.
func isSeed(at string) bool { return at == "seed" || strings.HasPrefix(at, "seed/") }

// add puts an effect to its place.
func (c *Credit) add(m record.Method, change Difference, run *record.Run, base, varied []*record.Trial) {
	v := m.Intervention
	i := slices.IndexFunc(c.Places, func(p Place) bool { return p.At == v.At })
	if i < 0 {
		i = len(c.Places)
		c.Places = append(c.Places, placeOf(v, run, base))
	}
	p := &c.Places[i]
	e := Effect{Kind: v.Kind, Method: m.Label, Change: change, PerThousand: perThousand(change.Difference, float64(p.Tokens))}
	e.Calls, e.Changed = changedCalls(v, base, varied)
	e.Failed, e.LeftOut = withoutAnswer(varied)
	p.Effects = append(p.Effects, e)
}

// note says what a reader must know.
func (c *Credit) note() {
	for _, p := range c.Places {
		for _, e := range p.Effects {
			switch {
			case e.Changed == 0 && e.Kind == record.Resample:
				c.Notes = append(c.Notes, fmt.Sprintf("resample of %s gave the recorded replies again: the model answers this request in one way only, as at temperature 0", p.At))
			case e.Changed == 0:
				c.Notes = append(c.Notes, fmt.Sprintf("%s of %s changed no reply", e.Kind, p.At))
			}
			if e.LeftOut > 0 {
				c.Notes = append(c.Notes, fmt.Sprintf("%s of %s: %d of %d trials crashed, timed out or lost the provider: they are left out", e.Kind, p.At, e.LeftOut, c.Trials))
			}
		}
		if isSeed(p.At) {
			c.Notes = append(c.Notes, p.At+": samples that use one seed count as one observation, since another seed changes them all")
		}
	}
}
