package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// MaxAsked is how many samples without a target a summary holds the answers of;
// an export has all.
const MaxAsked = 100

// Asked is a sample whose right answer is not known, with what was answered.
type Asked struct {
	Sample  string `json:"sample"`
	Query   string `json:"query"`
	Answers []Said `json:"answers"` // in the order of the methods, and of epochs within
}

// Said is the answer of one trial.
type Said struct {
	Method   string          `json:"method"`
	Epoch    int             `json:"epoch"` // from 1
	Outcome  methods.Outcome `json:"outcome"`
	Value    json.RawMessage `json:"value"` // null if there is none
	Text     string          `json:"text"`  // for people: the method's own words, or the value
	Reason   string          `json:"reason,omitempty"`
	Evidence []Rests         `json:"evidence,omitempty"`
	Usage    compare.Usage   `json:"usage"`
}

// Rests is one thing that an answer rests on.
type Rests struct {
	Source string `json:"source"`
	Text   string `json:"text"`
}

// asked collects the answers to a result's samples without a target.
func asked(r *Result) (all []Asked) {
	trials := map[record.TrialID]*record.Trial{}
	for _, t := range r.Trials {
		trials[t.ID] = t
	}
	shuffled := map[string]bool{}
	for _, m := range r.Run.Config.Methods {
		shuffled[m.Label] = m.Shuffle
	}
	for _, s := range r.Samples() {
		if s.Scored() {
			continue
		}
		if len(all) == MaxAsked {
			return all
		}
		one := Asked{Sample: s.ID, Query: s.Problem.Query}
		for _, m := range Labels(r.Run) {
			for e := range r.Run.Config.Epochs {
				if t := trials[record.TrialID{Method: m, Sample: s.ID, Epoch: e}]; t != nil {
					one.Answers = append(one.Answers, said(t, s, shuffled[m]))
				}
			}
		}
		all = append(all, one)
	}
	return all
}

func said(t *record.Trial, s task.Sample, shuffled bool) Said {
	a := Said{
		Method: t.ID.Method, Epoch: t.ID.Epoch + 1, Outcome: t.Answer.Outcome, Value: t.Answer.Value,
		Text: inWords(t.Answer, t.Seed, s, shuffled), Reason: t.Answer.Reason, Usage: compare.UsageOf(t.Usage),
	}
	if t.Failure != "" {
		a.Reason = t.Failure
	}
	for _, e := range t.Answer.Evidence {
		if e.Source != methods.Worded {
			a.Evidence = append(a.Evidence, Rests{e.Source, e.Text})
		}
	}
	return a
}

// inWords is an answer as people read it: the method's own words; a text, a label
// or a number as it is; members apart by commas; fields and ranked items a line each.
func inWords(a methods.Answer, seed uint64, s task.Sample, shuffled bool) string {
	if words, ok := a.InWords(); ok || len(a.Value) == 0 {
		return words
	}
	switch s.Problem.Answer.Kind {
	case methods.Text, methods.Choice:
		if text, err := a.Text(); err == nil {
			return text
		}
	case methods.Set:
		if members, err := a.Set(); err == nil {
			return strings.Join(members, ", ")
		}
	case methods.Fields:
		if fields, err := a.Fields(); err == nil {
			lines := make([]string, 0, len(fields))
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				lines = append(lines, name+": "+string(fields[name]))
			}
			return strings.Join(lines, "\n")
		}
	case methods.Ranking:
		if items, err := a.Ranking(); err == nil {
			return ranked(items, seed, s, shuffled)
		}
	}
	return string(a.Value)
}

// ranked lists the items that an answer names, the best first.
func ranked(order []int, seed uint64, s task.Sample, shuffled bool) string {
	p, _, err := s.Present(seed, shuffled)
	if err != nil {
		return fmt.Sprint(order)
	}
	var context struct{ Items []json.RawMessage }
	if err := json.Unmarshal(p.Context, &context); err != nil {
		return fmt.Sprint(order)
	}
	text := ""
	for place, i := range order {
		if i < 1 || i > len(context.Items) {
			return fmt.Sprint(order)
		}
		var item string
		if json.Unmarshal(context.Items[i-1], &item) != nil {
			item = fmt.Sprintf("item %d: %.200s", i, context.Items[i-1])
		}
		text += fmt.Sprintf("%d. %s\n", place+1, item)
	}
	return text
}
