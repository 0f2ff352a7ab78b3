package none_test

import (
	"context"
	"errors"
	"go/build"
	"slices"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/methods"
)

func TestRefusesEverything(t *testing.T) {
	info := provider.Info{ID: methods.ModelID{Provider: "openai", Model: "gpt-5-nano"}, Simulated: true}
	p := none.New(info)
	if p.Info() != info {
		t.Errorf("info %+v, want that of the model it stands in for", p.Info())
	}
	_, err := p.Complete(t.Context(), methods.Request{Path: "P3/c2", Messages: methods.Ask("x")})
	if !errors.Is(err, methods.ErrMiss) || provider.Retryable(err) {
		t.Errorf("got %v, want a final miss", err)
	}
	for _, part := range []string{"P3/c2", "openai/gpt-5-nano", "without replay"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := none.New(provider.Info{}).Complete(ctx, methods.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// The package itself can open no socket: it imports nothing that could.
func TestImportsNoNetwork(t *testing.T) {
	pkg, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"context", "fmt", "noema/kernel/model/provider", "noema/methods"}
	if got := pkg.Imports; !slices.Equal(got, want) {
		t.Errorf("imports %q, want %q", got, want)
	}
}
