package score

import (
	"encoding/json"
	"fmt"

	"noema/methods"
)

// The values of a trial whose tools have effects, each 1 or 0. They count what the
// tools said they did, whatever the answer says, and also where there is no
// answer: what is left behind is there all the same.
const (
	Success  = "success"  // all that is wanted is there and paid, and nothing else
	Clean    = "clean"    // nothing new is there but what is wanted and paid, and not beside what it should replace
	Balanced = "balanced" // no hold is left, and the money gone is the price of the bookings left
)

// EffectScorer is the optional second interface of a scorer that judges a trial by
// what its tools have done. Effects are the results of all calls of impure tools
// that were not refused, in no particular order; no score may depend on the order.
type EffectScorer interface {
	Scorer
	ScoreEffects(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage, effects []methods.ToolResult) (Score, error)
}

// Trial scores a trial by its answer, and where the scorer wants that, by the
// effects of its tools.
func Trial(by Scorer, spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage, effects []methods.ToolResult) (Score, error) {
	if e, ok := by.(EffectScorer); ok {
		return e.ScoreEffects(spec, answer, target, effects)
	}
	return by.Score(spec, answer, target)
}

// bookingScorer scores trials of the task booking. The target is what there was
// before, what is wanted after, and the price of what is new, which the answer is
// compared with.
type bookingScorer struct{}

var _ EffectScorer = bookingScorer{}

// place is seats in an offer.
type place struct {
	Offer string
	Seats int
}

// reservation is one by its id, as results and targets have it.
type reservation struct {
	ID string
	place
	Price int
	State string // "held" or "booked", in results
}

type bookingTarget struct {
	Total *int
	Mine  []reservation
	Want  []place
}

func (b bookingScorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	return b.ScoreEffects(spec, answer, target, nil)
}

// ScoreEffects implements [EffectScorer].
func (bookingScorer) ScoreEffects(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage, effects []methods.ToolResult) (Score, error) {
	var want bookingTarget
	if err := json.Unmarshal(target, &want); err != nil || want.Total == nil {
		return Score{}, fmt.Errorf("score: booking target %.80q has no total", target)
	}
	s, err := For(spec).Score(spec, answer, json.RawMessage(fmt.Sprint(*want.Total)))
	if err != nil {
		return Score{}, err
	}
	l := newLedger(want.Mine)
	for _, e := range effects {
		if err := l.read(e); err != nil {
			return Score{}, fmt.Errorf("score: result of a tool: %w", err)
		}
	}
	s.Values[Success], s.Values[Clean] = l.compare(want.Want)
	s.Values[Balanced] = oneIf(l.balances())
	return s, nil
}

// ledger adds up results. Each id is made once and given up once, so that the sum
// does not depend on the order.
type ledger struct {
	have                          map[string]reservation
	mine, booked, paid, cancelled map[string]bool // mine: from before
	before                        int             // price of what there was
	spent                         int             // less refunds
}

func newLedger(mine []reservation) *ledger {
	l := &ledger{have: map[string]reservation{}, mine: map[string]bool{}, booked: map[string]bool{}, paid: map[string]bool{}, cancelled: map[string]bool{}}
	for _, r := range mine {
		l.have[r.ID], l.mine[r.ID], l.booked[r.ID], l.paid[r.ID] = r, true, true, true
		l.before += r.Price
	}
	return l
}

// read takes one result in. A second result of the same call, which has one
// effect, adds nothing.
func (l *ledger) read(r methods.ToolResult) error {
	var done struct {
		reservation
		Paid      []string
		Total     int
		Cancelled string
		Refund    int
	}
	if err := json.Unmarshal([]byte(r.Content), &done); err != nil {
		return err
	}
	if done.State != "" {
		l.have[done.ID] = done.reservation
		l.booked[done.ID] = l.booked[done.ID] || done.State == "booked"
	}
	if len(done.Paid) > 0 && !l.paid[done.Paid[0]] {
		l.spent += done.Total
		for _, id := range done.Paid {
			l.paid[id] = true
		}
	}
	if done.Cancelled != "" && !l.cancelled[done.Cancelled] {
		l.cancelled[done.Cancelled] = true
		l.spent -= done.Refund
	}
	return nil
}

// compare judges what is there. What there was before and is not wanted is left
// behind only beside what should replace it.
func (l *ledger) compare(want []place) (success, clean float64) {
	left := map[place]int{}
	for _, p := range want {
		left[p]++
	}
	missing, anew, unwanted, old := len(want), 0, 0, 0
	for id, r := range l.have {
		if l.cancelled[id] {
			continue
		}
		if !l.mine[id] {
			anew++
		}
		switch {
		case l.paid[id] && left[r.place] > 0:
			left[r.place]--
			missing--
		case l.mine[id]:
			old++
		default:
			unwanted++
		}
	}
	return oneIf(missing+unwanted+old == 0), oneIf(unwanted == 0 && (old == 0 || anew == 0))
}

// balances reports whether the money before is the money after and the price of
// the bookings left, paid or not, and nothing is held without being booked.
func (l *ledger) balances() bool {
	after := 0
	for id, r := range l.have {
		switch {
		case l.cancelled[id]:
		case !l.booked[id]:
			return false
		default:
			after += r.Price
		}
	}
	return l.before == after-l.spent
}
