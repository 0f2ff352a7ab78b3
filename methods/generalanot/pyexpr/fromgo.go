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
func builder() *machine { return &machine{fuel: 1 << 62, mem: 1 << 62} }

// importer makes values of what comes from outside. Short strings that come
// again become one value: the keys and levels of many extractions then lie
// together in the processor's cache.
type importer struct {
	m     *machine
	short map[string]Value
	depth int
}

const (
	shortString = 32   // bytes
	maxShort    = 4096 // strings that are remembered
)

func newImporter() *importer {
	return &importer{m: builder(), short: map[string]Value{}, depth: maxValueDepth}
}

// enter goes one level deeper; the caller must go up again.
func (im *importer) enter() error {
	if im.depth == 0 {
		return fmt.Errorf("make value: nested deeper than %d", maxValueDepth)
	}
	im.depth--
	return nil
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

// dictOf is a new dict of the entries, which lie beside it if they are few.
func (im *importer) dictOf(entries []entry) *Dict {
	var d *Dict
	if len(entries) <= 4 {
		both := new(struct {
			Dict
			room [4]entry
		})
		d = &both.Dict
		d.entries = both.room[:0]
	} else {
		d = &Dict{entries: make([]entry, 0, len(entries))}
	}
	for _, e := range entries {
		d.put(im.m, e.key, e.val)
	}
	return d
}

// FromGo makes a value of nil, a bool, any integer or float, a *big.Int, a
// json.Number, a string, a slice or a map of those, or a Value. The keys of a
// map are put in alphabetical order, for a Go map has none; use [FromJSON]
// where the order of keys counts.
func FromGo(x any) (Value, error) { return newImporter().value(x) }

func (im *importer) value(x any) (Value, error) {
	if err := im.enter(); err != nil {
		return nil, err
	}
	defer func() { im.depth++ }()
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
		return fromSlice(im, x)
	case []any:
		return fromSlice(im, x)
	case []Value:
		return &List{slices.Clone(x)}, nil
	case []map[string]any:
		return fromSlice(im, x)
	case map[string]any:
		return fromMap(im, x)
	case map[string]string:
		return fromMap(im, x)
	case map[string]Value:
		return fromMap(im, x)
	}
	return nil, fmt.Errorf("make value: no Python value for a %T", x)
}

func fromSlice[T any](im *importer, xs []T) (Value, error) {
	out := make([]Value, len(xs))
	for i, x := range xs {
		v, err := im.value(x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return &List{out}, nil
}

func fromMap[T any](im *importer, x map[string]T) (Value, error) {
	names := make([]string, 0, len(x))
	for name := range x {
		names = append(names, name)
	}
	slices.Sort(names)
	entries := make([]entry, 0, len(x))
	for _, name := range names {
		v, err := im.value(x[name])
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{im.str(name), v})
	}
	return im.dictOf(entries), nil
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
	v, err := newImporter().decode(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("make value: more than one JSON value")
	}
	return v, nil
}

func (im *importer) decode(dec *json.Decoder) (Value, error) {
	if err := im.enter(); err != nil {
		return nil, err
	}
	defer func() { im.depth++ }()
	tok, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("make value: %w", err)
	}
	if t, ok := tok.(json.Delim); ok {
		if t == '[' {
			return im.list(dec)
		}
		return im.dict(dec)
	}
	return im.value(tok)
}

func (im *importer) list(dec *json.Decoder) (Value, error) {
	list := new(List)
	for dec.More() {
		v, err := im.decode(dec)
		if err != nil {
			return nil, err
		}
		list.items = append(list.items, v)
	}
	_, err := dec.Token()
	return list, err
}

func (im *importer) dict(dec *json.Decoder) (Value, error) {
	var entries []entry
	for dec.More() {
		k, err := im.decode(dec)
		if err != nil {
			return nil, err
		}
		v, err := im.decode(dec)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{k, v})
	}
	_, err := dec.Token()
	return im.dictOf(entries), err
}

func numberValue(n json.Number) (Value, error) {
	s := n.String()
	if !strings.ContainsAny(s, ".eE") {
		if len(s) > maxDigits {
			return nil, fmt.Errorf("make value: an integer of more than %d digits", maxDigits)
		}
		if z, ok := new(big.Int).SetString(s, 10); ok {
			return normal(z), nil
		}
		return nil, fmt.Errorf("make value: %q is no number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, fmt.Errorf("make value: %q is no number", s)
	}
	return Float(f), nil // out of range is infinity, as for json.loads
}
