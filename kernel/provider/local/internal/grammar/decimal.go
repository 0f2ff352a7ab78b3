package grammar

import (
	"fmt"
	"strconv"
	"strings"
)

// maxBoundDigits is how many digits a bound may have on either side of the
// point; a bound such as 1e999999 would otherwise take that much memory.
const maxBoundDigits = 400

// decimal is an exact decimal number: ± 0.d1d2d3… × 10^exp, with neither
// leading nor trailing zeros in the digits, and no digits for zero.
type decimal struct {
	neg    bool
	digits string
	exp    int64
}

// parseDecimal reads a number in JSON's spelling.
func parseDecimal(text string) (decimal, error) {
	s, neg := strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	var exp int64
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 32)
		if err != nil {
			return decimal{}, fmt.Errorf("number %s: exponent out of range", clip(text))
		}
		exp = e
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	exp += int64(len(whole))
	trimmed := strings.TrimLeft(digits, "0")
	exp -= int64(len(digits) - len(trimmed))
	trimmed = strings.TrimRight(trimmed, "0")
	if trimmed == "" {
		return decimal{}, nil
	}
	return decimal{neg: neg, digits: trimmed, exp: exp}, nil
}

// clip shortens a user's text for an error.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:40] + "…"
}

// isInteger says whether d has no fraction.
func (d decimal) isInteger() bool { return int64(len(d.digits)) <= d.exp || d.digits == "" }

// negate returns -d.
func (d decimal) negate() decimal {
	if d.digits != "" {
		d.neg = !d.neg
	}
	return d
}

// cmp returns -1, 0 or 1 as d is below, at or above e.
func (d decimal) cmp(e decimal) int {
	if s, t := d.sign(), e.sign(); s != t {
		return compare(s, t)
	}
	m := d.cmpMagnitude(e)
	if d.neg {
		return -m
	}
	return m
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	default:
		return 1
	}
}

func (d decimal) cmpMagnitude(e decimal) int {
	if d.digits == "" || e.digits == "" {
		return compare(len(d.digits), len(e.digits))
	}
	if d.exp != e.exp {
		return compare(int(d.exp), int(e.exp))
	}
	return strings.Compare(d.digits, e.digits)
}

func compare(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// split writes d's magnitude as the digits before and after the point:
// "0" and no leading zeros before, no trailing zeros after.
func (d decimal) split() (whole, fraction string, err error) {
	n := int64(len(d.digits))
	if d.exp > maxBoundDigits || n-d.exp > maxBoundDigits {
		return "", "", fmt.Errorf("a bound has more than %d digits before or after its point", maxBoundDigits)
	}
	switch {
	case n == 0:
		return "0", "", nil
	case d.exp <= 0:
		return "0", strings.Repeat("0", int(-d.exp)) + d.digits, nil
	case d.exp >= n:
		return d.digits + strings.Repeat("0", int(d.exp-n)), "", nil
	default:
		return d.digits[:d.exp], d.digits[d.exp:], nil
	}
}
