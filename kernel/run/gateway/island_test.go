package gateway

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"sync"
	"testing/synctest"
	"time"

	"noema/kernel/base/pause"
	"noema/kernel/model/provider"
	"noema/methods"
)

// island is a model server for bubbles. All that it decides follows from the
// request, how often it was sent and the seed, and each request takes a time of
// its own to arrive, so that no two meet at one instant: a run takes the same
// time to the nanosecond however its goroutines are scheduled.
type island struct {
	seed    uint64
	atOnce  int           // answered at once; more are refused; 0 means any number
	moveAt  int           // after so many answers …
	moveTo  int           // … it answers so many at once
	rate    float64       // tokens per second of its bucket; 0 means that it has none
	burst   float64       // tokens that its bucket holds
	latency time.Duration // of an answer, on average
	knee    float64       // calls at once beyond which latency grows in proportion; 0 means none
	odds    float64       // of a refusal without reason
	status  int           // of refusals
	way     time.Duration // to the server and, for a refusal, back

	mu       sync.Mutex
	sent     map[string]int
	inFlight int
	tokens   float64
	filled   time.Time
	answered int
	refused  int
}

// fresh is a server that has not been asked yet.
func (s *island) fresh(seed uint64, odds float64) *island {
	return &island{
		seed: seed, atOnce: s.atOnce, moveAt: s.moveAt, moveTo: s.moveTo, rate: s.rate, burst: s.burst,
		latency: time.Second, knee: s.knee, odds: odds, status: s.status, way: max(s.way, 20*time.Millisecond),
		sent: map[string]int{},
	}
}

func (s *island) Info() provider.Info { return (&model{}).Info() }

func (s *island) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	prompt := r.Messages[0].Content
	s.mu.Lock()
	s.sent[prompt]++
	d := dice{s.seed, prompt, s.sent[prompt]}
	s.mu.Unlock()
	if err := pause.For(ctx, s.way/2+time.Duration(d.roll("way")*float64(s.way))); err != nil {
		return methods.Completion{}, err
	}
	latency, ok := s.begin(d)
	if !ok {
		return methods.Completion{}, &provider.Error{Kind: provider.KindOf(s.status), Status: s.status, Err: errors.New("too much")}
	}
	err := pause.For(ctx, latency)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	s.answered++
	if s.answered == s.moveAt {
		s.atOnce = s.moveTo
	}
	return numbered(int64(s.answered)), err
}

// begin reports whether a call is answered and how long that takes.
func (s *island) begin(d dice) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.filled.IsZero() {
		s.filled, s.tokens = now, s.burst
	}
	s.tokens = min(s.burst, s.tokens+s.rate*now.Sub(s.filled).Seconds())
	s.filled = now
	if s.atOnce > 0 && s.inFlight >= s.atOnce || s.rate > 0 && s.tokens < 1 || d.roll("refusal") < s.odds {
		s.refused++
		return 0, false
	}
	s.tokens--
	s.inFlight++
	// Answers differ in length by a factor of 15.
	t := 0.2 * math.Exp(d.roll("latency")*math.Log(15)) / 1.034
	if s.knee > 0 {
		t *= max(1, float64(s.inFlight)/s.knee)
	}
	return time.Duration(t * float64(s.latency)), true
}

// dice are all that is random of one attempt.
type dice struct {
	seed    uint64
	prompt  string
	attempt int
}

// roll is a number in [0,1) for one of the attempt's questions.
func (d dice) roll(question string) float64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.LittleEndian.AppendUint64([]byte(d.prompt+question), d.seed<<16|uint64(d.attempt)))
	x := h.Sum64()
	x ^= x >> 33 // the low bits of FNV say more than the high ones
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// inOrder is all for a bubble, with callers that begin one after the other.
func inOrder(n, callers int, ask func(i int) error) (time.Duration, int) {
	var (
		mu           sync.Mutex
		next, failed int
		wg           sync.WaitGroup
	)
	take := func(err error) int {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed++
		}
		next++
		return next
	}
	start := time.Now()
	for range callers {
		wg.Go(func() {
			for i := take(nil); i <= n; {
				i = take(ask(i))
			}
		})
		synctest.Wait()
	}
	wg.Wait()
	return time.Since(start), failed
}
