package grammar

import (
	"cmp"
	"fmt"
	"slices"
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

// interval is the magnitudes that are allowed under one sign; nil means no bound.
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

// numberPart is the place within a number.
type numberPart = int32

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

// numberSyntax are the transitions of every number.
var numberSyntax = []transition{
	{numStart, "--", numMinus}, {numStart, "00", numZero}, {numStart, "19", numWhole},
	{numMinus, "00", numZero}, {numMinus, "19", numWhole}, {numWhole, "09", numWhole},
	{numZero, "..", numDot}, {numWhole, "..", numDot}, {numDot, "09", numFraction}, {numFraction, "09", numFraction},
	{numZero, "EEee", numE}, {numWhole, "EEee", numE}, {numFraction, "EEee", numE},
	{numE, "++--", numSign}, {numE, "09", numExponent1}, {numSign, "09", numExponent1}, {numExponent1, "09", numExponent2},
}

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

// compare updates the comparisons with the bounds that are set.
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
	i := slices.IndexFunc(numberSyntax, func(t transition) bool { return t.from == s.part && t.takes(b) })
	if i < 0 {
		return s, false
	}
	s.part = numberSyntax[i].to
	switch s.part {
	case numMinus:
		s.neg = true
		return s, !r.bySign[1].empty
	case numZero, numWhole:
		ok := !r.signed(s.neg).empty && s.n < r.wholeDigits && !(s.part == numZero && s.neg && r.whole)
		return r.wholeDigit(s, b), ok
	case numDot:
		s = r.endWhole(s)
		s.n = 0
		return s, !r.whole
	case numFraction:
		return r.fractionDigit(s, b), s.n < r.fractionSize
	default:
		return numberState{part: s.part}, r.exponent
	}
}

func (r *numberRules) wholeDigit(s numberState, b byte) numberState {
	s = r.compare(s, func(bound *decimal, so int8) int8 {
		if so != 0 || int(s.n) >= len(bound.whole) {
			return so
		}
		return int8(cmp.Compare(b, bound.whole[s.n]))
	})
	s.n++
	return s
}

// endWhole compares the whole parts, now that this one's length is known.
func (r *numberRules) endWhole(s numberState) numberState {
	return r.compare(s, func(bound *decimal, so int8) int8 {
		return int8(cmp.Or(cmp.Compare(int(s.n), len(bound.whole)), int(so)))
	})
}

func (r *numberRules) fractionDigit(s numberState, b byte) numberState {
	s = r.compare(s, func(bound *decimal, so int8) int8 {
		theirs := byte('0')
		if int(s.n) < len(bound.fraction) {
			theirs = bound.fraction[s.n]
		}
		return int8(cmp.Or(int(so), cmp.Compare(b, theirs)))
	})
	s.n++
	return s
}

// accepts says whether a number may end in s.
func (r *numberRules) accepts(s numberState) bool {
	switch s.part {
	case numZero, numWhole:
		s = r.endWhole(s)
		s.n = 0
	case numFraction:
	default:
		return s.part == numExponent1 || s.part == numExponent2
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
