package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// Options of methods, tasks and models are declared once, as a struct whose
// fields have tags:
//
//	type options struct {
//		Builder string `json:"builder" default:"react" choices:"react,compiled" doc:"who writes the LWT"`
//		Retries int    `json:"retries" default:"2" min:"0" doc:"how often an unusable reply is asked for again"`
//	}
//
// json is the name that users write; default, choices, min and max are optional.
// A zero value with "0" in its own right is written as `zero:"-1"`: a typed 0
// is then kept as that value, because a zero field means the default. Fields
// are bool, string, integers, floats, or a pointer to one of these, which stays
// nil when nothing is given. [OptionsOf] lists the declared options,
// [ParseOptions] reads them as text and [DecodeOptions] as JSON.

// OptionsOf lists the options that the tags of the struct declare, in the order
// of its fields. The documentation of an option names its range. It panics on
// a field type that no option has, because only a changed program can cure that.
func OptionsOf(declared any) []Option {
	copied := reflect.New(reflect.TypeOf(declared))
	copied.Elem().Set(reflect.ValueOf(declared))
	var out []Option
	for _, f := range FieldsOf(copied.Interface()) {
		out = append(out, f.Option)
	}
	return out
}

// ParseOptions fills the struct that into points at: first the defaults of
// fields that are still zero, then the values in given, as a user types them.
// Faults are errors that name the option: an unknown name, a value of another
// type, outside the choices or outside the range.
func ParseOptions(given map[string]string, into any) error {
	return fillOptions(given, into, Field.Set)
}

// DecodeOptions fills the struct that into points at from p.Options, in the way
// of [ParseOptions]. Fields that p.Options does not name and that have no
// declared default keep their values.
func DecodeOptions(p Problem, into any) error {
	values := map[string]json.RawMessage{}
	if len(p.Options) > 0 {
		d := json.NewDecoder(bytes.NewReader(p.Options))
		if err := d.Decode(&values); err != nil {
			return fmt.Errorf("decode options %.200q: %w", p.Options, err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("decode options %.200q: more than one value", p.Options)
		}
	}
	if err := fillOptions(values, into, Field.setJSON); err != nil {
		return fmt.Errorf("decode options: %w", err)
	}
	return nil
}

// fillOptions applies the defaults, then the given values in the order of the
// fields, and checks the result.
func fillOptions[T any](given map[string]T, into any, set func(Field, T) error) error {
	fields := FieldsOf(into)
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.Name
		var err error
		if value, ok := given[f.Name]; ok {
			err = set(f, value)
		} else {
			f.ApplyDefault()
			err = f.Check()
		}
		if err != nil {
			return fmt.Errorf("option %q: %w", f.Name, err)
		}
	}
	var unknown []string
	for name := range given {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return UnknownOption(slices.Min(unknown), known)
	}
	return nil
}

// UnknownOption is the error for an option that does not exist. It names those
// that do and suggests the nearest.
func UnknownOption(name string, known []string) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown option %q: there are no options", name)
	}
	return fmt.Errorf("unknown option %q%s: the options are %s", name, DidYouMean(name, known), strings.Join(known, ", "))
}
