package gateway

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/methods"
)

func TestParseMode(t *testing.T) {
	for _, s := range []string{"auto", "replay", "refresh", "verify", "off"} {
		if m, err := ParseMode(s); err != nil || string(m) != s {
			t.Errorf("%q: %q, %v", s, m, err)
		}
	}
	for _, s := range []string{"", "Auto", "on"} {
		if _, err := ParseMode(s); err == nil || !strings.Contains(err.Error(), "use auto, replay, refresh, verify or off") {
			t.Errorf("%q: %v", s, err)
		}
	}
	if _, err := New(Options{Provider: &model{}, Mode: "on"}); err == nil {
		t.Error("a gateway in an unknown mode")
	}
}

// TestAutoAsksOnce: what one trial asked, another gets from the store, at the
// same charge, in this execution and in the next.
func TestAutoAsksOnce(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	var hashes []string
	for range 3 {
		g := newGateway(t, Options{Store: store, Provider: m})
		h := g.Host(trialOf("m", "s", 0))
		if c := mustComplete(t, h, ask("q", "p")); c.Text != "answer 1" {
			t.Errorf("%q", c.Text)
		}
		if u := h.Report().Usage; u.Calls != 1 || u.Cost != 7 || u.Latency != 3*time.Millisecond {
			t.Errorf("charged %+v", u)
		}
		hashes = append(hashes, sealed(t, h).Hash)
	}
	if m.calls.Load() != 1 || hashes[0] != hashes[1] || hashes[0] != hashes[2] {
		t.Errorf("%d calls, hashes %v", m.calls.Load(), hashes)
	}
}

// TestSharing: what separates requests and what does not.
func TestSharing(t *testing.T) {
	withDraw := ask("q", "p")
	withDraw.Draw = 1
	for _, c := range []struct {
		name  string
		trial Trial
		r     methods.Request
		want  int64 // provider calls after an answer to ask("q", "p") of m/s/0
	}{
		{"another method at another path", trialOf("other", "s", 0), ask("q", "elsewhere/2"), 1},
		{"another sample", trialOf("m", "t", 0), ask("q", "p"), 1},
		{"another draw", trialOf("m", "s", 0), withDraw, 2},
		{"another epoch", trialOf("m", "s", 1), ask("q", "p"), 2},
		{"another prompt", trialOf("m", "s", 0), ask("q ", "p"), 2},
	} {
		m := &model{}
		g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
		mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("q", "p"))
		mustComplete(t, g.Host(c.trial), c.r)
		if m.calls.Load() != c.want {
			t.Errorf("%s: %d calls, want %d", c.name, m.calls.Load(), c.want)
		}
	}
}

// TestSamplingOverride: the experiment's sampling is part of the request and
// so of its key.
func TestSamplingOverride(t *testing.T) {
	var seen []methods.Sampling
	m := &model{answer: func(_ context.Context, n int64, r methods.Request) (methods.Completion, error) {
		seen = append(seen, r.Sampling)
		return numbered(n), nil
	}}
	g := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m})
	hot := 0.7
	plain, warm := trialOf("m", "s", 0), trialOf("m", "s", 0)
	warm.Sampling = record.Sampling{Temperature: &hot}
	mustComplete(t, g.Host(plain), ask("q", "p"))
	mustComplete(t, g.Host(warm), ask("q", "p"))
	if len(seen) != 2 || seen[0].Temperature != 0 || seen[1].Temperature != hot {
		t.Errorf("the provider saw %+v", seen)
	}
}

func TestReplayNeverAsks(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	mustComplete(t, newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0)), ask("q", "p"))

	g := newGateway(t, Options{Store: store, Provider: none.New(m.Info()), Mode: Replay})
	h := g.Host(trialOf("m", "s", 0))
	if c := mustComplete(t, h, ask("q", "p")); c.Text != "answer 1" {
		t.Errorf("%q", c.Text)
	}
	_, err := h.Complete(t.Context(), ask("other", "p2"))
	if !errors.Is(err, methods.ErrMiss) || errors.Is(err, methods.ErrProvider) || !strings.Contains(err.Error(), "call p2") {
		t.Errorf("miss: %v", err)
	}
	calls := h.Report().Calls
	if len(calls) != 2 || calls[1].Fault != record.MissFault || g.Stats().Provider != 0 || g.Stats().Failed != 0 {
		t.Errorf("calls %+v, stats %+v", calls, g.Stats())
	}
}

// TestRefresh: each key is asked for once a run, the old version stays, and
// an execution that goes on with the run does not ask again.
func TestRefresh(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	mustComplete(t, newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0)), ask("q", "p"))

	began := time.Now()
	g := newGateway(t, Options{Store: store, Provider: m, Mode: Refresh, Since: began})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if c := mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("q", "p")); c.Text != "answer 2" {
				t.Errorf("refreshed: %q", c.Text)
			}
		})
	}
	wg.Wait()
	resumed := newGateway(t, Options{Store: store, Provider: m, Mode: Refresh, Since: began})
	if c := mustComplete(t, resumed.Host(trialOf("m", "t", 0)), ask("q", "p")); c.Text != "answer 2" {
		t.Errorf("the same run, resumed: %q", c.Text)
	}
	key := cache.CompletionKey(g.id, 0, ask("q", "p"))
	versions, err := store.CompletionVersions(t.Context(), key)
	if err != nil || len(versions) != 1 || versions[0].Completion.Text != "answer 1" {
		t.Errorf("versions %+v, %v", versions, err)
	}
	later := newGateway(t, Options{Store: store, Provider: m, Mode: Refresh})
	mustComplete(t, later.Host(trialOf("m", "s", 0)), ask("q", "p"))
	if m.calls.Load() != 3 {
		t.Errorf("%d calls, want one for each of three runs", m.calls.Load())
	}
}

// TestVerify: drift is reported once a key and changes nothing.
func TestVerify(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	first := newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0))
	hot := ask("hot", "p2")
	hot.Sampling.Temperature = 1
	mustComplete(t, first, ask("q", "p"))
	mustComplete(t, first, hot)

	g := newGateway(t, Options{Store: store, Provider: m, Mode: Verify})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			h := g.Host(trialOf("m", "s", 0))
			if c := mustComplete(t, h, ask("q", "p")); c.Text != "answer 1" {
				t.Errorf("verify answers %q", c.Text)
			}
			if c := mustComplete(t, h, hot); c.Text != "answer 2" {
				t.Errorf("verify answers %q at temperature 1", c.Text)
			}
		})
	}
	wg.Wait()
	drifts := g.Drifts()
	if m.calls.Load() != 3 || len(drifts) != 1 || drifts[0].Recorded != "answer 1" || drifts[0].Now != "answer 3" || drifts[0].Path != "p" {
		t.Errorf("%d calls, drifts %+v", m.calls.Load(), drifts)
	}

	steady := &model{answer: func(context.Context, int64, methods.Request) (methods.Completion, error) { return numbered(1), nil }}
	g = newGateway(t, Options{Store: store, Provider: steady, Mode: Verify})
	mustComplete(t, g.Host(trialOf("m", "s", 0)), ask("q", "p"))
	if steady.calls.Load() != 1 || len(g.Drifts()) != 0 {
		t.Errorf("%d calls, drifts %+v of a steady model", steady.calls.Load(), g.Drifts())
	}
	rec, err := store.Completion(t.Context(), cache.CompletionKey(g.id, 0, ask("q", "p")))
	if err != nil || rec.Completion.Text != "answer 1" {
		t.Errorf("the record is now %q, %v", rec.Completion.Text, err)
	}
}

func TestOffKeepsNothing(t *testing.T) {
	store, m := openStore(t, t.TempDir()), &model{}
	mustComplete(t, newGateway(t, Options{Store: store, Provider: m}).Host(trialOf("m", "s", 0)), ask("q", "p"))
	before := entries(t, store, cache.Completions)
	h := newGateway(t, Options{Store: store, Provider: m, Mode: Off}).Host(trialOf("m", "s", 0))
	if a, b := mustComplete(t, h, ask("q", "p")), mustComplete(t, h, ask("q", "p")); a.Text != "answer 2" || b.Text != "answer 3" {
		t.Errorf("%q, %q", a.Text, b.Text)
	}
	if after := entries(t, store, cache.Completions); after != before {
		t.Errorf("%d completions, were %d", after, before)
	}
}

// TestInvalidText: what is no UTF-8 reaches neither provider nor method, so
// that a method in another process sees the same.
func TestInvalidText(t *testing.T) {
	m := &model{answer: func(_ context.Context, _ int64, r methods.Request) (methods.Completion, error) {
		return methods.Completion{Text: r.Messages[0].Content + "\xff!", Usage: methods.Usage{Calls: 1}}, nil
	}}
	h := newGateway(t, Options{Store: openStore(t, t.TempDir()), Provider: m}).Host(trialOf("m", "s", 0))
	if c := mustComplete(t, h, ask("a\xffb", "p\xff")); c.Text != "a\uFFFDb\uFFFD!" {
		t.Errorf("%q", c.Text)
	}
	h.Emit(methods.Event{Path: "p\xff", Text: "\xfe", Data: []byte("no json \xff")})
	h.Emit(methods.Event{Path: "p", Data: []byte{}})
	r := sealed(t, h)
	if r.Calls[0].Path != "p\uFFFD" || string(r.Events[1].Data) != `"no json \ufffd"` && string(r.Events[1].Data) != "\"no json \uFFFD\"" {
		t.Errorf("%+v", r)
	}
}
