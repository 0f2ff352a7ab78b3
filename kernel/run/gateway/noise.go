package gateway

import "math"

// noise separates refusals for too much concurrency from those that come at any
// concurrency: from a busy shared server, a proxy, or somebody else's quota. The
// latter are not a reason to make fewer calls.
//
// It estimates their rate where the limit is well below the one that was too
// much last, since no other refusals are expected there. It counts only single
// refusals between two answers: a full server and an empty token bucket refuse
// in runs. A long run where none is expected lowers the estimate.
//
// Refusals beyond that rate are summed up (CUSUM; Page 1954): each refusal adds
// one, each answer takes away twice the expected refusals per answer, and a sum
// that chance rarely reaches means too much concurrency. Where no refusals are
// expected, the first one does.
type noise struct {
	alone  float64 // share of answers that follow a single refusal, well below the limit
	seen   float64 // answers that alone is from
	run    int     // refusals since the last answer
	low    bool    // the first of them came well below the limit that was too much
	excess float64 // refusals beyond the expected
}

const (
	firstAlone = 0.1 // the estimate before any answer …
	firstSeen  = 30  // … with the weight of so many answers
	lastSeen   = 200 // the most weight of all answers before
	longRun    = 5   // refusals in a row that are not chance …
	runWeighs  = 4   // … and weigh as much as so many answers
	leeway     = 0.05
	slowExcess = 12 // refusals that end slow start: ending it too early costs more than they do
)

func newNoise() noise { return noise{alone: firstAlone, seen: firstSeen} }

// odds is the probability that a call is refused at any limit. If it is p, then
// p(1-p) of the answers follow a single refusal, which is at most a quarter;
// estimates above 0.3 are cut.
func (n *noise) odds() float64 {
	const most = 0.3
	return (1 - math.Sqrt(1-4*min(n.alone, most*(1-most)))) / 2
}

// answered counts an answer. low says that the limit is well below what was too
// much, slow that it is in slow start.
func (n *noise) answered(low, slow bool) {
	if low {
		x := 0.0
		switch {
		case n.low && n.run == 1:
			x = 1
		case n.low && n.run >= longRun:
			x = -runWeighs
		}
		n.seen = min(n.seen+1, lastSeen)
		n.alone = max(0, n.alone+(x-n.alone)/n.seen)
	}
	n.run, n.low = 0, false
	p := n.odds()
	allowed := 2*p/(1-p) + leeway
	if slow { // every answer lets in two calls
		allowed *= 2
	}
	n.excess = max(0, n.excess-allowed)
}

// refused counts a refusal.
func (n *noise) refused(low bool) {
	if n.run == 0 {
		n.low = low
	}
	n.run++
}

// tooMany adds a refusal to the sum and reports whether it means too much
// concurrency.
func (n *noise) tooMany(slow bool) bool {
	n.excess++
	if slow {
		return n.excess >= slowExcess
	}
	p := n.odds()
	return n.excess >= max(1, min(100*p, 3+30*p))
}
