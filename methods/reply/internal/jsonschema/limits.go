package jsonschema

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Numbers are computed with exactly, which takes long for those that nobody means.
const (
	maxDigits   = 1000
	maxExponent = 1000
)

// rational is the exact value of a number; nil if it is out of range.
func rational(n json.Number) *big.Rat {
	text := string(n)
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e < -maxExponent || e > maxExponent {
			return nil
		}
	}
	if len(text) > maxDigits {
		return nil
	}
	x, _ := new(big.Rat).SetString(text)
	return x
}

func isInteger(v any) bool {
	n, _ := v.(json.Number)
	x := rational(n)
	return x != nil && x.IsInt()
}

// decimal shows a number as a person writes it.
func decimal(x *big.Rat) string {
	f, _ := x.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// limits compiles the rules on sizes, numbers and texts.
func (r *reader) limits() {
	text := func(v any) int {
		if s, ok := v.(string); ok {
			return utf8.RuneCountInString(s)
		}
		return -1
	}
	array := func(v any) int {
		if a, ok := v.([]any); ok {
			return len(a)
		}
		return -1
	}
	object := func(v any) int {
		if o, ok := v.(map[string]any); ok {
			return len(o)
		}
		return -1
	}
	less, more := func(got, want int) bool { return got < want }, func(got, want int) bool { return got > want }
	r.size("minLength", text, less)
	r.size("maxLength", text, more)
	r.size("minItems", array, less)
	r.size("maxItems", array, more)
	r.size("minProperties", object, less)
	r.size("maxProperties", object, more)
	r.bound("minimum", func(got, want *big.Rat) bool { return got.Cmp(want) < 0 })
	r.bound("maximum", func(got, want *big.Rat) bool { return got.Cmp(want) > 0 })
	r.bound("exclusiveMinimum", func(got, want *big.Rat) bool { return got.Cmp(want) <= 0 })
	r.bound("exclusiveMaximum", func(got, want *big.Rat) bool { return got.Cmp(want) >= 0 })
	r.bound("multipleOf", func(got, want *big.Rat) bool { return !new(big.Rat).Quo(got, want).IsInt() })
	r.pattern()
}

// size wants what length measures, if it is not negative, not to be broken.
func (r *reader) size(key string, length func(any) int, broken func(got, want int) bool) {
	want, ok := r.count(key)
	if !ok {
		return
	}
	r.rule(func(c *check, place []string, v any) {
		if got := length(v); got >= 0 && broken(got, want) {
			c.fault(place, key, "%s: got %d, want %d", key, got, want)
		}
	})
}

func (r *reader) bound(key string, broken func(got, want *big.Rat) bool) {
	want, ok := r.number(key)
	if !ok {
		return
	}
	if key == "multipleOf" && want.Sign() <= 0 {
		r.fail(r.below(key), "want a number above 0")
		return
	}
	r.rule(func(c *check, place []string, v any) {
		n, ok := v.(json.Number)
		if !ok {
			return
		}
		switch got := rational(n); {
		case got == nil:
			c.fault(place, key, "%s: the number is out of range, want %s", key, decimal(want))
		case broken(got, want):
			c.fault(place, key, "%s: got %s, want %s", key, decimal(got), decimal(want))
		}
	})
}

func (r *reader) pattern() {
	text, ok := get[string](r, "pattern")
	if !ok {
		return
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		r.fail(r.below("pattern"), "%v", err)
		return
	}
	r.rule(func(c *check, place []string, v any) {
		if s, ok := v.(string); ok && !pattern.MatchString(s) {
			c.fault(place, "pattern", "%s does not match pattern %s", quote(s), quote(text))
		}
	})
}
