package gateway

import (
	"context"
	"testing"

	"noema/cache"
	"noema/methods"
)

// TestThoughtsStayInTheStore: a method gets what was said, live and from the store, by any marks;
// the record and its digest are of the reply as it came. A run of the first rules of reading gets
// all of it.
func TestThoughtsStayInTheStore(t *testing.T) {
	const thought = "<hm>7?</hm>The answer is 5."
	store := openStore(t, t.TempDir())
	p := &model{answer: func(_ context.Context, _ int64, r methods.Request) (methods.Completion, error) {
		c := numbered(1)
		if c.Text = thought; r.Messages[0].Content == "cut" {
			c.Text, c.Finish = "<hm>7", methods.FinishLength
		}
		return c, nil
	}}
	for _, c := range []struct {
		o    Options
		want string
	}{{Options{Thoughts: "<hm>,</hm>"}, "The answer is 5."}, {Options{}, thought}, {Options{Verbatim: true, Thoughts: "<hm>,</hm>"}, thought}} {
		c.o.Store, c.o.Provider = store, p
		h := newGateway(t, c.o).Host(trialOf("direct", "a", 0))
		if got := mustComplete(t, h, ask("q", "P1")); got.Text != c.want {
			t.Errorf("%+v: a method got %q, want %q", c.o.Thoughts, got.Text, c.want)
		}
		key, err := cache.ParseKey(sealed(t, h).Calls[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		if rec, err := store.Completion(t.Context(), key); err != nil || rec.Completion.Text != thought {
			t.Errorf("the store has %q, %v", rec.Completion.Text, err)
		}
	}
	if n := p.calls.Load(); n != 1 {
		t.Errorf("%d calls to the provider, want 1: the marks are no part of keys", n)
	}
}

// TestCutRepliesAreEvents: a reply that the token limit cut is an event of its trial, but not where
// the method set the limit itself, nor in runs of the first rules. One that was cut in its thought
// says nothing.
func TestCutRepliesAreEvents(t *testing.T) {
	p := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) {
		c := numbered(1)
		c.Text, c.Finish = "<think>7", methods.FinishLength
		return c, nil
	}}
	own := ask("q", "P1")
	own.Sampling.MaxTokens = 4
	for name, c := range map[string]struct {
		r        methods.Request
		verbatim bool
		want     int
	}{"by the model's limit": {ask("q", "P1"), false, 1}, "by the method's own": {own, false, 0}, "first rules": {ask("q", "P1"), true, 0}} {
		h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: p, Verbatim: c.verbatim}).Host(trialOf("direct", "a", 0))
		got := mustComplete(t, h, c.r)
		if c.verbatim != (got.Text != "") {
			t.Errorf("%s: a method got %q", name, got.Text)
		}
		if n := sealed(t, h).Facts().Cut; n != c.want {
			t.Errorf("%s: %d replies count as cut, want %d", name, n, c.want)
		}
	}
}
