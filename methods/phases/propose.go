package phases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Draft is a reply to the whole question.
type Draft struct {
	reply.Reading        // with the whole reply as its Text
	Path          string // of the call that it was asked for by
}

// Answers are those of drafts, in order.
func Answers(drafts []Draft) []methods.Answer {
	answers := make([]methods.Answer, len(drafts))
	for i, d := range drafts {
		answers[i] = d.Answer
	}
	return answers
}

// Texts are the replies of drafts, in order.
func Texts(drafts []Draft) []string {
	texts := make([]string, len(drafts))
	for i, d := range drafts {
		texts[i] = d.Text
	}
	return texts
}

// Reason is a request for one chain of thought, which is that of the method cot: draws
// of the same number share their replies with those of self-consistency.
func (t *Trial) Reason(path string, draw int, temperature float64) methods.Request {
	return t.drawn(t.Request(path, t.Conversation(ReasonPrompt, true, false)...), draw, temperature)
}

// Reconsider is a request for a new reply to the question from sections of earlier
// work; the instruction says what to do with them.
func (t *Trial) Reconsider(path string, draw int, temperature float64, instruction string, shown ...Section) methods.Request {
	prompt := t.Prompt(instruction+" End with one last line of this form:\nAnswer: "+FormOf(t.Answer)+"\n", shown...)
	return t.drawn(t.Request(path, methods.Ask(prompt)...), draw, temperature)
}

func (t *Trial) drawn(r methods.Request, draw int, temperature float64) methods.Request {
	r.Draw, r.Sampling.Temperature = draw, temperature
	return r
}

// Draft asks for a reply that ends in its answer, again and again as the option
// retries allows. The error of one that cannot be read is a [reply.ErrInvalid].
func (t *Trial) Draft(ctx context.Context, r methods.Request) (Draft, error) {
	return t.draft(ctx, r, reply.LineForm, t.Patience())
}

// Direct asks for the answer alone.
func (t *Trial) Direct(ctx context.Context, path string) (Draft, error) {
	r := t.Request(path, methods.Ask(Fill(DirectPrompt, t.Question, JSONForm(t.Answer)))...)
	r.Schema = Schema(t.Answer)
	return t.draft(ctx, r, reply.ObjectForm, t.Patience())
}

func (t *Trial) draft(ctx context.Context, r methods.Request, form reply.Form, o reply.Options) (Draft, error) {
	read, err := reply.Final(ctx, t.Host, r, t.Answer, form, o)
	return Draft{read, r.Path}, err
}

// Drafts asks all requests at the same time, each once: another makes up for a reply
// that cannot be read, which is left out with an event. The error is an [ErrNoAnswer]
// if none is left.
func (t *Trial) Drafts(ctx context.Context, requests []methods.Request) ([]Draft, error) {
	all, read := make([]Draft, len(requests)), make([]bool, len(requests))
	err := Each(len(requests), func(i int) (err error) {
		all[i], err = t.draft(ctx, requests[i], reply.LineForm, reply.Options{})
		if read[i] = err == nil; errors.Is(err, reply.ErrInvalid) && ctx.Err() == nil {
			t.Emit(requests[i].Path, methods.Dropped, 1, nil, "the chain has no answer: %v", err)
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var drafts []Draft
	for i, d := range all {
		if read[i] {
			drafts = append(drafts, d)
		}
	}
	if len(drafts) == 0 {
		return nil, fmt.Errorf("%w: none of %d chains", ErrNoAnswer, len(requests))
	}
	return drafts, nil
}

// Section is what a prompt shows between a pair of tags.
type Section struct{ Tag, Text string }

// Show is a section of texts that models wrote: one as it is, several behind their
// numbers. Of a text that is longer than 8000 bytes the middle is left out, with an
// event.
func (t *Trial) Show(path, tag string, texts ...string) Section {
	lines := make([]string, len(texts))
	for i, text := range texts {
		short, cut := reply.Shorten(strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd"), maxShown)
		if cut > 0 {
			t.Emit(path, methods.Truncated, 1, nil, "%d bytes of a text are not shown again (middle)", cut)
		}
		if lines[i] = short; len(texts) > 1 {
			lines[i] = fmt.Sprintf("[%d]\n%s", i+1, short)
		}
	}
	return Section{tag, strings.Join(lines, "\n")}
}

const (
	maxShown = 8000 // bytes of one text of a model that a prompt shows again
	maxStep  = 1000 // bytes of one step of a chain of thought
)

// Prompt is the question, sections and an instruction.
func (t *Trial) Prompt(instruction string, shown ...Section) string {
	var b strings.Builder
	b.WriteString(t.Question)
	for _, s := range shown {
		trial.Section(&b, s.Tag, s.Text)
	}
	return b.String() + instruction
}

// Next asks for at most width steps that could follow on these. The last of a chain is
// a line "Answer: …", see [Trial.Concluded]. Steps have one line; equal ones count once.
func (t *Trial) Next(ctx context.Context, path string, steps []string, width int, temperature float64) (next []string, err error) {
	prompt := t.Prompt(fmt.Sprintf(nextPrompt, width, FormOf(t.Answer)), t.chain(path, steps))
	r := t.drawn(t.Request(path, methods.Ask(prompt)...), 0, temperature)
	r.Schema = listSchema("next", width)
	_, _, err = reply.JSON(ctx, t.Host, r, func(raw json.RawMessage) error {
		if next, err = texts(raw, "next"); err == nil && len(next) == 0 {
			err = errors.New(`"next" has no step`)
		}
		return err
	}, t.Patience())
	next = slices.DeleteFunc(next, func(s string) bool { return slices.Contains(steps, s) })
	return next[:min(len(next), width)], err
}

// Concluded is the draft that a chain of steps is, if its last step is the answer.
func (t *Trial) Concluded(path string, steps []string) (Draft, bool) {
	if len(steps) == 0 {
		return Draft{}, false
	}
	r, err := reply.ReadMarked(steps[len(steps)-1], t.Answer, reply.LineForm)
	r.Text = strings.Join(steps, "\n")
	return Draft{r, path}, err == nil
}

// Continue is a request for the answer to which a chain of steps leads.
func (t *Trial) Continue(path string, draw int, temperature float64, steps []string) methods.Request {
	if len(steps) == 0 {
		return t.Reason(path, draw, temperature)
	}
	return t.Reconsider(path, draw, temperature, "Go on from these steps until you know the answer.", t.chain(path, steps))
}

func (t *Trial) chain(path string, steps []string) Section {
	return t.Show(path, "steps", strings.Join(steps, "\n"))
}

// List asks for at most limit texts under a key of a JSON object. The instruction ends
// with the form of the reply.
func (t *Trial) List(ctx context.Context, path, key string, limit int, instruction string, shown ...Section) ([]string, error) {
	return t.list(ctx, t.Request(path, methods.Ask(t.Prompt(instruction, shown...))...), key, limit)
}

func (t *Trial) list(ctx context.Context, r methods.Request, key string, limit int) (list []string, err error) {
	r.Schema = listSchema(key, limit)
	_, _, err = reply.JSON(ctx, t.Host, r, func(raw json.RawMessage) (err error) {
		list, err = texts(raw, key)
		return err
	}, t.Patience())
	return list[:min(len(list), limit)], err
}

// listSchema is the JSON Schema of an object with one list of texts.
func listSchema(key string, limit int) *methods.Schema {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": limit}
	return &methods.Schema{Name: key, JSON: Encode(Object(map[string]any{key: list}))}
}

// texts reads the list of an object: one line each, none empty or twice.
func texts(raw json.RawMessage, key string) (list []string, err error) {
	var body map[string]json.RawMessage
	var said []string
	if err = json.Unmarshal(raw, &body); err == nil {
		err = json.Unmarshal(body[key], &said)
	}
	if err != nil {
		return nil, fmt.Errorf("want {%q: [texts]}: %w", key, err)
	}
	for _, s := range said {
		if s = reply.OneLine(s, maxStep); s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list, nil
}
