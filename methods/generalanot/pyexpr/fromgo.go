package pyexpr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxValueDepth bounds how deep a value from outside may nest.
const maxValueDepth = 100

// builder is a machine without limits, for values that are the caller's own.
func builder() *machine { return &machine{fuel: 1 << 62, mem: 1 << 62, depth: maxValueDepth} }

// FromGo makes a value of nil, a bool, any integer or float, a *big.Int, a
// json.Number, a string, a slice or a map of those, or a Value. The keys of a
// map are put in alphabetical order, for a Go map has none; use [FromJSON]
// where the order of keys counts.
func FromGo(x any) (Value, error) { return fromGo(builder(), x) }

func fromGo(m *machine, x any) (Value, error) {
	if m.depth--; m.depth < 0 {
		return nil, fmt.Errorf("make value: nested deeper than %d", maxValueDepth)
	}
	defer m.leave()
	switch x := x.(type) {
	case nil:
		return None{}, nil
	case Value:
		return x, nil
	case bool:
		return Bool(x), nil
	case string:
		return Str(strings.ToValidUTF8(x, "\ufffd")), nil
	case int:
		return Int(x), nil
	case int64:
		return Int(x), nil
	case int32:
		return Int(x), nil
	case uint64:
		return normal(new(big.Int).SetUint64(x)), nil
	case *big.Int:
		return normal(new(big.Int).Set(x)), nil
	case float64:
		return Float(x), nil
	case float32:
		return Float(x), nil
	case json.Number:
		return numberValue(x)
	case json.RawMessage:
		return FromJSON(x)
	case []string:
		return fromSlice(m, x)
	case []any:
		return fromSlice(m, x)
	case []Value:
		return &List{slices.Clone(x)}, nil
	case []map[string]any:
		return fromSlice(m, x)
	case map[string]any:
		return fromMap(m, x)
	case map[string]string:
		return fromMap(m, x)
	case map[string]Value:
		return fromMap(m, x)
	}
	return nil, fmt.Errorf("make value: no Python value for a %T", x)
}

func fromSlice[T any](m *machine, xs []T) (Value, error) {
	out := make([]Value, len(xs))
	for i, x := range xs {
		v, err := fromGo(m, x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return &List{out}, nil
}

func fromMap[T any](m *machine, x map[string]T) (Value, error) {
	names := make([]string, 0, len(x))
	for name := range x {
		names = append(names, name)
	}
	slices.Sort(names)
	d := &Dict{entries: make([]entry, 0, len(x))}
	for _, name := range names {
		v, err := fromGo(m, x[name])
		if err != nil {
			return nil, err
		}
		d.put(m, Str(name), v)
	}
	return d, nil
}

// FromJSON makes a value of one JSON text, as json.loads does: keys keep
// their order, the last of equal ones counts, and integers have no bound but
// CPython's 4,300 digits.
func FromJSON(raw []byte) (Value, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("make value: the JSON is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := fromDecoder(builder(), dec)
	if err != nil {
		return nil, fmt.Errorf("make value: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("make value: more than one JSON value")
	}
	return v, nil
}

func fromDecoder(m *machine, dec *json.Decoder) (Value, error) {
	if m.depth--; m.depth < 0 {
		return nil, fmt.Errorf("nested deeper than %d", maxValueDepth)
	}
	defer m.leave()
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '[' {
			return listFrom(m, dec)
		}
		return dictFrom(m, dec)
	case json.Number:
		return numberValue(t)
	}
	return fromGo(m, tok)
}

func listFrom(m *machine, dec *json.Decoder) (Value, error) {
	list := new(List)
	for dec.More() {
		v, err := fromDecoder(m, dec)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, v)
	}
	_, err := dec.Token()
	return list, err
}

func dictFrom(m *machine, dec *json.Decoder) (Value, error) {
	d := new(Dict)
	for dec.More() {
		k, err := fromDecoder(m, dec)
		if err != nil {
			return nil, err
		}
		v, err := fromDecoder(m, dec)
		if err != nil {
			return nil, err
		}
		d.put(m, k, v)
	}
	_, err := dec.Token()
	return d, err
}

func numberValue(n json.Number) (Value, error) {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		if len(s) > maxDigits {
			return nil, fmt.Errorf("an integer of more than %d digits", maxDigits)
		}
		if z, ok := new(big.Int).SetString(s, 10); ok {
			return normal(z), nil
		}
		return nil, fmt.Errorf("%q is no number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("%q is no number", s)
	}
	return Float(f), nil // out of range is infinity, as for json.loads
}
