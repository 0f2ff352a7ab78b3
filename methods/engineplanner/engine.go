package engineplanner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/reply"
	"noema/methods/workflow"
)

// found is what the steps of a workflow have brought so far. Tools return JSON
// objects; the engine knows their keys count, selection, entities, counts and
// logs.
type found struct {
	Count     *int64                      `json:"count"`
	Selection json.RawMessage             `json:"selection"`
	Entities  map[string][]string         `json:"entities"`
	Counts    map[string]map[string]int64 `json:"counts"`
	Logs      []string                    `json:"logs"`
}

// run executes the workflow of an evaluation and makes the answer.
func (t *solver) run(ctx context.Context, e evaluation) (methods.Answer, error) {
	w := t.needed(t.displaying(t.domain.Workflows[e.QueryType], e), e)
	if e.unread {
		w.Template, w.Value = unreadTemplate, ""
	}
	t.Emit(phaseEngine, methods.PhaseStart, 1, nil, "workflow %s: %d steps", e.QueryType, len(w.Steps))
	var have found
	failure := ""
	values, done := make([]string, len(w.Steps)), 0
	for i, s := range w.Steps {
		text, fault, err := t.step(ctx, i, s, e, &have)
		if err != nil {
			return methods.Answer{}, err
		}
		if values[i] = text; fault != "" {
			failure = fmt.Sprintf("step %d (%s): %s", i+1, s.Tool, fault)
			break
		}
		done++
	}
	t.Host.Emit(methods.GraphEvent(phaseEngine, draw(w, values, failure)))
	missing := w.Steps[done:]
	w.Steps = w.Steps[:done]
	a := t.answer(w, e, have, partial(w, e, have, failure))
	if failure != "" {
		if t.Answer.Kind != methods.Text && !computed(missing) {
			a.Value = nil
		}
		a = a.As(methods.Failed, "partial result: "+failure)
	}
	t.Emit(phaseEngine, methods.PhaseEnd, 1, nil, "%s (%s)", a.Value, a.Outcome)
	return a, nil
}

// displaying is a workflow that brings records where the query wants to see them.
func (t *solver) displaying(w workflow.Workflow, e evaluation) workflow.Workflow {
	brings := func(s workflow.Step) bool { return s.Tool == displayTool }
	has := slices.ContainsFunc(t.Tools, func(tool methods.ToolSpec) bool { return tool.Name == displayTool })
	if e.NeedsDisplay && has && !slices.ContainsFunc(w.Steps, brings) {
		w.Steps = append(slices.Clone(w.Steps), workflow.Step{Tool: displayTool, Params: map[string]any{"max_samples": 5}})
	}
	return w
}

// needed is a workflow without the optional steps whose facts the query leaves open.
func (t *solver) needed(w workflow.Workflow, e evaluation) workflow.Workflow {
	known := facts(e)
	w.Steps = slices.DeleteFunc(slices.Clone(w.Steps), func(s workflow.Step) bool {
		return s.Optional && len(t.open(s, known)) > 0
	})
	return w
}

// open are the facts and results that a step must have beside the known ones, by its
// parameters.
func (t *solver) open(s workflow.Step, known map[string]any) map[string]string {
	open := map[string]string{}
	_, required := workflow.Parameters(t.tool(s.Tool))
	for _, name := range required {
		fact, isRef := workflow.Reference(s.Params[name])
		if _, ok := known[fact]; isRef && !ok {
			open[name] = fact
		}
	}
	return open
}

// lacking says which facts an evaluation leaves open although its workflow cannot do
// without them.
func (t *solver) lacking(e evaluation) error {
	known := facts(e)
	for _, s := range t.needed(t.domain.Workflows[e.QueryType], e).Steps {
		open := t.open(s, known)
		for _, name := range slices.Sorted(maps.Keys(open)) {
			if slices.Contains(workflow.Facts(), open[name]) {
				return fmt.Errorf("query_type %q needs %s: name them, or choose another query_type", e.QueryType, strings.ReplaceAll(name, "_", " "))
			}
		}
	}
	return nil
}

// tool is one that the domain was checked to have.
func (t *solver) tool(name string) methods.ToolSpec {
	return t.Tools[slices.IndexFunc(t.Tools, func(tool methods.ToolSpec) bool { return tool.Name == name })]
}

// step runs one tool. A fault is what the workflow fails with.
func (t *solver) step(ctx context.Context, i int, s workflow.Step, e evaluation, have *found) (text, fault string, err error) {
	path := stepPath(i)
	args, fault := t.arguments(s, e, have)
	if fault != "" {
		t.Emit(path, methods.StepError, 1, nil, "%s", fault)
		return "", fault, nil
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return "", "", fmt.Errorf("encode arguments of %s: %w", path, err)
	}
	t.Emit(path, methods.StepStart, 2, nil, "%s(%s)", s.Tool, raw)
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: s.Tool, Arguments: raw, Path: path})
	if err != nil {
		return "", "", err
	}
	if result.IsError {
		t.Emit(path, methods.StepError, 1, nil, "%s", result.Content)
		return result.Content, reply.OneLine(result.Content, 300), nil
	}
	if err := json.Unmarshal([]byte(result.Content), have); err != nil {
		return result.Content, fmt.Sprintf("its result is no JSON object: %v", err), nil
	}
	t.Emit(path, methods.StepResult, 2, nil, "%s", result.Content)
	return result.Content, "", nil
}

// arguments fills in a step's parameters. What a step selects on is handed on
// from the step before, as seed 004 has it ("auto-inject logs").
func (t *solver) arguments(s workflow.Step, e evaluation, have *found) (args map[string]any, fault string) {
	all, required := workflow.Parameters(t.tool(s.Tool))
	args = map[string]any{}
	for name, value := range s.Params {
		ref, isRef := workflow.Reference(value)
		if !isRef {
			args[name] = value
			continue
		}
		fact, ok := facts(e)[ref]
		if !ok && ref == "selection" && have.Selection != nil {
			fact, ok = have.Selection, true
		}
		if ok {
			args[name] = fact
		}
	}
	if _, given := args["selection"]; !given && have.Selection != nil && slices.Contains(all, "selection") {
		args["selection"] = have.Selection
	}
	for _, name := range required {
		if _, ok := args[name]; !ok {
			return nil, fmt.Sprintf("the query names no %s", strings.ReplaceAll(name, "_", " "))
		}
	}
	return args, ""
}

// facts are what an evaluation gives, without what it leaves open.
func facts(e evaluation) map[string]any {
	f := map[string]any{}
	if e.SearchValue != "" {
		f["search_value"] = e.SearchValue
	}
	if len(e.EntityTypes) > 0 {
		f["entity_types"] = e.EntityTypes
	}
	if len(e.Filters.Severity) > 0 {
		f["severities"] = e.Filters.Severity
	}
	if e.Filters.Time.Start != "" {
		f["start"] = e.Filters.Time.Start
	}
	if e.Filters.Time.End != "" {
		f["end"] = e.Filters.Time.End
	}
	return f
}

// computed reports whether what is asked for stands although the given steps did
// not run: they only bring records to show.
func computed(missing []workflow.Step) bool {
	return !slices.ContainsFunc(missing, func(s workflow.Step) bool { return s.Tool != displayTool })
}

// answer takes the value of the wanted kind from what was found. Nothing found
// where something is wanted is not an answer. The words are those of the workflow's
// template, or the given ones of a workflow that failed.
func (t *solver) answer(w workflow.Workflow, e evaluation, have found, failed string) methods.Answer {
	members := wanted(e, have)
	words := failed
	if words == "" {
		words = worded(w, e, have, members)
	}
	a := methods.Answer{}.As(methods.Unparsed, "the workflow brought nothing of the wanted kind")
	tops, _ := top(e, have)
	switch {
	case e.unread && t.Answer.Kind != methods.Text:
		a = a.As(methods.Unparsed, "the query was not understood, and names nothing to search for")
	case t.Answer.Kind == methods.Text && failed == "" && w.Value != "":
		a = methods.TextAnswer(wording(e, have, members)[w.Value])
	case t.Answer.Kind == methods.Text:
		a = methods.TextAnswer(words)
	case t.Answer.Kind == methods.Set && w.Value == topEntity && len(tops) > 0:
		a = methods.SetAnswer(tops)
	case t.Answer.Kind == methods.Set && have.Entities != nil:
		a = methods.SetAnswer(members)
	case t.Answer.Kind == methods.Number && e.NeedsCount && have.Entities != nil && len(e.EntityTypes) > 0:
		a = methods.NumberAnswer(float64(len(members)))
	case t.Answer.Kind == methods.Number && have.Count != nil:
		a = methods.NumberAnswer(float64(*have.Count))
	}
	a.Evidence = t.evidence(w, words)
	return a
}

// wanted are the entities that the query asks for, of all kinds that it names,
// without the value that was searched for: it is connected to itself, but
// nobody asks for that.
func wanted(e evaluation, have found) []string {
	members := []string{}
	for _, kind := range e.EntityTypes {
		for _, m := range have.Entities[kind] {
			if m != e.SearchValue {
				members = append(members, m)
			}
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// top are the entities of the wanted kinds that are in the most records, more than
// one if they tie, and in how many.
func top(e evaluation, have found) (tops []string, most int64) {
	for _, kind := range e.EntityTypes {
		for _, name := range slices.Sorted(maps.Keys(have.Counts[kind])) {
			switch n := have.Counts[kind][name]; {
			case n > most:
				tops, most = []string{name}, n
			case n == most:
				tops = append(tops, name)
			}
		}
	}
	return tops, most
}

// draw is the workflow with what each step brought.
func draw(w workflow.Workflow, values []string, failure string) methods.Graph {
	g := methods.Graph{Kind: "workflow", Nodes: []methods.Node{{ID: "evaluate", Kind: "model", State: "done", Path: phaseEvaluate}}}
	before := "evaluate"
	for i, s := range w.Steps {
		n := methods.Node{ID: fmt.Sprintf("%d %s", i+1, s.Tool), Label: s.Tool, Kind: "tool", Layer: i + 1, Value: values[i], State: "done", Path: stepPath(i)}
		switch {
		case strings.HasPrefix(failure, fmt.Sprintf("step %d ", i+1)):
			n.State = "failed"
		case values[i] == "":
			n.State = "skipped"
		}
		g.Nodes = append(g.Nodes, n)
		g.Edges = append(g.Edges, methods.Edge{From: before, To: n.ID})
		before = n.ID
	}
	return g
}
