package methods

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
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
// Fields are bool, string, integers, floats, or a pointer to one of these,
// which stays nil when nothing is given. [OptionsOf] lists the declared options,
// [ParseOptions] reads them as text and [DecodeOptions] as JSON.

// OptionsOf lists the options that the tags of the struct declare, in the order
// of its fields. The documentation of an option names its range. It panics on
// a field type that no option has, because only a changed program can cure that.
func OptionsOf(declared any) []Option {
	var out []Option
	for _, f := range optionFields(reflect.ValueOf(declared)) {
		out = append(out, f.Option)
	}
	return out
}

// ParseOptions fills the struct that into points at: first the defaults of
// fields that are still zero, then the values in given, as a user types them.
// Faults are errors that name the option: an unknown name, a value of another
// type, outside the choices or outside the range.
func ParseOptions(given map[string]string, into any) error {
	values := map[string]json.RawMessage{}
	fields := optionFields(reflect.ValueOf(into).Elem())
	for name, text := range given {
		i := slices.IndexFunc(fields, func(f optionField) bool { return f.Name == name })
		if i < 0 {
			continue // fill names it
		}
		v, err := fields[i].Parse(text)
		if err != nil {
			return fmt.Errorf("option %q: %w", name, err)
		}
		if values[name], err = json.Marshal(v); err != nil {
			return fmt.Errorf("option %q: %w", name, err)
		}
	}
	for name := range given {
		if _, ok := values[name]; !ok {
			values[name] = nil
		}
	}
	return fillOptions(fields, values)
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
	if err := fillOptions(optionFields(reflect.ValueOf(into).Elem()), values); err != nil {
		return fmt.Errorf("decode options: %w", err)
	}
	return nil
}

// Parse reads a value of the option as a user types it: a bool, int64, float64
// or string.
func (o Option) Parse(text string) (v any, err error) {
	if len(o.Choices) > 0 && !slices.Contains(o.Choices, text) {
		return nil, fmt.Errorf("%q is not among %s", text, strings.Join(o.Choices, ", "))
	}
	switch o.Type {
	case BoolOption:
		if v, err = strconv.ParseBool(text); err != nil {
			return nil, fmt.Errorf("%q is not true or false", text)
		}
	case IntOption:
		if v, err = strconv.ParseInt(text, 10, 64); err != nil {
			if v, err = strconv.ParseUint(text, 10, 64); err != nil { // seeds use all 64 bits
				return nil, fmt.Errorf("%q is not a whole number", text)
			}
		}
	case NumberOption:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || x-x != 0 {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		v = x
	default:
		v = text
	}
	return v, nil
}

// UnknownOption is the error for an option that does not exist. It names those
// that do and suggests the nearest.
func UnknownOption(name string, known []Option) error {
	if len(known) == 0 {
		return fmt.Errorf("unknown option %q: there are no options", name)
	}
	names := make([]string, len(known))
	for i, o := range known {
		names[i] = o.Name
	}
	return fmt.Errorf("unknown option %q%s: the options are %s", name, DidYouMean(name, names), strings.Join(names, ", "))
}

// optionField is one declared option with the field that holds its value.
type optionField struct {
	Option
	value    reflect.Value
	min, max *float64
}

func optionFields(v reflect.Value) []optionField {
	var out []optionField
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		f := optionField{value: v.Field(i), min: bound(tag, "min"), max: bound(tag, "max")}
		f.Option = Option{Name: name, Type: optionType(v.Type().Field(i).Type), Default: tag.Get("default"), Doc: tag.Get("doc")}
		if choices := tag.Get("choices"); choices != "" {
			f.Choices = strings.Split(choices, ",")
		}
		f.Doc += f.span()
		out = append(out, f)
	}
	return out
}

func bound(tag reflect.StructTag, name string) *float64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("methods: tag %s:%q is not a number", name, text))
	}
	return &x
}

func optionType(t reflect.Type) OptionType {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
	case t.Kind() == reflect.Bool:
		return BoolOption
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return IntOption
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return NumberOption
	case t.Kind() == reflect.String:
		return StringOption
	}
	panic(fmt.Sprintf("methods: a field of type %s cannot hold an option", t))
}

// span says the range in words, for the documentation.
func (f optionField) span() string {
	switch {
	case f.min != nil && f.max != nil:
		return fmt.Sprintf(", %s to %s", short(*f.min), short(*f.max))
	case f.min != nil && *f.min > 0:
		return fmt.Sprintf(", at least %s", short(*f.min))
	case f.max != nil:
		return fmt.Sprintf(", at most %s", short(*f.max))
	}
	return ""
}

func short(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// fillOptions sets defaults, then the values, and checks the result.
func fillOptions(fields []optionField, values map[string]json.RawMessage) error {
	for _, f := range fields {
		raw, given := values[f.Name]
		delete(values, f.Name)
		if !given && f.Default != "" && f.value.IsZero() {
			v, err := f.Parse(f.Default)
			if err != nil {
				panic(fmt.Sprintf("methods: default of option %q: %v", f.Name, err))
			}
			raw, _ = json.Marshal(v) // a bool, number or string
			given = true
		}
		if given {
			if err := f.set(raw); err != nil {
				return fmt.Errorf("option %q: %w", f.Name, err)
			}
		}
		if err := f.check(); err != nil {
			return fmt.Errorf("option %q: %w", f.Name, err)
		}
	}
	all := make([]Option, len(fields))
	for i, f := range fields {
		all[i] = f.Option
	}
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		return UnknownOption(name, all)
	}
	return nil
}

func (f optionField) set(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, f.value.Addr().Interface()); err != nil {
		return fmt.Errorf("%.100s does not fit type %s", raw, f.value.Type())
	}
	return nil
}

// check holds a value to the choices and the range. An option that is not given
// and has no default is not checked.
func (f optionField) check() error {
	v := f.value
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if text := fmt.Sprint(v.Interface()); len(f.Choices) > 0 && !slices.Contains(f.Choices, text) {
		return fmt.Errorf("%q is not among %s", text, strings.Join(f.Choices, ", "))
	}
	var x float64
	switch {
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	case v.CanFloat():
		x = v.Float()
	default:
		return nil
	}
	if f.min != nil && !(x >= *f.min) {
		return fmt.Errorf("%s is too small: the minimum is %s", short(x), short(*f.min))
	}
	if f.max != nil && !(x <= *f.max) {
		return fmt.Errorf("%s is too large: the maximum is %s", short(x), short(*f.max))
	}
	return nil
}
