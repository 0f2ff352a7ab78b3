package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"

	"noema/methods"
)

// jsonNumber finds the texts and the numbers of a JSON text: a match that does not begin
// with a quote is a number.
var jsonNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)

// sameJSON compares JSON texts byte by byte, but for the last digits of their fractions:
// processors that multiply and add in one step, such as arm64, round once less. Fractions
// are equal to twelve significant digits, and what is below 1e-15 is zero. Rounded names
// the first of those that are not equal to the last digit.
func sameJSON(said, now []byte) (rounded string, err error) {
	if bytes.Equal(said, now) {
		return "", nil
	}
	a, b := jsonNumber.FindAllIndex(said, -1), jsonNumber.FindAllIndex(now, -1)
	if len(a) != len(b) {
		return "", errors.New(difference(said, now))
	}
	atA, atB := 0, 0
	for i := range a {
		between := bytes.Equal(said[atA:a[i][0]], now[atB:b[i][0]])
		if !between || !sameToken(said[a[i][0]:a[i][1]], now[b[i][0]:b[i][1]]) {
			return "", errors.New(difference(said, now))
		}
		atA, atB = a[i][1], b[i][1]
	}
	if !bytes.Equal(said[atA:], now[atB:]) {
		return "", errors.New(difference(said, now))
	}
	return difference(said, now), nil
}

func sameToken(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if !bytes.ContainsAny(a, ".e") && !bytes.ContainsAny(b, ".e") {
		return false // texts, or whole numbers: counts and seeds have no last digit to spare
	}
	x, err := strconv.ParseFloat(string(a), 64)
	y, err2 := strconv.ParseFloat(string(b), 64)
	return err == nil && err2 == nil && math.Abs(x-y) <= max(1e-15, 1e-12*max(math.Abs(x), math.Abs(y)))
}

// difference says where two texts differ first: JSON, JSON lines, or text for people.
func difference(said, now []byte) string {
	if json.Valid(said) && json.Valid(now) {
		return differenceOf(said, now)
	}
	for n := 1; ; n++ {
		a, restA, moreA := bytes.Cut(said, []byte("\n"))
		b, restB, moreB := bytes.Cut(now, []byte("\n"))
		switch {
		case bytes.Equal(a, b) && moreA && moreB:
			said, now = restA, restB
		case json.Valid(a) && json.Valid(b):
			return fmt.Sprintf("line %d: %s", n, differenceOf(a, b))
		default:
			return fmt.Sprintf("line %d is %.80q, and noema writes %.80q", n, a, b)
		}
	}
}

func differenceOf(said, now []byte) string {
	var a, b any
	if err := methods.DecodeJSON(said, &a); err != nil {
		return err.Error()
	}
	if err := methods.DecodeJSON(now, &b); err != nil {
		return err.Error()
	}
	if path, x, y, ok := differ("", a, b); ok {
		return fmt.Sprintf("%s is %s, and computed again %s", path, short(x), short(y))
	}
	return "it is written in another way than noema writes it"
}

// differ walks two values side by side.
func differ(path string, a, b any) (string, any, any, bool) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			all := slices.Sorted(maps.Keys(a))
			all = append(all, slices.DeleteFunc(slices.Sorted(maps.Keys(b)), func(k string) bool { _, both := a[k]; return both })...)
			for _, key := range all {
				if p, x, y, ok := differ(path+"."+key, a[key], b[key]); ok {
					return p, x, y, true
				}
			}
			return "", nil, nil, false
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				if p, x, y, ok := differ(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); ok {
					return p, x, y, true
				}
			}
			return "", nil, nil, false
		}
	default:
		if a == b {
			return "", nil, nil, false
		}
	}
	return path, a, b, true
}

// lacking looks for what now has and said has not, as a later noema writes more, and
// returns the first such member. Nothing else may differ; with zero, such members must be
// empty.
func lacking(path string, said, now any, zero bool) (first string, ok bool) {
	switch now := now.(type) {
	case map[string]any:
		said, object := said.(map[string]any)
		if !object {
			return "", false
		}
		for key := range said {
			if _, both := now[key]; !both {
				return "", false
			}
		}
		for _, key := range slices.Sorted(maps.Keys(now)) {
			at, fits := path+"."+key, true
			if _, both := said[key]; both {
				at, fits = lacking(at, said[key], now[key], zero)
			} else if zero {
				fits = empty(now[key])
			}
			if !fits {
				return "", false
			}
			first = cmp.Or(first, at)
		}
		return first, true
	case []any:
		said, list := said.([]any)
		if !list || len(said) != len(now) {
			return "", false
		}
		for i := range now {
			at, fits := lacking(fmt.Sprintf("%s[%d]", path, i), said[i], now[i], zero)
			if !fits {
				return "", false
			}
			first = cmp.Or(first, at)
		}
		return first, true
	}
	a, numbers := said.(json.Number)
	b, both := now.(json.Number)
	return "", said == now || !zero && numbers && both && sameToken([]byte(a), []byte(b))
}

// empty reports whether a JSON value is the zero of its kind.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	case json.Number:
		return v == "0"
	}
	return v == false || v == ""
}

// lacks is lacking for texts of JSON, or of JSON lines.
func lacks(said, now []byte, zero bool) (first string, ok bool) {
	a, b := json.NewDecoder(bytes.NewReader(said)), json.NewDecoder(bytes.NewReader(now))
	a.UseNumber()
	b.UseNumber()
	for {
		var x, y any
		errA, errB := a.Decode(&x), b.Decode(&y)
		if errA != nil || errB != nil {
			return first, first != "" && errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF)
		}
		at, fits := lacking("", x, y, zero)
		if !fits {
			return "", false
		}
		first = cmp.Or(first, at)
	}
}

// short is a value in a message.
func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.80s", raw)
}
