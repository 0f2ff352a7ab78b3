package gateway

// limiter says how many calls of a model may be under way at once. It finds
// the number that the provider stands, which nobody tells: additive increase
// and multiplicative decrease as in TCP (Chiu and Jain 1989; RFC 5681), with
// three deviations for calls that take seconds and differ in length.
//
//   - A decrease is gentle, to 85 %, since a refused call costs little; it is
//     a halving where nothing was answered since the decrease before it, and
//     at the end of slow start, which overshoots by up to twice.
//   - Past the last known peak each round adds one more than the round before,
//     so that a limit that was raised meanwhile is found in √n rounds, not n.
//   - When a whole round is refused the number is not the cause: the model is
//     held for a while; see Retry.hold.
//
// It knows neither time nor locks: the gate has both.
type limiter struct {
	limit          float64 // at least floor, at most ceiling
	floor, ceiling float64
	slowTo         float64 // below it each answer adds one: the limit doubles per round trip
	peak           float64 // the limit that was refused last
	step           float64 // added per round trip
	round          uint64  // decreases so far; a call belongs to the round in which it started
	answers        bool    // something was answered since the last decrease
	dry            int     // refusals in a row
	holds          int     // whole rounds refused in a row
}

// firstLimit is where slow start begins.
const firstLimit = 8

const (
	gentle = 0.85
	halved = 0.5
)

func newLimiter(ceiling int) limiter {
	return limiter{
		limit: float64(min(firstLimit, ceiling)), floor: 1, ceiling: float64(ceiling),
		slowTo: float64(ceiling), peak: float64(ceiling), step: 1, answers: true,
	}
}

// now is the limit as a number of calls.
func (l *limiter) now() int { return int(l.limit) }

// answered is told that a call of that round got its answer. full says that
// the limit was used up meanwhile: one that is not says nothing on more.
func (l *limiter) answered(round uint64, full bool) {
	l.dry, l.holds, l.answers = 0, 0, true
	if !full || round != l.round {
		return
	}
	switch {
	case l.limit < l.slowTo:
		l.limit++
	default:
		l.limit += l.step / l.limit
		if l.limit > l.peak {
			l.step += 1 / l.limit
		}
	}
	l.limit = min(l.limit, l.ceiling)
}

// refused is told that the provider had too much to do for a call of that
// round, with inFlight under way, it included. It reports whether a whole
// round was refused. Calls that started before the last decrease were refused
// for what that decrease has mended: they change nothing.
func (l *limiter) refused(round uint64, inFlight int) (all bool) {
	l.dry++
	if round == l.round {
		l.decrease(inFlight)
	}
	if l.dry <= l.now() {
		return false
	}
	l.dry = 0
	l.holds++
	return true
}

func (l *limiter) decrease(inFlight int) {
	factor := gentle
	if l.limit < l.slowTo || !l.answers {
		factor = halved
	}
	// What is not used was not refused; yet one refusal halves at most.
	used := max(min(l.limit, float64(inFlight)), l.limit/2)
	l.peak, l.step, l.slowTo = l.limit, 1, 0
	l.limit = max(l.floor, used*factor)
	if factor == halved {
		l.peak = l.limit // the old limit was a guess and no peak
	}
	l.round++
	l.answers = false
}

// restart begins again after an outage, up to what the provider stood before:
// a server that has just come back is cold.
func (l *limiter) restart() {
	l.slowTo, l.peak, l.step = l.limit, l.limit, 1
	l.limit = max(l.floor, min(l.limit, firstLimit))
	l.dry, l.holds = 0, 0
}
