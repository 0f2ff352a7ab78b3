package gateway

import (
	"encoding/json"
	"fmt"

	"noema/kernel/result/record"
	"noema/methods"
)

// Report is what a trial's calls add up to.
type Report struct {
	Calls    []record.Call
	Events   []methods.Event
	Usage    methods.Usage
	Provider int                  // calls that reached the provider in this execution
	Effects  []methods.ToolResult // of impure tools that did not refuse, if [Trial.Effects] is set
	Excess   string               // why events were dropped or calls refused; empty if none were
}

// Limits of a trial: a method that never stops emitting or calling must not
// exhaust the kernel's memory.
const (
	maxEventBytes  = 16 << 20 // of all events
	maxEffectBytes = 16 << 20 // of the results that a score counts
	maxCalls       = 100_000  // of models, tools and seeds together
)

// excess explains Report.Excess; h.mu is held.
func (h *Host) excess() string {
	switch {
	case h.emitted > maxEventBytes:
		return fmt.Sprintf("the method emitted more than %d MiB of events", maxEventBytes>>20)
	case h.refused:
		return fmt.Sprintf("the method made more than %d calls", maxCalls)
	}
	return ""
}

// Report returns the transcript so far, in order of arrival.
func (h *Host) Report() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Report{
		Calls: append([]record.Call(nil), h.calls...), Events: append([]methods.Event(nil), h.events...),
		Effects: append([]methods.ToolResult(nil), h.effects...), Usage: h.spent, Provider: h.provider, Excess: h.excess(),
	}
}

// Withdraw takes back what the host charged to the run, because the trial is run
// again by another host and charged by that. Calls under way go on, for that host
// to join, and are charged by it. It returns the number of calls that
// reached the provider, which were paid.
func (h *Host) Withdraw() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.withdrawn = true
	h.gateway.mu.Lock()
	defer h.gateway.mu.Unlock()
	h.gateway.spent = h.gateway.spent.Minus(h.spent)
	return h.provider
}

// Emit implements methods.Tracer. Data that is not JSON is kept as a string.
func (h *Host) Emit(e methods.Event) {
	e.Path, e.Phase, e.Text = valid(e.Path), valid(e.Phase), valid(e.Text)
	e.Kind = methods.EventKind(valid(string(e.Kind)))
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		e.Data, _ = json.Marshal(valid(string(e.Data))) // a string always encodes
	}
	e = h.gateway.cleanEvent(e)
	h.mu.Lock()
	h.emitted += len(e.Path) + len(e.Phase) + len(e.Kind) + len(e.Text) + len(e.Data) + 64
	flooded := h.emitted > maxEventBytes
	if flooded {
		h.events = nil
	} else {
		h.events = append(h.events, e)
	}
	h.mu.Unlock()
	if h.trial.OnEvent != nil && !flooded {
		h.trial.OnEvent(e)
	}
}
