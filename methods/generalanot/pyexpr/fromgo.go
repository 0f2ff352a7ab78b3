package pyexpr

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// maxValueDepth bounds how deep a value from outside may nest.
const maxValueDepth = 100

// builder is a machine without limits, for values that are the caller's own.
func builder() *machine { return &machine{fuel: far, mem: far} }

// importer makes values of what comes from outside. Short strings that come
// again become one value: the keys and levels of many extractions then lie
// together in the processor's cache.
type importer struct {
	m     *machine
	short map[string]Value
}

const (
	shortString = 32   // bytes
	maxShort    = 4096 // strings that are remembered
)

// FromGo makes a value of nil, a bool, int, int64, float64, json.Number or
// string, of a []any or map[string]any of those, or of a Value or []Value. The
// keys of a map are put in alphabetical order, for a Go map has none.
func FromGo(x any) (Value, error) {
	im := &importer{m: builder(), short: map[string]Value{}}
	return im.value(x, maxValueDepth)
}

func (im *importer) value(x any, depth int) (Value, error) {
	if depth == 0 {
		return nil, fmt.Errorf("make value: nested deeper than %d", maxValueDepth)
	}
	switch x := x.(type) {
	case nil:
		return None{}, nil
	case Value:
		return x, nil
	case bool:
		return Bool(x), nil
	case string:
		return im.str(x), nil
	case int:
		return Int(x), nil
	case int64:
		return Int(x), nil
	case float64:
		return Float(x), nil
	case json.Number:
		return numberValue(x.String())
	case []Value:
		return &List{slices.Clone(x)}, nil
	case []any:
		out := make([]Value, len(x))
		var err error
		for i := range x {
			if out[i], err = im.value(x[i], depth-1); err != nil {
				return nil, err
			}
		}
		return &List{out}, nil
	case map[string]any:
		return im.dict(x, depth-1)
	}
	return nil, fmt.Errorf("make value: no Python value for a %T", x)
}

func (im *importer) str(s string) Value {
	if len(s) > shortString {
		return Str(strings.ToValidUTF8(s, "\ufffd"))
	}
	v, ok := im.short[s]
	if !ok {
		v = Str(strings.ToValidUTF8(strings.Clone(s), "\ufffd"))
		if len(im.short) < maxShort {
			im.short[string(v.(Str))] = v
		}
	}
	return v
}

// dict is a new dict; its entries lie beside it if they are few.
func (im *importer) dict(x map[string]any, depth int) (Value, error) {
	both := new(struct {
		Dict
		room [4]entry
	})
	d := &both.Dict
	if d.entries = both.room[:0]; len(x) > len(both.room) {
		d = &Dict{entries: make([]entry, 0, len(x))}
	}
	for _, name := range slices.Sorted(maps.Keys(x)) {
		v, err := im.value(x[name], depth)
		if err != nil {
			return nil, err
		}
		d.put(im.m, im.str(name), v)
	}
	return d, nil
}

// numberValue reads a number of JSON as json.loads does: integers have no bound
// but CPython's 4,300 digits, and floats out of range are infinite.
func numberValue(s string) (Value, error) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return nil, fmt.Errorf("make value: %q is not a number", s)
		}
		return Float(f), nil
	}
	if len(s) > maxDigits {
		return nil, fmt.Errorf("make value: an integer of more than %d digits", maxDigits)
	}
	z, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("make value: %q is not a number", s)
	}
	return normal(z), nil
}
