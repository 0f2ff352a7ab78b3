package local

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/internal/test/localtest"
	"noema/methods"
)

// TestCancel ends requests while some are written and others wait, and holds
// that all return, that the engine goes to rest, and that it serves again.
func TestCancel(t *testing.T) {
	dir := t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "llama", Seed: 1, Context: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	p, err := New(dir, Options{MaxTokens: 1 << 19, Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	clear(p.ends) // so that only the end of the context ends a reply
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			_, err := p.Complete(ctx, methods.Request{Messages: methods.Ask(strings.Repeat("hello world ", 1+i*60))})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("request %d: error %v", i, err)
			}
		})
	}
	until(t, "two are written and four wait", func() bool {
		p.engine.mu.Lock()
		defer p.engine.mu.Unlock()
		return p.engine.running && len(p.engine.waiting) == 4
	})
	cancel()
	group.Wait()
	until(t, "the engine rests", func() bool {
		p.engine.mu.Lock()
		defer p.engine.mu.Unlock()
		return !p.engine.running
	})
	until(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
	if _, err := p.Complete(ctx, methods.Request{Messages: methods.Ask("late")}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end", err)
	}
	c, err := p.Complete(t.Context(), methods.Request{Messages: methods.Ask("again"), Sampling: methods.Sampling{MaxTokens: 2}})
	if err != nil || c.Usage.OutputTokens != 2 {
		t.Errorf("%+v, %v after others were cancelled", c, err)
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come: %s", what)
		}
	}
}
