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
// number from 1; name is for errors. It keeps no more than one element in memory,
// stops at the first error, and places its own; those of each come back as they are.
func EachElement(r io.Reader, name string, each func(number int, raw []byte) error) error {
	in := &limited{r: r, name: name, limit: maxElement, left: maxElement}
	d := json.NewDecoder(in)
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		if err != nil {
			return fmt.Errorf("%s:1: %w", name, err)
		}
		if t == json.Delim('{') {
			return fmt.Errorf("%s:1: want a list of objects, not an object", name)
		}
		return fmt.Errorf("%s:1: want a list of objects, not %v", name, t)
	}
	number := 1
	for ; d.More(); number++ {
		in.left = maxElement
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("%s: element %d: %w", name, number, err)
		}
		if err := each(number, raw); err != nil {
			return err
		}
	}
	in.left = maxElement
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("%s: after element %d: %w", name, number-1, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something follows the JSON list", name)
	}
	return nil
}
