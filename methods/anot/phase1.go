package anot

import (
	"context"
	"encoding/json"
	"strconv"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// strategy is phase 1: it asks for the conditions of the request and their
// logic. The model sees two items, never all of them.
func (t *solver) strategy(ctx context.Context) (*Strategy, error) {
	t.Emit("P1", methods.PhaseStart, 1, nil, "plan for: %s", reply.OneLine(t.Query, 120))
	shorten := &trial.Shortener{Limit: t.opts.ExampleChars}
	examples := t.examples(shorten)
	other := t.otherData(shorten)
	if shorten.Cuts > 0 {
		t.Emit("P1", methods.Truncated, 2, nil, "cut %d values of the examples short (head)", shorten.Cuts)
	}
	var s *Strategy
	parse := func(text string) (err error) {
		s, err = parseStrategy(text, t.n, t.labels != nil)
		return err
	}
	prompt := phase1Prompt(t.Query, t.n, examples, other)
	if t.labels != nil {
		prompt = phase1LabelPrompt(t.Query, t.labels, other)
	}
	_, _, err := reply.Text(ctx, t.Host, t.Request("P1", methods.Ask(prompt)...), parse, reply.Options{Retries: t.opts.Retries})
	if err != nil {
		return nil, err
	}
	t.Emit("P1", methods.Plan, 2, map[string]string{"strategy": s.Text(t.n)}, "%d conditions, %s", len(s.Conditions), s.Logic)
	t.Emit("P1", methods.PhaseEnd, 1, nil, "strategy has %d conditions", len(s.Conditions))
	return s, nil
}

// examples are the items that together show the most fields, cut short. Ties
// go to the first item.
func (t *solver) examples(s *trial.Shortener) []string {
	values := make([]any, t.data.Items())
	for i := range values {
		text, _ := t.data.Value(itemRef(i + 1))
		_ = json.Unmarshal([]byte(text), &values[i]) // an item that is a bare text has no fields
	}
	var lines []string
	for _, i := range trial.Examples(values) {
		lines = append(lines, s.Line(values[i]))
	}
	return lines
}

func itemRef(i int) lwt.Reference {
	return lwt.Reference{Name: "context", Path: []lwt.Accessor{{Key: strconv.Itoa(i), Index: i}}}
}

// otherData shows the problem's data besides the items, cut short.
func (t *solver) otherData(s *trial.Shortener) []string {
	var lines []string
	for _, name := range t.data.Names() {
		text, _ := t.data.Value(lwt.Reference{Name: name})
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			v = text
		}
		lines = append(lines, name+": "+s.Line(v))
	}
	return lines
}
