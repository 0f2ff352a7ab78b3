// Package modeltest asks a live model what it can do. A provider says what its
// protocol has; a server behind it may have less, and a model less still. What
// a researcher must know before a run is what this model does: whether the same
// seed gives the same reply, whether draws differ, whether replies keep to a
// schema. It costs about a dozen short calls.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Outcome is what a check found.
type Outcome string

// The outcomes.
const (
	Yes     Outcome = "yes"
	No      Outcome = "no"      // the model or its server does not do it
	Unclear Outcome = "unclear" // one call does not show it
	Failed  Outcome = "failed"  // the call failed: see Row.Detail
	Skipped Outcome = "skipped" // it would show nothing: see Row.Detail
)

// Row is one check.
type Row struct {
	Check   string           `json:"check"`             // such as "seed repeats"
	Claimed provider.Support `json:"claimed,omitempty"` // what the provider's protocol has; empty where it claims nothing
	Outcome Outcome          `json:"outcome"`
	Detail  string           `json:"detail,omitempty"` // what was seen, in one line; may be empty
	Usage   methods.Usage    `json:"usage"`
}

// longest is the prompt for the check of the context's length, in bytes: more
// than any model reads.
const longest = 12 << 20

// tester makes calls and adds up what they cost.
type tester struct {
	ctx   context.Context
	model methods.Model
	usage methods.Usage
	err   error // of the last call
}

// Test makes the checks, one after the other, and returns a row for each. The
// model is to retry what can be retried, as a gateway's host does. The first
// check is a plain call: if that fails, its error is returned, because the model
// cannot be used. Otherwise the error is ctx's, if that ended.
func Test(ctx context.Context, m methods.Model, f provider.Features) ([]Row, error) {
	checks := []struct {
		name    string
		claimed provider.Support
		run     func(*tester) (Outcome, string)
	}{
		{"plain reply", "", plain},
		{"tokens counted", "", counted},
		{"seed repeats", f.Seed, seedRepeats},
		{"draws differ", f.Draws, drawsDiffer},
		{"stop strings", f.Stop, stops},
		{"limit of tokens", f.MaxTokens, limits},
		{"schema", f.Schema, schema},
		{"tool call", f.Tools, toolCall},
		{"tool result", f.Tools, toolResult},
		{"logprobs", f.Logprobs, logprobs},
		{"context length", "", contextLength},
	}
	rows := make([]Row, 0, len(checks))
	for i, c := range checks {
		t := &tester{ctx: ctx, model: m}
		outcome, detail := c.run(t)
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		if i == 0 && t.err != nil {
			return rows, t.err
		}
		rows = append(rows, Row{Check: c.name, Claimed: c.claimed, Outcome: outcome, Detail: detail, Usage: t.usage})
	}
	return rows, nil
}

// call makes one call. What the provider says is its error, without the words
// of a host around it.
func (t *tester) call(r methods.Request) (methods.Completion, error) {
	c, err := t.model.Complete(t.ctx, r)
	if e, ok := errors.AsType[*provider.Error](err); ok {
		err = e
	}
	if t.err = err; err == nil {
		t.usage = t.usage.Plus(c.Usage)
	}
	return c, err
}

func ask(prompt string, maxTokens int) methods.Request {
	return methods.Request{Messages: methods.Ask(prompt), Sampling: methods.Sampling{MaxTokens: maxTokens, Seed: 1}}
}

// short is a text for a table's cell.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > 60 {
		return string(runes[:60]) + "…"
	}
	return s
}

// failed is the outcome of a failed call: a request that is refused for what it
// asks for is one that the model cannot answer.
func failed(err error) (Outcome, string) {
	if e, ok := errors.AsType[*provider.Error](err); ok && e.Kind == provider.Rejected {
		return No, strings.Join(strings.Fields(err.Error()), " ")
	}
	return Failed, strings.Join(strings.Fields(err.Error()), " ")
}

// readable is a text as a reply shows it, with one U+FFFD for bytes in a row that
// are not UTF-8.
func readable(s string) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(s, "\uFFFD", "\xff"), "\uFFFD"))
}

func plain(t *tester) (Outcome, string) {
	c, err := t.call(ask("Reply with the one word: noema", 512))
	switch {
	case err != nil:
		return failed(err)
	case strings.Contains(strings.ToLower(c.Text), "noema"):
		return Yes, fmt.Sprintf("%s says %q", c.Model, short(c.Text))
	}
	return Unclear, fmt.Sprintf("%s says %q (%s)", c.Model, short(c.Text), c.Finish)
}

func counted(t *tester) (Outcome, string) {
	if _, err := t.call(ask("Say hello.", 512)); err != nil {
		return failed(err)
	}
	u := t.usage
	if u.Unmetered > 0 {
		return No, "the server reports no plausible number of tokens"
	}
	price := "price unknown"
	if u.Unpriced == 0 {
		price = fmt.Sprintf("$%.9f", u.Cost.USD())
	}
	return Yes, fmt.Sprintf("%d in, %d out, %s", u.InputTokens, u.OutputTokens, price)
}

// creative asks for what two independent draws hardly have in common.
func creative(draw int) methods.Request {
	r := ask("Invent a sentence of about thirty unusual words. Reply with the sentence alone.", 1024)
	r.Sampling.Temperature, r.Draw = 1, draw
	return r
}

func seedRepeats(t *tester) (Outcome, string) {
	same, a, b, err := t.twice(creative(0), creative(0))
	switch {
	case err != nil:
		return failed(err)
	case same:
		return Yes, "two calls at temperature 1 agree"
	}
	return No, fmt.Sprintf("%q, then %q", short(a), short(b))
}

func drawsDiffer(t *tester) (Outcome, string) {
	same, a, _, err := t.twice(creative(0), creative(1))
	switch {
	case err != nil:
		return failed(err)
	case same:
		return No, fmt.Sprintf("two draws at temperature 1 both say %q", short(a))
	}
	return Yes, ""
}

func (t *tester) twice(first, second methods.Request) (same bool, a, b string, err error) {
	one, err := t.call(first)
	if err != nil {
		return false, "", "", err
	}
	two, err := t.call(second)
	return one.Text == two.Text, one.Text, two.Text, err
}

func stops(t *tester) (Outcome, string) {
	r := ask("Count from 1 to 9 in digits, separated by spaces. Reply with the numbers alone.", 512)
	r.Sampling.Stop = []string{"5"}
	c, err := t.call(r)
	switch {
	case err != nil:
		return failed(err)
	case strings.Contains(c.Text, "5"):
		return No, fmt.Sprintf("%q holds the stop string", short(c.Text))
	case strings.Contains(c.Text, "4"):
		return Yes, ""
	}
	return Unclear, fmt.Sprintf("%q", short(c.Text))
}

func limits(t *tester) (Outcome, string) {
	c, err := t.call(ask("Write an essay of a thousand words on the sea.", 16))
	switch {
	case err != nil:
		return failed(err)
	case t.usage.Unmetered == 0 && t.usage.OutputTokens > 32, len(c.Text) > 400:
		return No, fmt.Sprintf("%d output tokens and %d bytes for a limit of 16", t.usage.OutputTokens, len(c.Text))
	case c.Finish != methods.FinishLength:
		return Unclear, fmt.Sprintf("the reply ends with %q rather than %q", c.Finish, methods.FinishLength)
	}
	return Yes, ""
}

// answerSchema has an enumeration that no model would think of.
const answerSchema = `{"type":"object","properties":{"colour":{"type":"string","enum":["qx-17","qx-23"]},` +
	`"count":{"type":"integer"}},"required":["colour","count"],"additionalProperties":false}`

func schema(t *tester) (Outcome, string) {
	r := ask("Which colour is the sky, and how many suns has it? Answer in JSON.", 1024)
	r.Schema = &methods.Schema{Name: "answer", JSON: json.RawMessage(answerSchema)}
	c, err := t.call(r)
	if err != nil {
		return failed(err)
	}
	if !validAnswer(c.Text) {
		return No, fmt.Sprintf("%q is not valid against the schema", short(c.Text))
	}
	return Yes, short(c.Text)
}

// validAnswer reports whether a text is valid against answerSchema.
func validAnswer(text string) bool {
	var answer struct {
		Colour string `json:"colour"`
		Count  *int   `json:"count"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(&answer) == nil && !d.More() && answer.Count != nil && (answer.Colour == "qx-17" || answer.Colour == "qx-23")
}

// withTool asks what only the tool can answer.
func withTool() methods.Request {
	r := ask("What is the reading of gauge K7? Use the tool.", 1024)
	r.Tools = []methods.ToolSpec{{
		Name: "read_gauge", Description: "Reads a gauge.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"gauge":{"type":"string"}},"required":["gauge"]}`),
	}}
	return r
}

func toolCall(t *tester) (Outcome, string) {
	c, err := t.call(withTool())
	switch {
	case err != nil:
		return failed(err)
	case len(c.ToolCalls) == 0:
		return No, fmt.Sprintf("it says %q", short(c.Text))
	}
	call := c.ToolCalls[0]
	var arguments struct{ Gauge string }
	if call.Name != "read_gauge" || json.Unmarshal(call.Arguments, &arguments) != nil || !strings.Contains(arguments.Gauge, "K7") {
		return No, fmt.Sprintf("it calls %s%s", call.Name, short(string(call.Arguments)))
	}
	return Yes, fmt.Sprintf("%s%s", call.Name, call.Arguments)
}

func toolResult(t *tester) (Outcome, string) {
	r := withTool()
	c, err := t.call(r)
	switch {
	case err != nil:
		return failed(err)
	case len(c.ToolCalls) == 0:
		return Skipped, "it called no tool"
	}
	r.Messages = append(r.Messages, methods.Message{Role: methods.Assistant, Content: c.Text, ToolCalls: c.ToolCalls})
	for _, call := range c.ToolCalls {
		r.Messages = append(r.Messages, methods.Message{Role: methods.Tool, CallID: call.ID, Content: "48213"})
	}
	if c, err = t.call(r); err != nil {
		return failed(err)
	}
	if !strings.Contains(strings.NewReplacer(",", "", " ", "", ".", "").Replace(c.Text), "48213") {
		return No, fmt.Sprintf("it says %q", short(c.Text))
	}
	return Yes, ""
}

// logprobs asks for the likeliest three tokens at each place. A model that
// refuses has none; one that replies must give the tokens of its very reply.
func logprobs(t *tester) (Outcome, string) {
	r := ask("Reply with the one word: noema", 512)
	r.Sampling.Logprobs = 3
	c, err := t.call(r)
	switch {
	case err != nil:
		return failed(err)
	case len(c.Logprobs) == 0:
		return Unclear, fmt.Sprintf("it says %q", short(c.Text))
	}
	spelled, sum, told := "", 0.0, 0
	for _, token := range c.Logprobs {
		spelled, sum, told = spelled+string(token.Raw()), sum+token.Logprob, max(told, len(token.Top))
		if token.Logprob > 1e-3 { // less is rounding
			return No, fmt.Sprintf("the log probability of %q is %g, which is above 0", token.Token, token.Logprob)
		}
	}
	if readable(spelled) != readable(c.Text) {
		return No, fmt.Sprintf("the tokens spell %q, the reply is %q", short(spelled), short(c.Text))
	}
	return Yes, fmt.Sprintf("%d tokens, %.3f in sum, up to %d likeliest at a place", len(c.Logprobs), sum, told)
}

// contextLength sends more than any model reads. What is refused is not paid
// for; a model that answers has had its prompt cut.
func contextLength(t *tester) (Outcome, string) {
	c, err := t.call(ask("Repeat the first word of this:"+strings.Repeat(" word", longest/5), 16))
	var e *provider.Error
	switch {
	case err == nil:
		return No, fmt.Sprintf("a prompt of %d MiB was answered with %q: the server cuts prompts in silence", longest>>20, short(c.Text))
	case errors.As(err, &e) && e.Kind == provider.ContextLength:
		return Yes, "a prompt that does not fit is refused as such"
	}
	return Unclear, err.Error()
}
