package gateway

import (
	"fmt"
	"time"
)

// silence watches for a long time without any answer, whether the server hangs
// or refuses everything, and warns the user: the run itself shows neither. The
// next warning comes after twice the time. The gate's lock guards it.
type silence struct {
	calls int           // under way, with those between two attempts
	since time.Time     // the last answer, or the first call after a time without calls
	next  time.Duration // how long it may last until the next warning
	last  error         // the last failure since then
	timer *time.Timer   // set while calls are under way
}

// longSilence is longer than most models think.
const longSilence = 30 * time.Second

// ends starts the clock anew.
func (s *silence) ends(now time.Time) { s.since, s.next, s.last = now, longSilence, nil }

// begin notes that a call is made, with all its attempts; the caller calls end
// after it.
func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := &g.silence; s.calls == 0 {
		s.ends(time.Now())
		s.timer = time.AfterFunc(longSilence, g.warnOfSilence)
	}
	g.silence.calls++
}

func (g *gate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.silence.calls--; g.silence.calls == 0 {
		g.silence.timer.Stop()
	}
}

// warnOfSilence warns if the silence has lasted long enough, unless the provider
// is down, of which the user knows.
func (g *gate) warnOfSilence() {
	g.mu.Lock()
	s, text := &g.silence, ""
	lasted := time.Since(s.since)
	if s.calls == 0 {
		g.mu.Unlock()
		return
	}
	if lasted >= s.next && !g.breaker.open {
		text = fmt.Sprintf("no answer for %v: calls in flight: %d, waiting: %d", lasted.Round(time.Second), g.inFlight, s.calls-g.inFlight)
		if s.last != nil {
			text += fmt.Sprintf("; the last failure: %v", s.last)
		}
		s.next *= 2
	}
	s.timer.Reset(max(s.next-lasted, time.Second))
	g.mu.Unlock()
	if text != "" {
		g.warn(text)
	}
}
