package grammar

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// How long a number is spelled at most, so that one always ends and a float64
// or an int64 holds it: a bound with more digits raises its limit.
const (
	wholeDigits    = 18
	fractionDigits = 24
	// maxBoundDigits is how many digits a bound may have on either side of the
	// point.
	maxBoundDigits = 400
)

// decimal is an exact decimal number: "0" or no leading zeros before the point,
// no trailing zeros after it.
type decimal struct {
	neg             bool
	whole, fraction string
}

// parseDecimal reads a number in JSON's spelling.
func parseDecimal(text string) (decimal, error) {
	tooLong := fmt.Errorf("number %.40s has more than %d digits before or after its point", text, maxBoundDigits)
	s, neg := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if exponent != "" {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp > maxBoundDigits || exp < -maxBoundDigits {
			return decimal{}, tooLong
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	zeros := strings.Repeat("0", max(exp, -exp))
	digits, point := zeros+whole+fraction+zeros, len(zeros)+len(whole)+exp
	d := decimal{neg, strings.TrimLeft(digits[:point], "0"), strings.TrimRight(digits[point:], "0")}
	if len(d.whole) > maxBoundDigits || len(d.fraction) > maxBoundDigits {
		return decimal{}, tooLong
	}
	if d.whole == "" {
		d.whole, d.neg = "0", neg && d.fraction != ""
	}
	return d, nil
}

func (d *decimal) isZero() bool { return d.whole == "0" && d.fraction == "" }

// interval is the magnitudes that are allowed under one sign; nil is no bound.
type interval struct {
	empty     bool
	low, high *decimal
}

// numberRules are what a number must keep to.
type numberRules struct {
	whole, exponent           bool
	bySign                    [2]interval // without and with a minus
	wholeDigits, fractionSize int16
}

// numberLexeme is a number within the bounds; whole ones are spelled without
// point, exponent or "-0", bounded ones without exponent. It is nil if no
// number can be.
func numberLexeme(whole bool, low, high *decimal) *lexeme {
	r := numberRules{whole: whole, exponent: !whole && low == nil && high == nil, wholeDigits: wholeDigits, fractionSize: fractionDigits}
	for _, b := range []*decimal{low, high} {
		if b != nil { // a digit more, so that numbers on either side can be spelled
			r.wholeDigits = max(r.wholeDigits, int16(len(b.whole)+1))
			r.fractionSize = max(r.fractionSize, int16(len(b.fraction)+1))
		}
	}
	positive, negative := &r.bySign[0], &r.bySign[1]
	if low != nil {
		if !low.neg {
			positive.low = low
		}
		if low.neg || low.isZero() {
			negative.high = low
		} else {
			negative.empty = true
		}
	}
	if high != nil {
		if high.neg || high.isZero() {
			negative.low = high
		}
		if !high.neg {
			positive.high = high
		} else {
			positive.empty = true
		}
	}
	d := explore(numberState{}, "+-.0123456789Ee", r.step, r.accepts)
	if d == nil {
		return nil
	}
	return &lexeme{dfa: d}
}

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

// numberState is a state of the automaton of numbers.
type numberState struct {
	part      numberPart
	neg       bool
	n         int16 // digits in this part so far
	low, high int8  // how the digits so far compare with those of the bounds at the same places
}

func (r *numberRules) signed(neg bool) interval {
	if neg {
		return r.bySign[1]
	}
	return r.bySign[0]
}

// compare updates the comparisons with the bounds that there are.
func (r *numberRules) compare(s numberState, with func(bound *decimal, so int8) int8) numberState {
	i := r.signed(s.neg)
	if i.low != nil {
		s.low = with(i.low, s.low)
	}
	if i.high != nil {
		s.high = with(i.high, s.high)
	}
	return s
}

func (r *numberRules) step(s numberState, b byte) (numberState, bool) {
	digit := b >= '0' && b <= '9'
	switch s.part {
	case numStart, numMinus:
		return r.stepFirst(s, b, digit)
	case numZero, numWhole:
		switch {
		case digit:
			return r.stepWhole(s, b)
		case b == '.':
			s = r.endWhole(s)
			s.part, s.n = numDot, 0
			return s, !r.whole
		}
	case numDot, numFraction:
		if digit {
			return r.stepFraction(s, b)
		}
	case numE:
		if b == '+' || b == '-' {
			return numberState{part: numSign}, true
		}
		return numberState{part: numExponent1}, digit
	case numSign:
		return numberState{part: numExponent1}, digit
	case numExponent1:
		return numberState{part: numExponent2}, digit
	case numExponent2:
		return s, false
	}
	return numberState{part: numE}, r.exponent && s.part != numDot && (b == 'e' || b == 'E')
}

func (r *numberRules) stepFirst(s numberState, b byte, digit bool) (numberState, bool) {
	if b == '-' {
		return numberState{part: numMinus, neg: true}, s.part == numStart && !r.bySign[1].empty
	}
	if !digit || r.signed(s.neg).empty {
		return s, false
	}
	s.part = numWhole
	next, ok := r.stepWhole(s, b)
	if b == '0' {
		next.part = numZero
		return next, !(s.neg && r.whole)
	}
	return next, ok
}

func (r *numberRules) stepWhole(s numberState, b byte) (numberState, bool) {
	if s.part == numZero || s.n == r.wholeDigits {
		return s, false
	}
	s = r.compare(s, func(bound *decimal, so int8) int8 {
		if so != 0 || int(s.n) >= len(bound.whole) {
			return so
		}
		return int8(cmp.Compare(b, bound.whole[s.n]))
	})
	s.n++
	return s, true
}

// endWhole compares the whole parts, now that this one's length is known.
func (r *numberRules) endWhole(s numberState) numberState {
	return r.compare(s, func(bound *decimal, so int8) int8 {
		return int8(cmp.Or(cmp.Compare(int(s.n), len(bound.whole)), int(so)))
	})
}

func (r *numberRules) stepFraction(s numberState, b byte) (numberState, bool) {
	if s.n == r.fractionSize {
		return s, false
	}
	s = r.compare(s, func(bound *decimal, so int8) int8 {
		theirs := byte('0')
		if int(s.n) < len(bound.fraction) {
			theirs = bound.fraction[s.n]
		}
		return int8(cmp.Or(int(so), cmp.Compare(b, theirs)))
	})
	s.part = numFraction
	s.n++
	return s, true
}

// accepts says whether a number may end in s.
func (r *numberRules) accepts(s numberState) bool {
	switch s.part {
	case numZero, numWhole:
		s = r.endWhole(s)
		s.n = 0
	case numFraction:
	case numExponent1, numExponent2:
		return true
	default:
		return false
	}
	s = r.compare(s, func(bound *decimal, so int8) int8 {
		if so == 0 && int(s.n) < len(bound.fraction) {
			return -1 // the bound goes on with a digit above 0
		}
		return so
	})
	i := r.signed(s.neg)
	return (i.low == nil || s.low >= 0) && (i.high == nil || s.high <= 0)
}
