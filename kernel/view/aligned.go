package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
	"noema/methods"
)

// alignedRow is a step of each column: what they planned, then what they did, step by step.
// A step is held against that of the reference which checks the same, as their graphs say, or
// else against that of the same path.
type alignedRow struct {
	Stage string // empty where it is that of the row above
	Cells []stepCell
}

// stepCell is what a method did in a step.
type stepCell struct {
	Parts          []stepPart
	Differs, First bool // from the reference; First: for the first time
}

// stepPart is a call or a result.
type stepPart struct {
	Name, Use, To string
	Pieces        []piece
	Rest          string // what is folded
	key, value    string
	made          bool // by a call, and not computed from others
}

// piece is a part of a text: marked where it differs, as "more" or "less".
type piece struct{ Text, Class string }

// Bounds of what a column shows, in steps, lines and characters.
const (
	maxSteps = 40
	maxLines = 8
	maxText  = 420
)

// align lines the columns up and marks where each leaves the reference first: the first
// column that is right.
func (d *drawer) align(l *loaded) {
	plans, steps := make([][]stepPart, len(d.Columns)), make([][]stepPart, len(d.Columns))
	longest, ref := 0, 0
	for i, c := range d.Columns {
		if c.trial != nil {
			plans[i], steps[i] = l.steps(c.trial)
		}
		longest = max(longest, len(steps[i]))
		if c.Class == "good" && d.Columns[ref].Class != "good" {
			ref = i
		}
	}
	if len(d.Columns) == 0 {
		return
	}
	d.Reference, d.More = d.Columns[ref].Method, max(0, longest-maxSteps)
	parted := make([]bool, len(d.Columns))
	plan := alignedRow{Stage: "plan"}
	for _, parts := range plans {
		plan.Cells = append(plan.Cells, stepCell{Parts: parts})
	}
	if slices.ContainsFunc(plans, func(p []stepPart) bool { return len(p) > 0 }) {
		d.Rows = append(d.Rows, plan)
	}
	for n := range min(longest, maxSteps) {
		row := alignedRow{}
		if n == 0 {
			row.Stage = "steps"
		}
		for i := range d.Columns {
			cell := stepCell{}
			if n < len(steps[i]) {
				part := steps[i][n]
				if same := slices.IndexFunc(steps[ref], part.meets); i != ref && same >= 0 {
					cell.Differs = part.against(steps[ref][same])
				}
				cell.Parts = []stepPart{part}
			}
			cell.First = cell.Differs && !parted[i]
			parted[i] = parted[i] || cell.Differs
			row.Cells = append(row.Cells, cell)
		}
		d.Rows = append(d.Rows, row)
	}
	answer := alignedRow{Stage: "answer"}
	for i, c := range d.Columns {
		part := stepPart{value: c.Value, made: true, Pieces: []piece{{Text: display.Line(c.Value, maxText)}}}
		cell := stepCell{Differs: i != ref && c.Value != d.Columns[ref].Value}
		cell.First = cell.Differs && !parted[i]
		if cell.Parts = []stepPart{part}; c.Value == "" {
			cell.Parts[0].Pieces = []piece{{Text: c.Says + " " + display.Line(c.Reason, maxText)}}
		}
		answer.Cells = append(answer.Cells, cell)
	}
	d.Rows = append(d.Rows, answer)
}

// steps are what a trial planned, and what it did after.
func (l *loaded) steps(t *record.Trial) (plan, steps []stepPart) {
	planning, results := map[string]bool{}, map[string]string{}
	var paths []string
	for _, e := range t.Events {
		switch e.Kind {
		case methods.Plan:
			planning[phase(e.Path)] = true
			plan = append(plan, stepPart{Name: e.Path, Pieces: []piece{{Text: display.Line(e.Text, maxText)}}})
		case methods.StepResult, methods.StepError:
			results[e.Path] = e.Text
			paths = append(paths, e.Path)
		}
	}
	known, calls := t.Steps(), map[string]record.Call{}
	for _, c := range t.Calls {
		if calls[c.Path] = c; c.Kind == record.SeedCall {
			planning[phase(c.Path)] = true
		}
		paths = append(paths, c.Path)
	}
	slices.SortFunc(paths, record.ComparePaths)
	for _, path := range slices.Compact(paths) {
		call, called := calls[path]
		part := stepPart{Name: path, key: known[path].Key, made: called, value: results[path]}
		if called {
			part.Use = fmt.Sprintf("%d+%d · %s", call.Usage.InputTokens, call.Usage.OutputTokens, round(call.Usage.Latency))
			if call.Kind != record.CompletionCall {
				part.Use = string(call.Kind)
			}
			l.reply(t, call, &part, planning[phase(path)])
		}
		part.fold()
		if planning[phase(path)] {
			plan = append(plan, part)
			continue
		}
		steps = append(steps, part)
	}
	return plan, steps
}

func phase(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// reply gives a step the reply of its call, unless the method made a result of it.
func (l *loaded) reply(t *record.Trial, c record.Call, part *stepPart, planning bool) {
	switch {
	case c.Fault != "":
		part.value = string(c.Fault) + ": " + c.Error
	case c.Kind != record.CompletionCall:
	case part.value == "" || planning:
		if x, err := l.Read(t.ID, c); err == nil {
			part.value = l.clean(x.Parts().Said)
		}
	}
	if c.Kind == record.CompletionCall && c.Fault == "" {
		part.To = callLink(l.Run.ID, t.ID, c)
	}
}

// fold leaves the first lines of a long text.
func (s *stepPart) fold() {
	text := strings.TrimSpace(s.value)
	lines := strings.SplitN(text, "\n", maxLines+1)
	head := strings.Join(lines[:min(len(lines), maxLines)], "\n")
	if r := []rune(head); len(r) > maxText {
		head = string(r[:maxText])
	}
	s.Pieces, s.Rest = []piece{{Text: display.Visible(head)}}, long(maxShown, text[len(head):])
}

// meets reports whether a step of another trial is the same step.
func (s *stepPart) meets(other stepPart) bool {
	if s.key != "" || other.key != "" {
		return s.key == other.key
	}
	return s.Name == other.Name
}

// against reports whether a step came to another value than that of the reference, and marks
// in what. Only values are compared: of two texts nobody can say whether they mean the same.
func (s *stepPart) against(ref stepPart) bool {
	if !s.made || !ref.made {
		return false
	}
	var a, b any
	if json.Unmarshal([]byte(s.value), &a) != nil || json.Unmarshal([]byte(ref.value), &b) != nil {
		return false
	}
	mine, isList := a.([]any)
	theirs, bothLists := b.([]any)
	if isList != bothLists {
		return false
	}
	if !isList {
		if fmt.Sprint(a) == fmt.Sprint(b) {
			return false
		}
		s.Pieces[0].Class = "more"
		return true
	}
	return s.mark(mine, theirs)
}

// mark shows a list with what it has more and less than another, whatever their order.
func (s *stepPart) mark(mine, theirs []any) bool {
	has := func(list []any, v any) bool {
		return slices.ContainsFunc(list, func(x any) bool { return fmt.Sprint(x) == fmt.Sprint(v) })
	}
	var pieces []piece
	differs := false
	add := func(v any, class string) {
		if len(pieces) > 0 {
			pieces = append(pieces, piece{Text: ", "})
		}
		pieces = append(pieces, piece{display.Line(fmt.Sprint(v), 80), class})
		differs = differs || class != ""
	}
	for _, v := range mine {
		class := "more"
		if has(theirs, v) {
			class = ""
		}
		add(v, class)
	}
	for _, v := range theirs {
		if !has(mine, v) {
			add(v, "less")
		}
	}
	if differs {
		s.Pieces, s.Rest = pieces, ""
	}
	return differs
}
