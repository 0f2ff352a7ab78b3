package gateway

import "math"

// noise tells the refusals that come of too many calls from those that come
// whatever their number: of a busy shared server, a proxy, or a quota of
// somebody else. The latter are no reason to make fewer calls.
//
// It learns how frequent they are where the limit is well below the one that
// was too much last, since there no other refusals are to be expected. It
// counts only refusals that stand alone between two answers: one has no cause
// that lasts, while those of a full server or of an empty bucket come in runs.
// Many in a row where there should be none make it forget.
//
// What is beyond their number it sums up (CUSUM; Page 1954): refusals add one,
// each answer takes away twice what is to be expected per answer, and at a
// level that chance rarely reaches they mean too many calls. Where none are to
// be expected the first one does.
type noise struct {
	alone  float64 // share of answers that follow a single refusal, well below the limit
	seen   float64 // answers that alone is from
	run    int     // refusals since the last answer
	low    bool    // the first of them came well below the limit that was too much
	excess float64 // refusals beyond what is to be expected
}

const (
	firstAlone = 0.1 // assumed before anything is known, as much as
	firstSeen  = 30  // so many answers say
	lastSeen   = 200 // answers that are remembered
	longRun    = 5   // refusals in a row that are no chance
	runWeighs  = 4   // as much as so many answers without refusal
	leeway     = 0.05
	slowExcess = 12 // refusals that end slow start: to end it too early costs more than they do
)

func newNoise() noise { return noise{alone: firstAlone, seen: firstSeen} }

// odds is the probability that a call is refused whatever the limit. If it is
// p, then p(1-p) of the answers follow a single refusal; that has its maximum
// at one half, and more than 0.3 is not believed.
func (n *noise) odds() float64 {
	const most = 0.3
	return (1 - math.Sqrt(1-4*min(n.alone, most*(1-most)))) / 2
}

// answered is told of an answer, whether the limit is well below what was too
// much, and whether it is in slow start.
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

// refused is told of a refusal.
func (n *noise) refused(low bool) {
	if n.run == 0 {
		n.low = low
	}
	n.run++
}

// tooMany reports whether one more refusal means that there are too many
// calls.
func (n *noise) tooMany(slow bool) bool {
	n.excess++
	if slow {
		return n.excess >= slowExcess
	}
	p := n.odds()
	return n.excess >= max(1, min(100*p, 3+30*p))
}
