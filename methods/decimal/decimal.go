// Package decimal reads and writes exact decimal numbers. Arithmetic done in
// floating point turns a right answer such as 0.1+0.2 into a wrong one, so
// whoever computes or compares numbers here does it in fractions
// ([math/big.Rat]) and meets decimals only at the edges, through this package.
package decimal

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Digits is how many significant digits [Format] keeps of a number that has
// no finite decimal form, such as 1/3.
const Digits = 12

// maxSize bounds the digits and the exponent of a number that is read, so that
// "1e999999999" costs nothing and every number also fits a double.
const maxSize = 300

// Parse reads a number in JSON's notation, exactly. A leading plus sign and a
// point without digits on one of its sides are let pass.
func Parse(s string) (*big.Rat, error) {
	mantissa, e := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		var err error
		if e, err = strconv.Atoi(s[i+1:]); err != nil || e < -maxSize || e > maxSize {
			return nil, fmt.Errorf("parse number %.40q: the exponent is not within -%d..%d", s, maxSize, maxSize)
		}
	}
	digits := strings.TrimLeft(mantissa, "+-")
	if len(mantissa)-len(digits) > 1 || len(digits)+max(e, 0) > maxSize+1 || !isDecimal(digits) {
		return nil, fmt.Errorf("parse number %.40q: want a decimal of at most %d digits", s, maxSize)
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, fmt.Errorf("parse number %.40q: want a decimal", s)
	}
	return r, nil
}

// isDecimal reports whether s is digits with at most one point among them.
func isDecimal(s string) bool {
	whole, part, _ := strings.Cut(s, ".")
	return whole+part != "" && strings.Trim(whole+part, "0123456789") == ""
}

// Format writes r as a plain decimal without needless zeros, which is a JSON
// number and of which each number has one. A number without a finite decimal
// form is rounded to [Digits] significant digits, half away from zero, and so
// is one that needs more than some 300 places; exact is then false.
func Format(r *big.Rat) (text string, exact bool) {
	if places, ok := finitePlaces(r); ok {
		return r.FloatString(places), true
	}
	return trim(round(r, Digits-1-magnitude(r))), false
}

// finitePlaces is how many decimal places r has, if they are finitely many:
// the denominator has no prime factors but 2 and 5.
func finitePlaces(r *big.Rat) (int, bool) {
	den := new(big.Int).Set(r.Denom())
	twos := int(den.TrailingZeroBits())
	den.Rsh(den, uint(twos))
	fives := 0
	five, rest := big.NewInt(5), new(big.Int)
	for q := new(big.Int); fives <= maxSize; fives++ {
		if q.QuoRem(den, five, rest); rest.Sign() != 0 {
			break
		}
		den.Set(q)
	}
	places := max(twos, fives)
	return places, den.IsInt64() && den.Int64() == 1 && places <= maxSize
}

// magnitude is the e with 10^e <= |r| < 10^(e+1); r is not 0.
func magnitude(r *big.Rat) int {
	abs := new(big.Rat).Abs(r)
	e := len(abs.Num().String()) - len(abs.Denom().String())
	if abs.Cmp(power(e)) < 0 {
		e--
	}
	return e
}

func power(e int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(e, -e))), nil)
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// round writes r with so many decimal places; a negative number of places
// rounds to tens, hundreds and so on.
func round(r *big.Rat, places int) string {
	if places >= 0 {
		return r.FloatString(places)
	}
	text := new(big.Rat).Mul(r, power(places)).FloatString(0)
	if strings.Trim(text, "-0") == "" {
		return "0"
	}
	return text + strings.Repeat("0", -places)
}

func trim(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if s == "-0" {
		return "0"
	}
	return s
}

// errPlaces says that a number of places makes no sense.
var errPlaces = errors.New("the places are not within -300..300")

// Round rounds r to so many decimal places, half away from zero; negative
// places round to tens, hundreds and so on.
func Round(r *big.Rat, places int) (*big.Rat, error) {
	if places < -maxSize || places > maxSize {
		return nil, fmt.Errorf("round to %d places: %w", places, errPlaces)
	}
	rounded, ok := new(big.Rat).SetString(round(r, places))
	if !ok { // round writes decimals
		return nil, fmt.Errorf("round to %d places: %w", places, errPlaces)
	}
	return rounded, nil
}

// Apply is what two numbers give by a sign, exactly; nil for a division by zero and for a
// sign other than + - * /.
func Apply(sign string, a, b *big.Rat) *big.Rat {
	r := new(big.Rat)
	switch {
	case sign == "+":
		return r.Add(a, b)
	case sign == "-":
		return r.Sub(a, b)
	case sign == "*":
		return r.Mul(a, b)
	case sign == "/" && b.Sign() != 0:
		return r.Quo(a, b)
	}
	return nil
}
