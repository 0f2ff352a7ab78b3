package anot

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/anot/internal/lwt"
	"noema/methods/reply"
)

// strategy is phase 1: it asks for the conditions of the request and their
// logic. The model sees two items, never all of them.
func (t *solver) strategy(ctx context.Context) (*Strategy, error) {
	t.Emit("P1", methods.PhaseStart, 1, nil, "plan for: %s", reply.OneLine(t.Query, 120))
	shorten := &shortener{limit: t.opts.ExampleChars}
	examples := t.examples(shorten)
	other := t.otherData(shorten)
	if shorten.cuts > 0 {
		t.Emit("P1", methods.Truncated, 2, nil, "cut %d values of the examples short (head)", shorten.cuts)
	}
	var s *Strategy
	parse := func(text string) (err error) {
		s, err = ParseStrategy(text, t.n)
		return err
	}
	prompt := phase1Prompt(t.Query, t.n, examples, other)
	_, _, err := reply.Text(ctx, t.Host, t.Request("P1", methods.Ask(prompt)...), parse, reply.Options{Retries: t.opts.Retries})
	if err != nil {
		return nil, err
	}
	t.Emit("P1", methods.Plan, 2, map[string]string{"strategy": s.Text(t.n)}, "%d conditions, %s", len(s.Conditions), s.Logic)
	t.Emit("P1", methods.PhaseEnd, 1, nil, "strategy has %d conditions", len(s.Conditions))
	return s, nil
}

// maxExamples is how many items phase 1 sees.
const maxExamples = 2

// examples are the items that together show the most fields, cut short. Ties
// go to the first item.
func (t *solver) examples(s *shortener) []string {
	fields := make([]map[string]bool, t.data.Items())
	values := make([]any, len(fields))
	for i := range fields {
		text, _ := t.data.Value(itemRef(i + 1))
		_ = json.Unmarshal([]byte(text), &values[i]) // an item that is a bare text has no fields
		fields[i] = map[string]bool{}
		collect(values[i], "", 3, fields[i])
	}
	seen := map[string]bool{}
	var lines []string
	for _, i := range cover(fields, seen) {
		lines = append(lines, s.line(values[i]))
	}
	return lines
}

func itemRef(i int) lwt.Reference {
	return lwt.Reference{Name: "context", Path: []lwt.Accessor{{Key: strconv.Itoa(i), Index: i}}}
}

// collect enters the paths of v, at most depth keys deep.
func collect(v any, path string, depth int, into map[string]bool) {
	dict, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return
	}
	for k, e := range dict {
		into[path+"\x00"+k] = true
		collect(e, path+"\x00"+k, depth-1, into)
	}
}

// cover picks items greedily by how many fields they add to seen.
func cover(fields []map[string]bool, seen map[string]bool) []int {
	var picked []int
	for len(picked) < maxExamples {
		best, most := -1, -1
		for i, f := range fields {
			fresh := 0
			for k := range f {
				if !seen[k] {
					fresh++
				}
			}
			if fresh > most && !slices.Contains(picked, i) {
				best, most = i, fresh
			}
		}
		if best < 0 {
			break
		}
		picked = append(picked, best)
		maps.Copy(seen, fields[best])
	}
	slices.Sort(picked)
	return picked
}

// otherData shows the problem's data besides the items, cut short.
func (t *solver) otherData(s *shortener) []string {
	var lines []string
	for _, name := range t.data.Names() {
		text, _ := t.data.Value(lwt.Reference{Name: name})
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			v = text
		}
		lines = append(lines, name+": "+s.line(v))
	}
	return lines
}

// The sizes to which examples are cut, besides the length of texts.
const (
	maxList      = 2
	maxDict      = 40
	maxShowDepth = 6
	maxLine      = 6000 // bytes of one example
)

// shortener cuts values short and counts how often it did.
type shortener struct {
	limit int // bytes of a text
	cuts  int
}

// line is v on one line of JSON.
func (s *shortener) line(v any) string {
	raw, err := json.Marshal(s.short(v, 0))
	if err != nil {
		return ""
	}
	text, cut := reply.Head(string(raw), maxLine)
	if cut {
		s.cuts++
		text += "…"
	}
	return text
}

func (s *shortener) short(v any, depth int) any {
	switch v := v.(type) {
	case string:
		text, cut := reply.Head(v, s.limit)
		if cut {
			s.cuts++
			text += "…"
		}
		return text
	case []any:
		return s.shortList(v, depth)
	case map[string]any:
		return s.shortDict(v, depth)
	}
	return v
}

func (s *shortener) shortList(v []any, depth int) any {
	keep := min(len(v), maxList)
	if depth >= maxShowDepth {
		keep = 0
	}
	short := []any{}
	for _, e := range v[:keep] {
		short = append(short, s.short(e, depth+1))
	}
	if left := len(v) - keep; left > 0 {
		s.cuts++
		short = append(short, fmt.Sprintf("(%d more)", left))
	}
	return short
}

func (s *shortener) shortDict(v map[string]any, depth int) any {
	keys := slices.Sorted(maps.Keys(v))
	keep := min(len(keys), maxDict)
	if depth >= maxShowDepth {
		keep = 0
	}
	short := map[string]any{}
	for _, k := range keys[:keep] {
		short[strings.ToValidUTF8(k, "\ufffd")] = s.short(v[k], depth+1)
	}
	if left := len(keys) - keep; left > 0 {
		s.cuts++
		short["(more)"] = left
	}
	return short
}
