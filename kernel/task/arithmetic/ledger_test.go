package arithmetic

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"noema/methods/decimal"
)

// TestAnswersAreRight compares what the task takes for the answer of a story with
// what a ledger comes to, over every plot, and of the stories that make no sense.
func TestAnswersAreRight(t *testing.T) {
	sound, refused := 0, 0
	for level := 1; level <= levels; level++ {
		for k, plot := range plots(level) {
			for seed := range 300 {
				facts := plot(newDraw(rand.New(rand.NewPCG(uint64(seed), uint64(k)))))
				got, err := reckon(facts)
				want, wrong := follow(facts)
				if got != want || (err == nil) != (wrong == nil) {
					t.Fatalf("level %d, plot %d, seed %d: %+v %v, want %+v %v: %+v", level, k, seed, got, err, want, wrong, facts)
				}
				if err != nil {
					refused++
				} else {
					sound++
				}
			}
		}
	}
	if sound < 2000 || refused < 500 {
		t.Errorf("%d stories make sense, %d do not", sound, refused)
	}
}

// ledger is what people have while a story is told. It computes the right
// answers in another way than the task does.
type ledger struct {
	amounts    map[[2]string]*big.Rat // by person and thing
	operations int
	divides    bool
	wrong      error // why the story makes no sense
}

// follow computes a story.
func follow(facts []Fact) (reckoning, error) {
	l := &ledger{amounts: map[[2]string]*big.Rat{}}
	var answer *big.Rat
	for _, f := range facts {
		if f.Kind.IsQuestion() {
			answer = l.ask(f)
		} else {
			l.tell(f)
		}
	}
	if l.wrong != nil {
		return reckoning{}, l.wrong
	}
	text, exact := decimal.Format(answer)
	if !exact || answer.Sign() <= 0 || !places(answer, 4) {
		return reckoning{}, errors.New("the answer is not a positive decimal with at most 4 places")
	}
	return reckoning{text, l.operations, l.divides}, nil
}

func (l *ledger) number(text string) *big.Rat {
	r, err := decimal.Parse(text)
	if err != nil {
		l.wrong = err
		return new(big.Rat)
	}
	return r
}

func (l *ledger) get(who, thing string) *big.Rat {
	if r, ok := l.amounts[[2]string{who, thing}]; ok {
		return r
	}
	l.wrong = fmt.Errorf("%s has no %s", who, thing)
	return new(big.Rat)
}

// set enters an amount that is possible.
func (l *ledger) set(who, thing string, r *big.Rat) {
	decimals := map[string]int64{Dollars: 2, Kilometres: 3}[thing]
	if r.Sign() < 0 || !places(r, decimals) {
		l.wrong = fmt.Errorf("%s cannot have %s %s", who, r.RatString(), thing)
	}
	l.amounts[[2]string{who, thing}] = r
}

// times, plus and minus are one operation each.
func (l *ledger) times(a, b *big.Rat) *big.Rat { l.operations++; return new(big.Rat).Mul(a, b) }
func (l *ledger) plus(a, b *big.Rat) *big.Rat  { l.operations++; return new(big.Rat).Add(a, b) }
func (l *ledger) minus(a, b *big.Rat) *big.Rat { l.operations++; return new(big.Rat).Sub(a, b) }

func (l *ledger) over(a, b *big.Rat) *big.Rat {
	l.operations++
	l.divides = true
	if b.Sign() == 0 {
		l.wrong = errors.New("division by zero")
		return new(big.Rat)
	}
	return new(big.Rat).Quo(a, b)
}

// add adds to what somebody may have already.
func (l *ledger) add(who, thing string, more *big.Rat) {
	if have, ok := l.amounts[[2]string{who, thing}]; ok {
		more = l.plus(have, more)
	}
	l.set(who, thing, more)
}

func (l *ledger) tell(f Fact) {
	n := func() *big.Rat { return l.number(f.N) }
	m := func() *big.Rat { return l.number(f.M) }
	switch f.Kind {
	case Have:
		l.set(f.Who, f.Thing, n())
	case Gain:
		l.add(f.Who, f.Thing, n())
	case Packs, Work, Ride:
		l.add(f.Who, f.Thing, l.times(n(), m()))
	case Lose:
		l.set(f.Who, f.Thing, l.minus(l.get(f.Who, f.Thing), n()))
	case Give:
		l.set(f.Who, f.Thing, l.minus(l.get(f.Who, f.Thing), n()))
		l.add(f.Whom, f.Thing, n())
	case Times:
		l.set(f.Who, f.Thing, l.times(l.get(f.Whom, f.Thing), n()))
	case More:
		l.set(f.Who, f.Thing, l.plus(l.get(f.Whom, f.Thing), n()))
	case Fewer:
		l.set(f.Who, f.Thing, l.minus(l.get(f.Whom, f.Thing), n()))
	case Half:
		l.set(f.Who, f.Thing, l.over(l.get(f.Whom, f.Thing), big.NewRat(2, 1)))
	case Sell:
		l.add(f.Who, Dollars, l.times(l.get(f.Who, f.Thing), n()))
	case Buy:
		l.set(f.Who, Dollars, l.minus(l.get(f.Who, Dollars), l.times(n(), m())))
	default:
		l.wrong = fmt.Errorf("unknown fact %q", f.Kind)
	}
}

func (l *ledger) ask(f Fact) *big.Rat {
	result, heads := l.get(f.Who, f.Thing), int64(1)
	if f.Kind == AskDiff {
		return l.minus(result, l.get(f.Whom, f.Thing))
	}
	for _, other := range []string{f.Whom, f.Third} {
		if other != "" {
			result = l.plus(result, l.get(other, f.Thing))
			heads++
		}
	}
	switch f.Kind {
	case AskSplit:
		return l.over(result, l.number(f.N))
	case AskMean:
		return l.over(result, big.NewRat(heads, 1))
	case AskSmall:
		return l.times(result, big.NewRat(map[string]int64{Dollars: 100, Kilometres: 1000}[f.Thing], 1))
	}
	return result
}
