package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/phases"
	"noema/methods/reply"
)

// LLMCompiler has the model write one plan of tool calls, runs calls as soon as
// those they depend on are done, and has the model join the results into the
// answer. The joiner may ask for one new plan.
//
// Source: Kim et al. 2023, "An LLM Compiler for Parallel Function Calling", and
// Xu et al. 2023, "ReWOO". Differs: the plan is read whole before it runs, not
// streamed; a reference $N stands alone as an argument or inside a text; a call
// that fails leaves its message as the result and fails those that use it.
func LLMCompiler() Method {
	return Method{
		name: "llm-compiler", version: "3", prompts: "3", summary: "plans all tool calls at once, runs them in parallel, joins the results", ask: askCompiled,
		tools: []string{methods.AnyTool},
		own:   []string{"replans"},
	}
}

// call is one call of a plan.
type call struct {
	ID   int                        `json:"id"`
	Tool string                     `json:"tool"`
	Args map[string]json.RawMessage `json:"args"`

	needs []int // indexes of the calls that it refers to
}

// outcome is what came of a call.
type outcome struct {
	text   string
	failed bool
	err    error // why the trial cannot go on
}

// joined is what the joiner says.
type joined struct {
	Answer json.RawMessage `json:"answer"`
	Replan string          `json:"replan"`
}

func askCompiled(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	earlier := ""
	for round := 1; ; round++ {
		plan, err := t.planCalls(ctx, question, earlier, round)
		if errors.Is(err, reply.ErrInvalid) {
			return reply.Reading{}, fmt.Errorf("%w: %w", phases.ErrNoPlan, err)
		}
		if err != nil {
			return reply.Reading{}, err
		}
		results := t.runCalls(ctx, plan, round)
		for _, r := range results {
			if r.err != nil {
				return reply.Reading{}, r.err
			}
		}
		t.drawCalls(plan, results, round)
		said, r, err := t.join(ctx, question, earlier+observations(plan, results), round)
		if err != nil || said.Replan == "" {
			return r, err
		}
		t.Emit(fmt.Sprintf("join/%d", round), methods.Retry, 1, nil, "a new plan is wanted: %s", said.Replan)
		earlier += observations(plan, results) + "The results do not suffice: " + reply.OneLine(said.Replan, 500) + "\n"
	}
}

// planCalls asks for a plan until one can be run.
func (t *solver) planCalls(ctx context.Context, question, earlier string, round int) (plan []call, err error) {
	req := t.Request(fmt.Sprintf("plan/%d", round), methods.Ask(callsPrompt(question, t.Tools, earlier))...)
	if len(t.Tools) > 0 {
		req.Schema = callsSchema(t.Tools)
	}
	check := func(raw json.RawMessage) (err error) {
		plan, err = parseCalls(raw, t.Tools)
		return err
	}
	_, _, err = reply.JSON(ctx, t.Host, req, check, reply.Options{Retries: t.opts.Retries})
	return plan, err
}

var reference = regexp.MustCompile(`\$(\d+)\b`)

// parseCalls reads a plan. Calls may refer to earlier ones alone, so that there
// is not a cycle.
func parseCalls(raw json.RawMessage, tools []methods.ToolSpec) ([]call, error) {
	var body struct {
		Calls []call `json:"calls"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, err
	}
	names := toolNames(tools)
	index := map[int]int{}
	for i := range body.Calls {
		c := &body.Calls[i]
		if _, twice := index[c.ID]; twice {
			return nil, fmt.Errorf("two calls have the id %d", c.ID)
		}
		if !slices.Contains(names, c.Tool) {
			return nil, fmt.Errorf("call %d: there is no tool %q; there are %s", c.ID, c.Tool, strings.Join(names, ", "))
		}
		for _, name := range slices.Sorted(maps.Keys(c.Args)) {
			value := c.Args[name]
			for _, m := range reference.FindAllStringSubmatch(string(value), -1) {
				id, _ := strconv.Atoi(m[1]) // digits; a number too large is not an id
				need, ok := index[id]
				if !ok {
					return nil, fmt.Errorf("call %d: argument %q refers to $%s, which is no earlier call", c.ID, name, m[1])
				}
				c.needs = append(c.needs, need)
			}
		}
		index[c.ID] = i
	}
	return body.Calls, nil
}

// runCalls runs every call as soon as it can.
func (t *solver) runCalls(ctx context.Context, plan []call, round int) []outcome {
	results := make([]outcome, len(plan))
	needs := make([][]int, len(plan))
	for i, c := range plan {
		needs[i] = c.needs
	}
	trial.Steps(needs, func(i int) {
		for _, need := range needs[i] {
			if results[need].err != nil {
				results[i].err = results[need].err
				return
			}
			if results[need].failed {
				results[i] = outcome{text: fmt.Sprintf("not run: call %d failed", plan[need].ID), failed: true}
				return
			}
		}
		results[i] = t.runCall(ctx, plan, plan[i], results, round)
	})
	return results
}

func (t *solver) runCall(ctx context.Context, plan []call, c call, results []outcome, round int) outcome {
	path := fmt.Sprintf("call/%d/%d", round, c.ID)
	byID := map[int]string{}
	for _, need := range c.needs {
		byID[plan[need].ID] = results[need].text
	}
	args := map[string]json.RawMessage{}
	for name, value := range c.Args {
		args[name] = fill(value, byID)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return outcome{text: fmt.Sprintf("error: the arguments are no JSON: %v", err), failed: true}
	}
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: c.Tool, Arguments: raw, Path: path})
	if err != nil {
		return outcome{err: err}
	}
	text, cut := reply.Head(result.Content, maxObservation)
	if cut {
		t.Emit(path, methods.Truncated, 1, nil, "%d of %d bytes of the result kept (head)", len(text), len(result.Content))
	}
	if result.IsError {
		t.Emit(path, methods.StepError, 1, nil, "%s", text)
		return outcome{text: "error: " + text, failed: true}
	}
	t.Emit(path, methods.StepResult, 1, nil, "%s", text)
	return outcome{text: text}
}

// fill puts results in the place of references, also deep inside a value: a
// reference that is a whole text becomes the value itself, one among other words
// a part of the text.
func fill(value json.RawMessage, results map[int]string) json.RawMessage {
	var decoded any
	if methods.DecodeJSON(value, &decoded) != nil {
		return value
	}
	filled, _ := trial.MapTexts(decoded, nil, func(text string, _ []string) (any, error) { return fillText(text, results), nil })
	raw, err := json.Marshal(filled)
	if err != nil {
		return value
	}
	return raw
}

func fillText(text string, results map[int]string) any {
	result := func(ref string) string {
		id, _ := strconv.Atoi(ref[1:]) // digits, and a known id: the plan was checked
		return results[id]
	}
	if m := reference.FindString(text); m == text && m != "" && json.Valid([]byte(result(m))) {
		return json.RawMessage(result(m))
	}
	return reference.ReplaceAllStringFunc(text, result)
}

// observations lists calls with their results for the joiner.
func observations(plan []call, results []outcome) string {
	var b strings.Builder
	for i, c := range plan {
		args, err := json.Marshal(c.Args)
		if err != nil {
			args = []byte("{}")
		}
		fmt.Fprintf(&b, "$%d = %s(%s): %s\n", c.ID, c.Tool, args, results[i].text)
	}
	return b.String()
}

// drawCalls shows the plan as a graph with its results.
func (t *solver) drawCalls(plan []call, results []outcome, round int) {
	g := methods.Graph{Kind: "calls"}
	id := func(i int) string { return fmt.Sprintf("$%d", plan[i].ID) }
	for i, c := range plan {
		n := methods.Node{ID: id(i), Label: fmt.Sprintf("$%d %s", c.ID, c.Tool), Kind: "tool", Value: results[i].text, State: "done", Path: fmt.Sprintf("call/%d/%d", round, c.ID)}
		if results[i].failed {
			n.State = "failed"
		}
		g.Nodes = append(g.Nodes, n)
		for _, need := range c.needs {
			g.Edges = append(g.Edges, methods.Edge{From: id(need), To: n.ID})
		}
	}
	t.Host.Emit(methods.GraphEvent(fmt.Sprintf("plan/%d", round), g))
}

// join asks for the answer, or, while that is allowed, for what a new plan
// should find.
func (t *solver) join(ctx context.Context, question, results string, round int) (said joined, r reply.Reading, err error) {
	mayReplan := round <= t.opts.Replans
	req := t.Request(fmt.Sprintf("join/%d", round), methods.Ask(joinPrompt(question, t.Answer, results, mayReplan))...)
	req.Schema = joinSchema(t.Answer, mayReplan)
	check := func(raw json.RawMessage) (err error) {
		said = joined{}
		if err := json.Unmarshal(raw, &said); err != nil {
			return err
		}
		if (said.Answer == nil || string(said.Answer) == "null") && said.Replan != "" && mayReplan {
			return nil
		}
		said.Replan = ""
		_, err = reply.ReadValue(said.Answer, t.Answer)
		return err
	}
	answer, _, err := reply.Either(ctx, t.Host, req, check, t.Answer, true, reply.Options{Retries: t.opts.Retries})
	if answer != nil {
		said, r = joined{}, *answer
	}
	return said, r, err
}
