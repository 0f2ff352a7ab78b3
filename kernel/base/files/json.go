package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxElement bounds one element of a JSON list.
const maxElement = 24 << 20

// EachElement calls each for every element of the JSON list that r holds, with its
// number from 1; name is for errors. In place of the list there may be an object, of which
// one member is a list of objects; or, with bare set, the elements alone, one after the other. It keeps no more than one element in memory, stops at
// the first error, and places its own; those of each come back as they are.
func EachElement(r io.Reader, name string, bare bool, each func(number int, raw []byte) error) error {
	in := &limited{r: r, name: name, limit: maxElement, left: maxElement}
	l := &lister{d: json.NewDecoder(in), in: in, name: name, each: each}
	var t json.Token
	var err error
	if !bare {
		t, err = l.d.Token()
	}
	switch {
	case bare:
		_, err = l.elements(false)
	case err != nil:
		return fmt.Errorf("%s:1: %w", name, err)
	case t == json.Delim('{'):
		err = l.members()
	case t == json.Delim('['):
		_, err = l.list(false)
	default:
		return fmt.Errorf("%s:1: want a list of objects, not %v", name, t)
	}
	if err != nil {
		return err
	}
	if _, err := l.d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something follows the JSON", name)
	}
	return nil
}

// lister walks through a JSON value for its list.
type lister struct {
	d      *json.Decoder
	in     *limited
	name   string
	each   func(number int, raw []byte) error
	member string // of the list, where it is an object's
}

// list reads a list that has begun, up to its end. With rows set, one that does not begin
// with an object is passed over, and the list is empty.
func (l *lister) list(rows bool) (number int, err error) {
	if number, err = l.elements(rows); err != nil {
		return 0, err
	}
	l.in.left = maxElement
	if _, err := l.d.Token(); err != nil {
		return 0, fmt.Errorf("%s: after element %d: %w", l.name, number, err)
	}
	return number, nil
}

// elements reads the elements of a list.
func (l *lister) elements(rows bool) (number int, err error) {
	skip := false
	for l.d.More() {
		l.in.left = maxElement
		var raw json.RawMessage
		if err := l.d.Decode(&raw); err != nil {
			return 0, fmt.Errorf("%s: element %d: %w", l.name, number+1, err)
		}
		if skip = skip || rows && number == 0 && raw[0] != '{'; skip {
			continue
		}
		number++
		if err := l.each(number, raw); err != nil {
			return 0, err
		}
	}
	return number, nil
}

// members reads an object that has begun, for the one list of objects that it holds.
func (l *lister) members() error {
	for l.d.More() {
		l.in.left = maxElement
		key, err := l.d.Token()
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		value, err := l.d.Token()
		for depth := 0; err == nil; value, err = l.d.Token() {
			if value == json.Delim('[') && depth == 0 {
				var n int
				before := l.each
				if l.member != "" {
					l.each = func(int, []byte) error {
						return fmt.Errorf("%s: the object has two lists of objects, %q and %q: write the rows of one as a list", l.name, l.member, key)
					}
				}
				if n, err = l.list(true); err != nil {
					return err
				}
				if l.each = before; n > 0 {
					l.member = fmt.Sprint(key)
				}
				break
			}
			switch value {
			case json.Delim('{'), json.Delim('['):
				depth++
			case json.Delim('}'), json.Delim(']'):
				depth--
			}
			l.in.left = maxElement
			if depth == 0 {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	if _, err := l.d.Token(); err != nil {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	if l.member == "" {
		return fmt.Errorf("%s: the file is one JSON object without a list of objects: write the rows as a list, or one on each line", l.name)
	}
	return nil
}
