package gateway

import (
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

const (
	islandCalls   = 10_000
	islandCallers = 400
	islandCeiling = 256
)

// islands are kinds of servers, with the number of calls at once at which the
// search for the best fixed one begins, and the share of refusals without
// reason with which a short test asks them; unasked leaves it to the thorough one.
var islands = []struct {
	name  string
	like  *island
	start int
	odds  float64
}{
	{"3 at once", &island{atOnce: 3, status: 429}, 3, 0},
	{"20 at once", &island{atOnce: 20, status: 503}, 20, unasked},
	{"200 at once", &island{atOnce: 200, status: 429}, 200, 0.05},
	{"20 at once, refuses late", &island{atOnce: 20, status: 429, way: 200 * time.Millisecond}, 20, 0},
	{"any number", &island{status: 503}, islandCeiling, 0.1},
	{"1800 per minute", &island{rate: 30, burst: 60, status: 429}, 30, 0.1},
	{"120 per minute", &island{rate: 2, burst: 10, status: 429}, 2, unasked},
	{"20, then 100 at once", &island{atOnce: 20, moveAt: islandCalls / 2, moveTo: 100, status: 503}, 67, 0.1},
	{"100, then 20 at once", &island{atOnce: 100, moveAt: islandCalls / 2, moveTo: 20, status: 503}, 80, unasked},
	{"slower beyond 20", &island{knee: 20, status: 429}, 30, unasked},
}

const unasked = -1

// TestBest: 10,000 calls with adaptive concurrency, slow start and all, take
// at most 1.2 times as long as with the best fixed number of calls at once,
// which a search finds for each kind of server and each share of refusals that
// have no reason. None fails. NOEMA_BENCH=1 searches the whole range, for
// each kind with each share and several seeds, which takes minutes.
func TestBest(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	thorough := os.Getenv("NOEMA_BENCH") == "1"
	for _, s := range islands {
		for _, odds := range []float64{0, 0.05, 0.1} {
			if !thorough && odds != s.odds {
				continue
			}
			t.Run(fmt.Sprintf("%s, %v refused", s.name, odds), func(t *testing.T) {
				t.Parallel()
				seeds := uint64(1)
				if thorough {
					seeds = 2
				}
				for seed := range seeds {
					best, at := bestFixed(t, s.start, thorough, func() *island { return s.like.fresh(seed, odds) })
					checkBest(t, s.like.fresh(seed, odds), best, at)
				}
			})
		}
	}
}

func checkBest(t *testing.T, s *island, best time.Duration, at int) {
	t.Helper()
	took, failed, stats := throughGateway(t, s, islandCeiling)
	ratio := float64(took) / float64(best)
	t.Logf("%.3f of the best fixed, %d at once: %v to %v; %d refusals, limit %d in the end",
		ratio, at, took.Round(time.Second), best.Round(time.Second), s.refused, stats.Limit)
	if ratio > 1.2 || failed > 0 || s.answered != islandCalls || stats.Pauses > 0 {
		t.Errorf("ratio %.3f, %d failed, %d answers, %d pauses", ratio, failed, s.answered, stats.Pauses)
	}
	if s.odds == 0 && s.refused > islandCalls/2 {
		t.Errorf("%d refusals", s.refused)
	}
}

func throughGateway(t *testing.T, s *island, ceiling int) (took time.Duration, failed int, stats Stats) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, Options{Provider: s, Mode: Off, MaxConnections: ceiling})
		took, failed = inOrder(islandCalls, islandCallers, adaptive(g))
		stats = g.Stats()
	})
	return took, failed, stats
}

// bestFixed searches the fixed number of calls at once with which serve's
// server has answered all first: it climbs a tenth at a time, from start or, if
// it is to be thorough, from the best of numbers over the whole range.
func bestFixed(t *testing.T, start int, thorough bool, serve func() *island) (best time.Duration, at int) {
	t.Helper()
	best = math.MaxInt64
	try := func(n int) bool {
		took := best
		synctest.Test(t, func(*testing.T) {
			took, _ = inOrder(islandCalls, islandCallers, fixed(serve(), n, 0))
		})
		if took < best {
			best, at = took, n
			return true
		}
		return false
	}
	try(start)
	if thorough {
		for n := range ladder(1.3) {
			try(n)
		}
	}
	steps := slices.Collect(ladder(1.1))
	i, _ := slices.BinarySearch(steps, at)
	from := at
	for up := i + 1; up < len(steps) && try(steps[up]); up++ {
	}
	for down := i - 1; at == from && down >= 0 && try(steps[down]); down-- {
		from = at
	}
	return best, at
}

// ladder are numbers up to the ceiling, each by so much larger than the last.
func ladder(factor float64) iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := 1; yield(n) && n < islandCeiling; {
			n = min(max(n+1, int(math.Round(float64(n)*factor))), islandCeiling)
		}
	}
}

// TestIslandIsTheSame: what TestBest measures does not depend on how
// goroutines are scheduled.
func TestIslandIsTheSame(t *testing.T) {
	like := islands[3].like
	a, _, _ := throughGateway(t, like.fresh(1, 0.1), 64)
	b, _, _ := throughGateway(t, like.fresh(1, 0.1), 64)
	other, _, _ := throughGateway(t, like.fresh(2, 0.1), 64)
	if a != b || a == other {
		t.Errorf("%v, then %v; %v with another seed", a, b, other)
	}
}

// TestRefusalsWithoutReason: where a tenth or a fifth of all attempts is
// refused whatever their number, the limit goes to its ceiling and stays there.
func TestRefusalsWithoutReason(t *testing.T) {
	for status, odds := range map[int]float64{429: 0.1, 503: 0.2} {
		s := (&island{status: status}).fresh(3, odds)
		took, failed, stats := throughGateway(t, s, 64)
		ideal := islandCalls / 64 * time.Second
		t.Logf("%d, %v refused: %.3f of what answers alone take, limit %d", status, odds, float64(took)/float64(ideal), stats.Limit)
		if took > ideal*12/10 || failed > 0 || stats.Limit < 58 || stats.Pauses > 0 {
			t.Errorf("%d, %v refused: %v, ideally %v, %d failed, limit %d, %d pauses", status, odds, took, ideal, failed, stats.Limit, stats.Pauses)
		}
	}
}
