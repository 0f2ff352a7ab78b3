package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// maxElement bounds one element of a JSON list.
const maxElement = 24 << 20

// EachElement calls each for every element of the JSON list that a file is, with
// its number from 1. It keeps no more than one of them in memory, and stops at
// the first error, which it places.
func EachElement(path string, each func(number int, raw []byte) error) error {
	f, err := Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading: closing cannot lose anything
	name := filepath.Base(path)
	in := &limited{r: f, name: path, limit: maxElement, left: maxElement}
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
		err := d.Decode(&raw)
		if err == nil {
			err = each(number, raw)
		}
		if err != nil {
			return fmt.Errorf("%s: element %d: %w", name, number, err)
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
