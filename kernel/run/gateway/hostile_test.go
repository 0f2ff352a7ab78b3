package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"

	"noema/methods"
)

// TestEventFloodIsBounded: a method that never stops to emit loses its events
// and is told on, and the kernel keeps its memory.
func TestEventFloodIsBounded(t *testing.T) {
	seen := 0
	tr := trialOf("m", "s", 0)
	tr.OnEvent = func(methods.Event) { seen++ }
	h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: &model{}}).Host(tr)
	h.Emit(methods.Event{Path: "P1", Text: "fine"})
	if r := h.Report(); r.Excess != "" || len(r.Events) != 1 {
		t.Fatalf("one event: %+v", r)
	}
	big := strings.Repeat("x", 1<<20)
	for range 40 {
		h.Emit(methods.Event{Path: "P1", Text: big})
	}
	if r := h.Report(); r.Excess != "the method emitted more than 16 MiB of events" || len(r.Events) != 0 {
		t.Errorf("after 40 MiB: %q, %d events kept", r.Excess, len(r.Events))
	}
	if seen > 17 {
		t.Errorf("%d events were passed on", seen)
	}
}

// TestPanickingProviderCostsItsCallAlone: a fault of the provider is an error
// like any other for who waits.
func TestPanickingProviderCostsItsCallAlone(t *testing.T) {
	p := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) { panic("boom") }}
	h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: p}).Host(trialOf("m", "s", 0))
	_, err := h.Complete(t.Context(), methods.Request{Messages: methods.Ask("?"), Path: "P1"})
	if err == nil || !strings.Contains(err.Error(), "panicked: boom") || errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
