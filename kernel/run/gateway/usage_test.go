package gateway

import (
	"context"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/methods"
)

// miscounting is a provider whose replies have a usage that cannot be.
type miscounting struct{ usage methods.Usage }

func (miscounting) Info() provider.Info {
	return provider.Info{ID: methods.ModelID{Provider: "odd", Model: "m"}}
}

func (m miscounting) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{Text: "yes", Usage: m.usage}, nil
}

func TestUsageThatCannotBeIsRefused(t *testing.T) {
	for _, u := range []methods.Usage{{InputTokens: -5}, {OutputTokens: provider.MaxTokens + 1}, {CachedTokens: -1}, {Cost: -1}} {
		g, err := New(Options{Provider: miscounting{u}, Mode: Off, Retry: Retry{Attempts: 3}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = g.Host(Trial{}).Complete(t.Context(), methods.Request{Messages: methods.Ask("x"), Path: "ask"})
		if err == nil || !strings.Contains(err.Error(), "odd reports") {
			t.Errorf("%+v: got %v", u, err)
		}
		if n := g.Stats().Failed; n != 1 {
			t.Errorf("%+v: %d attempts failed, want 1: the next would be the same", u, n)
		}
	}
}
