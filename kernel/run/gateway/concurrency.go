package gateway

import (
	"cmp"
	"math"
	"time"
)

// limiter says how many calls of a model may be in flight at once. It searches
// for the provider's concurrency limit, which is not published: additive
// increase and multiplicative decrease as in TCP (Chiu and Jain 1989; RFC 5681),
// with deviations for calls that take seconds and differ in length.
//
//   - Only refusals beyond the usual rate decrease it; see noise.
//   - A decrease is gentle, since a refused call costs little: to 90 % of the
//     limit at which those refusals began. It halves if nothing was answered
//     since the last decrease.
//   - Then the limit does not grow until enough answers have made up for those
//     refusals: at a low limit, the next refusal is near.
//   - An increase is a quarter of the distance to the last known peak, if that
//     is more than one.
//   - Past that peak each round adds more than the round before, so that a
//     limit that the provider has raised by much is found in few rounds.
//   - When a whole round is refused, concurrency is not the cause: all calls are
//     held back for a while; see Retry.hold.
//   - Below one, one call at a time is made, with pauses: a limit of one half is
//     one call in every two round trips, as a quota per minute needs. Only
//     refusals between answers lead there, since recovery from it is slow.
//
// It has no clock and no lock: the gate has both.
type limiter struct {
	limit          float64 // at least floor, at most ceiling
	floor, ceiling float64
	slowTo         float64 // below it each answer adds one: the limit doubles per round trip
	peak           float64 // the limit that was refused last
	step           float64 // added per round trip
	sustained      float64 // the limit when a call was answered while it was used up
	trip           time.Duration
	round          uint64 // decreases so far; a call belongs to the round in which it started
	answers        bool   // something was answered since the last decrease
	dry            int    // refusals in a row
	holds          int    // whole rounds refused in a row

	noise noise
	from  float64 // the limit when the refusals began that noise does not explain
	over  float64 // calls at once that were too much at the last decrease
	debt  float64 // answers to come before the limit grows again
}

const (
	firstLimit  = 8 // where slow start begins
	lowestLimit = 1.0 / 256
	gentle      = 0.9
	halved      = 0.5
	creep       = 0.05 // added per answer, of a limit below one
	wellBelow   = 0.95
	price       = 3 // answers that make up for one refusal after a decrease …
	longestDebt = 4 // … in at most so many round trips
)

// newLimiter begins slowly, or where begin says.
func newLimiter(ceiling, begin int) limiter {
	c := float64(ceiling)
	first := min(max(firstLimit, float64(begin)), c)
	return limiter{
		limit: first, floor: lowestLimit, ceiling: c, slowTo: c, peak: c, step: 1, sustained: first, answers: true,
		noise: newNoise(), over: math.Inf(1),
	}
}

// now is the limit as a number of calls.
func (l *limiter) now() int { return max(1, int(l.limit)) }

// low reports whether the limit is well below what was too much: a refusal is
// then not a sign that it is too high. Below one call at once it always may be.
func (l *limiter) low() bool { return l.limit >= 1 && float64(l.now()) <= wellBelow*l.over }

func (l *limiter) slow() bool { return l.limit < l.slowTo }

// gap is the least time from the start of a call to that of the next, 0 for a
// limit of one or more.
func (l *limiter) gap() time.Duration {
	if l.limit >= 1 {
		return 0
	}
	return time.Duration(float64(l.trip) / l.limit)
}

// answered counts an answer to a call of that round, which took so long. Only
// if the limit was used up (full) is that evidence for a higher one.
func (l *limiter) answered(round uint64, full bool, took time.Duration) {
	l.trip = cmp.Or(l.trip, took)
	l.trip += (took - l.trip) / 8
	l.noise.answered(l.low(), l.slow())
	l.dry, l.holds, l.answers = 0, 0, true
	if full {
		l.sustained = l.limit
	}
	switch {
	case !full || round != l.round:
	case l.debt > 0:
		l.debt--
	default:
		l.grow()
	}
}

func (l *limiter) grow() {
	switch {
	case l.limit < min(1, l.slowTo):
		l.limit *= 2
	case l.slow():
		l.limit++
	case l.limit < 1:
		l.limit *= 1 + creep*l.step
	default:
		// A quarter at most: from one to two would be a large step.
		l.limit += min(max(l.step, (l.peak-l.limit)/4)/l.limit, l.limit/4)
	}
	if l.limit > l.peak {
		l.step += max(1, l.step/2) / max(l.limit, firstLimit)
	}
	l.limit = min(l.limit, l.ceiling)
}

// refused counts a refusal for load of a call of that round, with inFlight
// calls, it included. It reports whether a whole round was refused. A refusal of
// a call that started before the last decrease does not decrease again.
func (l *limiter) refused(round uint64, inFlight int) (all bool) {
	l.dry++
	l.noise.refused(l.low() && round == l.round)
	if round != l.round {
		l.owe(price)
	} else {
		if l.noise.excess == 0 {
			l.from = l.limit
		}
		if l.noise.tooMany(l.slow()) {
			l.decrease(inFlight)
		}
	}
	if l.dry <= l.now() {
		return false
	}
	l.dry = 0
	l.holds++
	return true
}

func (l *limiter) decrease(inFlight int) {
	// What is not used was not refused; yet one decrease halves at most.
	used := max(min(l.limit, l.from, float64(inFlight)), l.limit/2)
	l.over = math.Floor(used)
	switch {
	case l.answers:
		l.peak, l.limit = used, used*gentle
	case l.limit > 1: // the old limit was a guess and no peak
		l.limit = max(1, used*halved)
		l.peak = l.limit
	}
	l.limit = max(l.limit, l.floor)
	l.step, l.slowTo = 1, 0
	l.debt = 0
	l.owe(price * l.noise.excess)
	l.noise.excess = 0
	l.round++
	l.answers = false
}

// owe delays growth by so many answers.
func (l *limiter) owe(answers float64) {
	l.debt = min(l.debt+answers, longestDebt*float64(l.now()))
}

// restart begins with slow start after an outage, up to what the provider
// sustained before it: a server that has just come back is cold.
func (l *limiter) restart() {
	l.slowTo = max(l.limit, gentle*l.sustained)
	l.limit = min(l.slowTo, firstLimit)
	l.peak, l.step = l.slowTo, 1
	l.dry, l.holds, l.debt, l.noise.excess = 0, 0, 0, 0
}
