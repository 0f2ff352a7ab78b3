package arithmetic

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"noema/methods/decimal"
)

// reckoning is what a story comes to.
type reckoning struct {
	answer     string // a decimal
	operations int
	divides    bool
}

// reckon computes a story that is to be told. A negative amount, a part of an item,
// a part of a cent and an answer without a short decimal form are errors: such a
// story is drawn anew.
func reckon(facts []Fact) (reckoning, error) {
	b := book{has: map[holding]Operand{}}
	result, err := b.tell(facts)
	if err != nil {
		return reckoning{}, err
	}
	values, err := results(b.steps)
	if err != nil {
		return reckoning{}, err
	}
	for _, e := range b.entered {
		x, err := e.amount.value(values)
		if err != nil {
			return reckoning{}, err
		}
		decimals := map[string]int64{Dollars: 2, Kilometres: 3}[e.thing]
		if x.Sign() < 0 || !places(x, decimals) {
			return reckoning{}, fmt.Errorf("%s cannot have %s %s", e.who, x.RatString(), e.thing)
		}
	}
	answer := values[result.Step-1]
	text, exact := decimal.Format(answer)
	if !exact || answer.Sign() <= 0 || !places(answer, 4) {
		return reckoning{}, errors.New("the answer is not a positive decimal with at most 4 places")
	}
	divides := slices.ContainsFunc(b.steps, func(s Step) bool { return s.Op == Divide })
	return reckoning{text, len(b.steps), divides}, nil
}

// places reports whether r has at most n decimal places.
func places(r *big.Rat, n int64) bool {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
	return new(big.Rat).Mul(r, new(big.Rat).SetInt(power)).IsInt()
}
