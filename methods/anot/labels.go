package anot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// labelsOf are the labels that become the items of a problem that is not a
// ranking: those of a choice, the members that a set may have, or the levels of
// the verdict.
func labelsOf(s methods.AnswerSpec) ([]string, error) {
	switch s.Kind {
	case methods.Ranking:
		return nil, nil
	case methods.Choice, methods.Set, methods.Fields:
		if len(s.Labels) > 0 {
			return s.Labels, nil
		}
		return nil, fmt.Errorf("cannot answer a problem of kind %q without labels: they are the items that it ranks", s.Kind)
	}
	return nil, fmt.Errorf("cannot answer a problem of kind %q: it ranks items or labels", s.Kind)
}

// withLabels is a problem's context with labels as its items. Other values keep
// their names as far as references can hold them; a list "items" is "listed".
func withLabels(context json.RawMessage, labels []string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if len(bytes.TrimSpace(context)) > 0 {
		if err := json.Unmarshal(context, &fields); err != nil {
			return nil, fmt.Errorf("decode context: %w", err)
		}
	}
	named := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name := variable(key)
		for named[name] != nil {
			name += "_"
		}
		named[name] = fields[key]
	}
	raw, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	named["items"] = raw
	return json.Marshal(named)
}

// variable is key as the name of a variable.
func variable(key string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, key)
	switch {
	case name == "items" || name == "context" || name == "input" || name == "query":
		return "listed_" + name
	case name == "" || '0' <= name[0] && name[0] <= '9' || name == lwt.Final:
		return "data_" + name
	}
	return name
}

// labelled turns the output of the final step, item numbers, into the answer.
func (t *solver) labelled(output string) methods.Answer {
	r := reply.Ranking(output, t.n)
	if len(r.Dropped) > 0 {
		t.Emit("P3", methods.Dropped, 1, r.Dropped, "%d numbers of the output are repeated or not within 1..%d", len(r.Dropped), t.n)
	}
	if len(r.Items) > 0 && r.FromLine {
		reply.Reading{Repair: "the last line, there is no list"}.Report(t.Host, "P3")
	}
	switch {
	case t.Answer.Kind == methods.Set && (len(r.Items) > 0 || strings.Contains(strings.Join(strings.Fields(output), ""), "[]")):
		members := make([]string, len(r.Items))
		for i, item := range r.Items {
			members[i] = t.labels[item-1]
		}
		return methods.SetAnswer(members)
	case len(r.Items) == 0:
		return trial.Without(methods.Unparsed, fmt.Errorf("the final output names no label: %s", reply.OneLine(output, 200)))
	case t.Answer.Kind == methods.Choice:
		return methods.ChoiceAnswer(t.labels[r.Items[0]-1])
	}
	return t.verdict(t.labels[r.Items[0]-1])
}

// verdict is the answer that has the verdict and no other field. The others count
// as wrong, which an event says.
func (t *solver) verdict(level string) methods.Answer {
	a, err := methods.FieldsAnswer(map[string]any{methods.Verdict: level})
	if err != nil {
		return trial.Without(methods.Failed, err)
	}
	rest := slices.DeleteFunc(slices.Clone(t.Answer.Names), func(n string) bool { return n == methods.Verdict })
	if len(rest) > 0 {
		t.Emit("P3", methods.Dropped, 1, map[string]any{"fields": rest},
			"the answer has the verdict alone: the other fields count as wrong: %s", strings.Join(rest, ", "))
	}
	return a
}
