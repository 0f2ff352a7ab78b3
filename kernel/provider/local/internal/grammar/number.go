package grammar

import (
	"fmt"
	"strconv"
)

// How long a number is spelled at most, so that one always ends and a float64
// or an int64 holds it: a bound with more digits raises its limit.
const (
	wholeDigits    = 18
	fractionDigits = 24
)

// numberPart is where in a number an automaton stands.
type numberPart uint8

const (
	numStart numberPart = iota
	numMinus
	numZero // a whole part of 0
	numWhole
	numDot
	numFraction
	numE
	numSign
	numExponent1
	numExponent2
)

// numberState is a state of the automaton of numbers. low and high say how the
// digits so far compare with those of the bounds at the same places.
type numberState struct {
	part      numberPart
	neg       bool
	n         int16 // digits in this part so far
	low, high int8
	rest      int16 // the whole part's remainder for multipleOf
}

// bound is one end of the magnitudes that are allowed under one sign.
type bound struct {
	whole, fraction string
	exclusive       bool
}

// interval is the magnitudes allowed under one sign; nil is no bound.
type interval struct {
	empty     bool
	low, high *bound
}

// numberRules are what a number must keep to.
type numberRules struct {
	whole        bool
	bounded      bool
	multiple     int16
	bySign       [2]interval // without and with a minus
	wholeDigits  int16
	fracDigits   int16
	withExponent bool
}

// number is a number within the limits; whole ones are spelled without point,
// exponent or "-0", bounded ones without exponent. nil when there is none.
func (c *compiler) number(whole bool, low, high *limit, multiple *decimal, path string) (*lexeme, error) {
	r := numberRules{whole: whole || multiple != nil, bounded: low != nil || high != nil,
		wholeDigits: wholeDigits, fracDigits: fractionDigits}
	r.withExponent = !r.whole && !r.bounded
	if multiple != nil {
		digits, _, err := multiple.split()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		n, err := strconv.ParseInt(digits, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.multiple = int16(n)
	}
	if err := r.setBounds(low, high); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d, err := explore(c, numberState{}, "+-.0123456789Ee", r.step, r.accepts)
	if err != nil || d == nil {
		return nil, err
	}
	return &lexeme{dfa: d}, nil
}

// setBounds turns the limits into intervals of magnitudes for each sign.
func (r *numberRules) setBounds(low, high *limit) error {
	var err error
	if r.bySign[0], err = r.interval(low, high); err != nil {
		return err
	}
	r.bySign[1], err = r.interval(negated(high), negated(low))
	return err
}

func negated(l *limit) *limit {
	if l == nil {
		return nil
	}
	return &limit{l.negate(), l.exclusive}
}

func (r *numberRules) interval(low, high *limit) (interval, error) {
	var i interval
	if high != nil {
		if high.sign() < 0 {
			return interval{empty: true}, nil
		}
		b, err := r.bound(high)
		if err != nil {
			return i, err
		}
		i.high = b
	}
	if low != nil && low.sign() >= 0 {
		b, err := r.bound(low)
		if err != nil {
			return i, err
		}
		i.low = b
	}
	return i, nil
}

// bound also gives numbers one digit more than the bound has, so that one on
// either side of it can be spelled.
func (r *numberRules) bound(l *limit) (*bound, error) {
	whole, fraction, err := l.split()
	if err != nil {
		return nil, err
	}
	r.wholeDigits = max(r.wholeDigits, int16(len(whole)+1))
	r.fracDigits = max(r.fracDigits, int16(len(fraction)+1))
	return &bound{whole, fraction, l.exclusive}, nil
}

func (r *numberRules) step(s numberState, b byte) (numberState, bool) {
	digit := b >= '0' && b <= '9'
	switch s.part {
	case numStart, numMinus:
		return r.stepFirst(s, b, digit)
	case numZero, numWhole:
		if digit {
			return r.stepWhole(s, b)
		}
		return r.stepAfterWhole(s, b)
	case numDot, numFraction:
		if digit {
			return r.stepFraction(s, b)
		}
		return r.stepE(s, b)
	case numE:
		if b == '+' || b == '-' {
			return numberState{part: numSign}, true
		}
		return numberState{part: numExponent1}, digit
	case numSign:
		return numberState{part: numExponent1}, digit
	case numExponent1:
		return numberState{part: numExponent2}, digit
	}
	return s, false
}

func (r *numberRules) stepFirst(s numberState, b byte, digit bool) (numberState, bool) {
	if b == '-' {
		return numberState{part: numMinus, neg: true}, s.part == numStart && !r.bySign[1].empty
	}
	if !digit || r.signed(s.neg).empty {
		return s, false
	}
	if b == '0' {
		s.part = numZero
		s = r.compareWhole(s, b)
		s.n = 1
		return s, !(s.neg && r.whole)
	}
	s.part = numWhole
	return r.stepWhole(s, b)
}

func (r *numberRules) signed(neg bool) interval {
	if neg {
		return r.bySign[1]
	}
	return r.bySign[0]
}

func (r *numberRules) stepWhole(s numberState, b byte) (numberState, bool) {
	if s.part == numZero || s.n == r.wholeDigits {
		return s, false
	}
	s = r.compareWhole(s, b)
	s.n++
	if r.multiple > 0 {
		s.rest = int16((int(s.rest)*10 + int(b-'0')) % int(r.multiple))
	}
	return s, true
}

// compareWhole compares the whole part's next digit with the bounds'.
func (r *numberRules) compareWhole(s numberState, b byte) numberState {
	at := func(x *bound, so int8) int8 {
		if x == nil || so != 0 || int(s.n) >= len(x.whole) {
			return so
		}
		return int8(compare(int(b), int(x.whole[s.n])))
	}
	i := r.signed(s.neg)
	s.low, s.high = at(i.low, s.low), at(i.high, s.high)
	return s
}

// settleWhole compares the whole parts, now that this one's length is known.
func (r *numberRules) settleWhole(s numberState) numberState {
	at := func(x *bound, so int8) int8 {
		if x == nil {
			return 0
		}
		if n := compare(int(s.n), len(x.whole)); n != 0 {
			return int8(n)
		}
		return so
	}
	i := r.signed(s.neg)
	s.low, s.high = at(i.low, s.low), at(i.high, s.high)
	return s
}

func (r *numberRules) stepAfterWhole(s numberState, b byte) (numberState, bool) {
	if b == '.' {
		s = r.settleWhole(s)
		s.part, s.n = numDot, 0
		return s, !r.whole
	}
	return r.stepE(s, b)
}

func (r *numberRules) stepE(s numberState, b byte) (numberState, bool) {
	return numberState{part: numE}, r.withExponent && s.part != numDot && (b == 'e' || b == 'E')
}

func (r *numberRules) stepFraction(s numberState, b byte) (numberState, bool) {
	if s.n == r.fracDigits {
		return s, false
	}
	at := func(x *bound, so int8) int8 {
		if x == nil || so != 0 {
			return so
		}
		theirs := byte('0')
		if int(s.n) < len(x.fraction) {
			theirs = x.fraction[s.n]
		}
		return int8(compare(int(b), int(theirs)))
	}
	i := r.signed(s.neg)
	s.low, s.high = at(i.low, s.low), at(i.high, s.high)
	s.part = numFraction
	s.n++
	return s, true
}

// accepts says whether a number may end in s.
func (r *numberRules) accepts(s numberState) bool {
	switch s.part {
	case numZero, numWhole:
		s = r.settleWhole(s)
		s.n = 0
	case numFraction:
	case numExponent1, numExponent2:
		return true
	default:
		return false
	}
	i := r.signed(s.neg)
	at := func(x *bound, so int8) int8 {
		if so == 0 && int(s.n) < len(x.fraction) {
			return -1 // the bound goes on with a digit above 0
		}
		return so
	}
	if i.low != nil {
		if c := at(i.low, s.low); c < 0 || c == 0 && i.low.exclusive {
			return false
		}
	}
	if i.high != nil {
		if c := at(i.high, s.high); c > 0 || c == 0 && i.high.exclusive {
			return false
		}
	}
	return s.rest == 0
}
