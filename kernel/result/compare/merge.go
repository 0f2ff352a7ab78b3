package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/result/record"
)

// side is one method of a comparison, with its trials of all runs that made them in
// the same way.
type side struct {
	label  string // unique in the comparison
	method string // its label in the runs
	made   string // digest of all that decides a trial beside its sample and epoch
	runs   []*Recorded
	trials map[record.TrialID]*record.Trial
	twice  map[record.TrialID]bool // trials that several runs have
}

// Merged is the methods of one or more runs, ready to be compared.
type Merged struct {
	Data Data
	// Notes say what runs have in common, what was taken together, and what one lacks.
	Notes []string
	runs  []*Recorded // without those that repeat another
	sides []*side
}

// FromRuns takes runs together on the samples that they share. Runs over different tasks
// or versions of the data are an error, unless force has their samples paired by id. A
// method that runs make in different ways is labelled with its model or its run. metrics
// names the measures to compare, the headline first; without any, they are the task's.
func FromRuns(runs []*Recorded, force bool, metrics ...string) (*Merged, error) {
	runs, repeated := withoutRepeats(runs)
	notes, err := comparable(runs, force)
	if err != nil {
		return nil, err
	}
	sides, together, err := merge(runs)
	if err != nil {
		return nil, err
	}
	m := &Merged{Notes: slices.Concat(notes, repeated, together), runs: runs, sides: sides}
	m.Data, err = dataOf(sides, runs, metrics)
	return m, err
}

// Runs are those that are compared: not those that repeat another.
func (m *Merged) Runs() []*Recorded { return m.runs }

// Lacks says which trials a run lacks that its limit ended.
func (m *Merged) Lacks() (notes []string) {
	for _, r := range m.runs {
		notes = append(notes, r.lacks()...)
	}
	return notes
}

// merge gathers the methods of all runs. Runs whose trials are made in the same way,
// such as those of one experiment with another limit, add their trials to one side,
// each trial once. Where a trial came out differently, as after a refresh, the sides
// stay apart. The notes say all that.
func merge(runs []*Recorded) (sides []*side, notes []string, err error) {
	for _, r := range runs {
		trials := map[string][]*record.Trial{}
		for _, t := range r.Trials {
			trials[t.ID.Method] = append(trials[t.ID.Method], t)
		}
		for _, m := range r.Run.Config.Methods {
			made, err := madeBy(r.Run, m)
			if err != nil {
				return nil, nil, err
			}
			into, note := sideFor(sides, made, r, trials[m.Label])
			if into == nil {
				into = &side{label: m.Label, method: m.Label, made: made, trials: map[record.TrialID]*record.Trial{}, twice: map[record.TrialID]bool{}}
				sides = append(sides, into)
				notes = append(notes, note...)
			}
			into.add(r, trials[m.Label])
		}
	}
	name(sides)
	return sides, append(notes, merged(sides)...), nil
}

// sideFor is the side that trials of a run go to; nil with a note if those of each side
// that is made so came out differently.
func sideFor(sides []*side, made string, r *Recorded, trials []*record.Trial) (into *side, note []string) {
	for _, s := range sides {
		if s.made != made {
			continue
		}
		text := s.conflict(r, trials)
		if text == "" {
			return s, nil
		}
		note = []string{text}
	}
	return nil, note
}

// madeBy identifies how a run makes the trials of a method.
func madeBy(run *record.Run, m record.Method) (string, error) {
	c := run.Config
	c.Task.Samples, c.Epochs, c.Methods, c.Design, c.Test, c.Baseline = nil, 0, []record.Method{m}, nil, "", ""
	digest, err := c.Digest()
	if err != nil || len(run.Replaced) == 0 {
		return digest, err
	}
	raw, err := json.Marshal(run.Replaced) // replies by hand are not answers of the model
	return digest + string(raw), err
}

// conflict says which of the trials came out differently than those of s; nothing if
// none did. One that the infrastructure failed has not come out.
func (s *side) conflict(r *Recorded, trials []*record.Trial) string {
	first, both, differ := "", 0, 0
	for _, t := range trials {
		if have := s.trials[t.ID]; have != nil && !have.Infra && !t.Infra {
			both++
			if have.Hash != t.Hash {
				differ++
				first = cmp.Or(first, t.ID.String())
			}
		}
	}
	if differ == 0 {
		return ""
	}
	return fmt.Sprintf("runs %s and %s asked %s the same, and %d of the %d trials that both have came out differently, the first %s: they are compared and not merged; \"noema diff\" shows where they part",
		s.runs[0].Run.ID, r.Run.ID, s.method, differ, both, first)
}

// add takes the trials of a run, those that failed only where there is no other.
func (s *side) add(r *Recorded, trials []*record.Trial) {
	s.runs = append(s.runs, r)
	for _, t := range trials {
		have := s.trials[t.ID]
		if have != nil && have.Hash == t.Hash {
			s.twice[t.ID] = true
		}
		if have == nil || have.Infra {
			s.trials[t.ID] = t
		}
	}
}

// merged says which runs were put together.
func merged(sides []*side) (notes []string) {
	var order []string
	labels, trials, twice := map[string][]string{}, map[string]int{}, map[string]int{}
	for _, s := range sides {
		if len(s.runs) < 2 {
			continue
		}
		runs := make([]string, len(s.runs))
		for i, r := range s.runs {
			runs[i] = r.Run.ID
		}
		key := strings.Join(runs, ", ")
		if labels[key] == nil {
			order = append(order, key)
		}
		labels[key] = append(labels[key], s.label)
		trials[key] += len(s.trials)
		twice[key] += len(s.twice)
	}
	for _, runs := range order {
		both := "in both runs"
		if strings.Count(runs, ",") > 1 {
			both = "in more than one run"
		}
		notes = append(notes, fmt.Sprintf("runs %s made their trials of %s in the same way, so these are taken together, each once: %d trials, of which %d are %s",
			runs, strings.Join(labels[runs], ", "), trials[runs], twice[runs], both))
	}
	return notes
}
