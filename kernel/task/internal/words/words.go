// Package words says in plain words why JSON does not have the expected form.
package words

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// Of is err, an error of encoding/json, without the names of Go types.
func Of(err error) error {
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%q must be %s, not %s", strings.ToLower(kind.Field), Form(kind.Type), found(kind.Value))
	case errors.As(err, &kind):
		return fmt.Errorf("want %s, not %s", Form(kind.Type), found(kind.Value))
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}

// At is Of with the name of a file and the line of raw, its content.
func At(name string, raw []byte, err error) error {
	offset := 0
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset)
	case errors.As(err, &kind):
		offset = int(kind.Offset)
	}
	return fmt.Errorf("%s:%d: %w", name, Line(raw, offset), Of(err))
}

// Line is the number of the line at an offset, from 1.
func Line(raw []byte, offset int) int {
	return 1 + bytes.Count(raw[:min(max(offset, 0), len(raw))], []byte("\n"))
}

// found names the JSON value that stood there.
func found(value string) string {
	kind, number, _ := strings.Cut(value, " ") // as in "number 2.5"
	switch {
	case number != "":
		return number
	case kind == "string":
		return "a text"
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	case kind == "bool":
		return "true or false"
	}
	return "a " + kind
}

// Form names the JSON value that a type is read from.
func Form(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return Form(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list" + members(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// members names what a list holds, if all its members have one form.
func members(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return " of texts"
	case reflect.Struct, reflect.Map:
		return " of objects"
	case reflect.Int:
		return " of whole numbers"
	}
	return ""
}
