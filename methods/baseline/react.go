package baseline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// ReAct thinks, acts and observes in turns, with the problem's tools as actions,
// until it answers or has no steps left.
//
// Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language
// Models". Differs: zero-shot; a turn is one JSON object instead of three lines;
// at the last step the answer is demanded, and flagged as forced by the budget
// of steps. An action that is not a tool, or that the tool refuses, is an
// observation that says so.
func ReAct() Method {
	return Method{
		name: "react", version: "3", prompts: "3", summary: "thinks and calls tools in turns, then answers", ask: askInTurns,
		tools: []string{methods.AnyTool},
		own:   []string{"steps"},
	}
}

// turn is what the model says in one step: a call or the answer, as its action or
// beside its thought.
type turn struct {
	Action *turn           `json:"action"`
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Answer json.RawMessage `json:"answer"`
}

// maxObservation bounds what a tool's result adds to the conversation, in
// bytes.
const maxObservation = 2000

func askInTurns(ctx context.Context, t *solver, question string) (reply.Reading, error) {
	messages := methods.Ask(turnsPrompt(question, t.Answer, t.Tools))
	for step := 1; ; step++ {
		last := step >= t.opts.Steps
		if last {
			messages = append(messages, methods.Message{Role: methods.User, Content: lastTurn(t.Answer)})
		}
		said, r, text, err := t.turn(ctx, messages, step, last)
		if err != nil {
			return reply.Reading{}, err
		}
		if r != nil {
			if last && step > 1 {
				t.Emit(callPath, methods.Fallback, 1, nil, "the answer was demanded after %d steps", step)
				r.Answer = r.Answer.As(methods.OverBudget, fmt.Sprintf("demanded after %d steps", step))
			}
			return *r, nil
		}
		seen, err := t.act(ctx, said, step)
		if err != nil {
			return reply.Reading{}, err
		}
		messages = append(messages, methods.Message{Role: methods.Assistant, Content: text},
			methods.Message{Role: methods.User, Content: "Observation: " + seen})
	}
}

// turn asks for the next step: an action or the answer; the last must be an
// answer. An answer without any mark counts where nothing but an answer is wanted.
func (t *solver) turn(ctx context.Context, messages []methods.Message, step int, last bool) (said turn, r *reply.Reading, text string, err error) {
	req := t.Request(fmt.Sprintf("step/%d", step), messages...)
	req.Schema = turnSchema(t.Answer, t.Tools)
	if last {
		req.Schema = turnSchema(t.Answer, nil)
	}
	var answer reply.Reading
	action := func(raw json.RawMessage) (err error) {
		said = turn{}
		if err := json.Unmarshal(raw, &said); err != nil {
			return err
		}
		if said.Action != nil {
			said = *said.Action
		}
		switch {
		case said.Answer != nil && string(said.Answer) != "null":
			answer, err = reply.ReadValue(said.Answer, t.Answer)
			return err
		case last:
			return errors.New(`there are no steps left: want "answer"`)
		case said.Tool == "":
			return errors.New(`the action has neither "tool" with "args" nor "answer"`)
		}
		return nil
	}
	r, text, err = reply.Either(ctx, t.Host, req, action, t.Answer, last || len(t.Tools) == 0, reply.Options{Retries: t.opts.Retries})
	if err == nil && r == nil && said.Answer != nil && string(said.Answer) != "null" {
		r = &answer
	}
	return said, r, text, err
}

// act calls the tool of a step and says what is observed.
func (t *solver) act(ctx context.Context, said turn, step int) (string, error) {
	path := fmt.Sprintf("step/%d/tool", step)
	t.Emit(path, methods.StepStart, 1, nil, "%s(%s)", said.Tool, said.Args)
	result, err := t.Host.CallTool(ctx, methods.ToolCall{Name: said.Tool, Arguments: said.Args, Path: path})
	switch {
	case err == nil:
	case errors.Is(err, methods.ErrUnknownTool):
		t.Emit(path, methods.StepError, 1, nil, "there is no tool %q", said.Tool)
		return fmt.Sprintf("there is no tool %q; there are %s", said.Tool, strings.Join(toolNames(t.Tools), ", ")), nil
	default:
		return "", err
	}
	text, cut := reply.Head(result.Content, maxObservation)
	if cut {
		t.Emit(path, methods.Truncated, 1, nil, "%d of %d bytes of the result shown (head)", len(text), len(result.Content))
	}
	if result.IsError {
		t.Emit(path, methods.StepError, 1, nil, "%s", text)
		return "error: " + text, nil
	}
	t.Emit(path, methods.StepResult, 1, nil, "%s", text)
	return text, nil
}

func toolNames(tools []methods.ToolSpec) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}
