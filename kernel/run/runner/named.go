package runner

import (
	"encoding/json"
	"fmt"
	"strings"

	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// Named is a trial in words: what was asked, and what its target and its answer say.
type Named struct {
	Question, Target, Answer string
	Items                    []string // names of a ranking's items as the trial met them
}

// Named returns what gives the words of the run's trials.
func (r *Result) Named() func(*record.Trial) Named {
	samples, shuffled := map[string]task.Sample{}, map[string]bool{}
	for _, s := range r.Samples() {
		samples[s.ID] = s
	}
	for _, m := range r.Run.Config.Methods {
		shuffled[m.Label] = m.Shuffle
	}
	return func(t *record.Trial) Named {
		s := samples[t.ID.Sample]
		n := Named{Question: s.Problem.Query}
		if s.Problem.Answer.Kind == methods.Ranking {
			if p, _, err := s.Present(t.Seed, shuffled[t.ID.Method]); err == nil {
				n.Items = ItemNames(p.Context)
			}
		}
		target := methods.Answer{Value: t.Target}
		if t.HasTarget() {
			n.Target = n.of(target, s)
		}
		n.Answer = n.of(t.Answer, s)
		return n
	}
}

// of is a value in words; the items of a ranking by name.
func (n Named) of(a methods.Answer, s task.Sample) string {
	var order []int
	if n.Items == nil || json.Unmarshal(a.Value, &order) != nil {
		return inWords(a, 0, s, false)
	}
	names := make([]string, len(order))
	for i, item := range order {
		names[i] = fmt.Sprint(item)
		if 1 <= item && item <= len(n.Items) {
			names[i] = n.Items[item-1]
		}
	}
	return strings.Join(names, ", ")
}

// ItemNames are the names of a context's items: the items themselves where they are
// texts, and "item 3" for one without a name.
func ItemNames(context json.RawMessage) []string {
	var c map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(context, &c) != nil || json.Unmarshal(c[task.ItemsKey], &items) != nil {
		return nil
	}
	names := make([]string, len(items))
	for i, raw := range items {
		names[i] = fmt.Sprintf("item %d", i+1)
		if json.Unmarshal(raw, &names[i]) == nil {
			continue
		}
		var fields map[string]json.RawMessage
		json.Unmarshal(raw, &fields) //nolint:errcheck // without fields it has no name
		for _, key := range []string{"name", "title", "label"} {
			if json.Unmarshal(fields[key], &names[i]) == nil {
				break
			}
		}
	}
	return names
}
