package gateway

import (
	"slices"

	"noema/methods"
)

// Keys are taken out before anything is hashed, so that two people with different
// keys have the same record, and before a model, a method or the store sees it.

// cleanRequest is a request without keys.
func (g *Gateway) cleanRequest(r methods.Request) methods.Request {
	red := g.opts.Redactor
	if red == nil {
		return r
	}
	r.Path = red.Text(r.Path)
	if r.Schema != nil {
		r.Schema = &methods.Schema{Name: red.Text(r.Schema.Name), JSON: red.Bytes(r.Schema.JSON)}
	}
	r.Tools, r.Sampling.Stop = slices.Clone(r.Tools), slices.Clone(r.Sampling.Stop)
	for i, t := range r.Tools {
		r.Tools[i].Name, r.Tools[i].Description = red.Text(t.Name), red.Text(t.Description)
		r.Tools[i].Parameters, r.Tools[i].Result = red.Bytes(t.Parameters), red.Bytes(t.Result)
	}
	for i, stop := range r.Sampling.Stop {
		r.Sampling.Stop[i] = red.Text(stop)
	}
	r.Messages = slices.Clone(r.Messages)
	for i, m := range r.Messages {
		r.Messages[i].Content, r.Messages[i].ToolCalls = red.Text(m.Content), g.cleanCalls(m.ToolCalls)
	}
	return r
}

func (g *Gateway) cleanCalls(calls []methods.ToolCall) []methods.ToolCall {
	if len(calls) == 0 || g.opts.Redactor == nil {
		return calls
	}
	calls = slices.Clone(calls)
	for i, c := range calls {
		calls[i].ID, calls[i].Name = g.opts.Redactor.Text(c.ID), g.opts.Redactor.Text(c.Name)
		calls[i].Arguments = g.opts.Redactor.Bytes(c.Arguments)
	}
	return calls
}

// cleanCompletion is a completion without keys. Log probabilities of an answer
// that held one are dropped: their tokens would spell it.
func (g *Gateway) cleanCompletion(c methods.Completion) methods.Completion {
	red := g.opts.Redactor
	if red == nil {
		return c
	}
	if text := red.Text(c.Text); text != c.Text {
		c.Text, c.Logprobs = text, nil
		g.opts.Warn("an answer of " + g.id.String() + " held one of your keys: it is recorded without it")
	}
	c.Model, c.ToolCalls = red.Text(c.Model), g.cleanCalls(c.ToolCalls)
	return c
}

// cleanEvent is an event without keys.
func (g *Gateway) cleanEvent(e methods.Event) methods.Event {
	red := g.opts.Redactor
	e.Path, e.Phase, e.Text, e.Data = red.Text(e.Path), red.Text(e.Phase), red.Text(e.Text), red.Bytes(e.Data)
	return e
}
