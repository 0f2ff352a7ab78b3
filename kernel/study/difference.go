package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
)

// jsonNumber finds the texts and the numbers of a JSON text: a match that does not begin
// with a quote is a number.
var jsonNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`)

// sameJSON compares JSON texts byte by byte, but for the last digits of their fractions:
// processors that multiply and add in one step, such as arm64, round once less. Fractions
// are equal to twelve significant digits, and what is below 1e-15 is zero.
func sameJSON(said, now []byte) error {
	if bytes.Equal(said, now) {
		return nil
	}
	a, b := jsonNumber.FindAllIndex(said, -1), jsonNumber.FindAllIndex(now, -1)
	if len(a) != len(b) {
		return errors.New(difference(said, now))
	}
	atA, atB := 0, 0
	for i := range a {
		between := bytes.Equal(said[atA:a[i][0]], now[atB:b[i][0]])
		if !between || !sameToken(said[a[i][0]:a[i][1]], now[b[i][0]:b[i][1]]) {
			return errors.New(difference(said, now))
		}
		atA, atB = a[i][1], b[i][1]
	}
	if !bytes.Equal(said[atA:], now[atB:]) {
		return errors.New(difference(said, now))
	}
	return nil
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

// difference says where two JSON texts differ first.
func difference(said, now []byte) string {
	var a, b any
	if err := decode(said, &a); err != nil {
		return err.Error()
	}
	if err := decode(now, &b); err != nil {
		return err.Error()
	}
	if path, x, y, ok := differ("", a, b); ok {
		return fmt.Sprintf("%s is %s, and computed again %s", path, short(x), short(y))
	}
	return "it is written in another way than noema writes it"
}

func decode(raw []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
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

// short is a value in a message.
func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.80s", raw)
}
