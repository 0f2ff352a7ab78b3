package gateway

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"noema/kernel/model/provider"
	"noema/methods"
)

// told runs one trial's calls one after the other against a model, on a clock
// that stands still while anything runs, and returns what the user was told.
func told(t *testing.T, calls int, answer func(ctx context.Context, n int64, r methods.Request) (methods.Completion, error)) []string {
	t.Helper()
	var mu sync.Mutex
	var notices []string
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, Options{
			Mode: Off, Provider: &model{answer: answer}, Retry: Retry{Attempts: 1000},
			Warn: func(s string) {
				mu.Lock()
				defer mu.Unlock()
				notices = append(notices, s)
			},
		})
		h := g.Host(trialOf("m", "s", 0))
		for i := range calls {
			mustComplete(t, h, ask(fmt.Sprint(i), "p"))
		}
	})
	mu.Lock()
	defer mu.Unlock()
	return notices
}

func TestSilenceIsTold(t *testing.T) {
	slow := func(d time.Duration) func(context.Context, int64, methods.Request) (methods.Completion, error) {
		return func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
			<-time.After(d) // on the clock of the test
			return numbered(n), nil
		}
	}
	if got := told(t, 20, slow(25*time.Second)); len(got) != 0 {
		t.Errorf("slow answers: %q", got)
	}
	got := told(t, 1, slow(5*time.Minute))
	want := []string{"no answer for 30s:", "no answer for 1m0s:", "no answer for 2m0s:", "no answer for 4m0s: calls in flight: 1, waiting: 0"}
	if len(got) != len(want) {
		t.Fatalf("a call of five minutes: %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("notice %q, want %q", got[i], want[i])
		}
	}
	got = told(t, 1, func(_ context.Context, n int64, _ methods.Request) (methods.Completion, error) {
		<-time.After(time.Second)
		if n < 60 {
			return methods.Completion{}, &provider.Error{Kind: provider.RateLimited, Status: 429, RetryAfter: 3 * time.Second, Err: fmt.Errorf("slow down")}
		}
		return numbered(n), nil
	})
	if len(got) == 0 || !strings.Contains(got[0], "the last failure: provider rate_limited (HTTP 429): slow down") {
		t.Errorf("a storm: %q", got)
	}
}
