package exchange

import (
	"sync"
	"time"
)

// looks is how often a silence is looked at before it is over.
const looks = 8

// silence is a timer for the time in which nothing came. A process that was stopped, or had
// to wait for the processor, finds its timers over while what came meanwhile waits to be
// read: a request given up then is paid for, and paid again. So the time is taken in parts,
// each of which begins when the one before was seen to be over.
type silence struct {
	mu     sync.Mutex
	timer  *time.Timer
	part   time.Duration
	left   int // parts; 0 once it is stopped or over
	ending func()
}

// onSilence calls ending once d has passed, unless it is stopped or reset before.
func onSilence(d time.Duration, ending func()) *silence {
	s := &silence{ending: ending}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part, s.left = d/looks, looks
	s.timer = time.AfterFunc(s.part, s.look)
	return s
}

func (s *silence) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return
	}
	if s.left--; s.left > 0 {
		s.timer.Reset(s.part)
		return
	}
	s.ending()
}

// Reset begins anew.
func (s *silence) Reset(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.part, s.left = d/looks, looks
	s.timer.Reset(s.part)
}

// Stop ends it.
func (s *silence) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = 0
	s.timer.Stop()
}
