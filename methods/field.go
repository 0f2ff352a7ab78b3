package methods

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Field is an option together with the struct field that holds its value.
type Field struct {
	Option
	Min, Max *float64          // nil without a bound
	Tag      reflect.StructTag // with whatever else the declaration says
	value    reflect.Value
}

// FieldsOf lists the options that the struct behind a pointer declares, those of
// embedded structs included. Fields without a json name are not options.
func FieldsOf(pointer any) []Field { return fieldsOf(reflect.ValueOf(pointer).Elem()) }

func fieldsOf(v reflect.Value) []Field {
	var out []Field
	for i := range v.NumField() {
		declared := v.Type().Field(i)
		name, _, _ := strings.Cut(declared.Tag.Get("json"), ",")
		switch {
		case declared.Anonymous && name == "":
			out = append(out, fieldsOf(v.Field(i))...)
			continue
		case name == "" || name == "-":
			continue
		}
		tag := declared.Tag
		f := Field{Min: bound(tag, "min"), Max: bound(tag, "max"), Tag: tag, value: v.Field(i)}
		f.Option = Option{Name: name, Type: optionType(declared.Type), Default: tag.Get("default"), Doc: tag.Get("doc")}
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
		return DurationOption
	case t == reflect.TypeFor[ModelName]():
		return ModelOption
	case t.Kind() == reflect.Bool:
		return BoolOption
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return IntOption
	case t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32:
		return NumberOption
	case t.Kind() == reflect.String, t.Kind() == reflect.Interface: // of another type only where Go code sets it
		return StringOption
	case t == reflect.TypeFor[[]string](), t == reflect.TypeFor[[]int]():
		return ListOption
	case t == reflect.TypeFor[map[string]string]():
		return MapOption
	}
	panic(fmt.Sprintf("methods: a field of type %s cannot hold an option", t))
}

// span says the range in words, for the documentation.
func (f Field) span() string {
	switch {
	case f.Type == DurationOption: // whose bounds are in seconds
	case f.Min != nil && f.Max != nil:
		return fmt.Sprintf(", %s to %s", short(*f.Min), short(*f.Max))
	case f.Min != nil && *f.Min > 0:
		return fmt.Sprintf(", at least %s", short(*f.Min))
	case f.Max != nil:
		return fmt.Sprintf(", at most %s", short(*f.Max))
	}
	return ""
}

func short(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// words writes a value of the field as a user does: a duration, which is given in
// seconds, as 2s.
func (f Field) words(x float64) string {
	if f.Type == DurationOption {
		return time.Duration(math.Round(x * float64(time.Second))).String()
	}
	return short(x)
}

// IsZero reports whether the field holds its zero value, which means that
// nothing was given.
func (f Field) IsZero() bool { return f.value.IsZero() }

// Clear sets the field to its zero value.
func (f Field) Clear() { f.value.SetZero() }

// ApplyDefault sets a zero field to its declared default. A default that the
// field cannot hold is a mistake in the program and panics.
func (f Field) ApplyDefault() {
	if f.Default == "" || !f.IsZero() {
		return
	}
	if err := f.Set(f.Default); err != nil {
		panic(fmt.Sprintf("methods: default of option %q: %v", f.Name, err))
	}
}

// Set reads a value as a user types it and checks it. A list takes values
// separated by commas and appends them; a map takes one key=value.
func (f Field) Set(text string) error {
	if zero, ok := f.Tag.Lookup("zero"); ok && text == "0" {
		text = zero
	}
	switch f.Type {
	case DurationOption:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration such as 90s or 15m", text)
		}
		f.value.SetInt(int64(d))
		return f.Check()
	case ListOption:
		return f.add(text)
	case MapOption:
		return f.put(text)
	}
	v, err := f.Parse(text)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.setJSON(raw)
}

func (f Field) setJSON(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, f.value.Addr().Interface()); err != nil {
		return fmt.Errorf("%.100s does not fit type %s", raw, f.value.Type())
	}
	return f.Check()
}

func (f Field) add(text string) error {
	values, err := csv.NewReader(strings.NewReader(text)).Read()
	if errors.Is(err, io.EOF) {
		return errors.New("it is empty: give at least one value")
	}
	if err != nil {
		return fmt.Errorf("%q is not a list: separate its values by commas", text)
	}
	for _, value := range values {
		item := reflect.ValueOf(value)
		if f.value.Type().Elem().Kind() == reflect.Int {
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("%q is not a whole number", value)
			}
			item = reflect.ValueOf(n)
		}
		f.value.Set(reflect.Append(f.value, item))
	}
	return nil
}

func (f Field) put(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok || key == "" {
		return fmt.Errorf("%q: use key=value", text)
	}
	if f.value.IsNil() {
		f.value.Set(reflect.ValueOf(map[string]string{}))
	}
	if f.value.MapIndex(reflect.ValueOf(key)).IsValid() {
		return fmt.Errorf("%q: %q is given twice", text, key)
	}
	f.value.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
	return nil
}

// Check holds the value to the choices and the range. Nothing given passes.
func (f Field) Check() error {
	v := f.value
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if text := fmt.Sprint(v.Interface()); len(f.Choices) > 0 && !slices.Contains(f.Choices, text) && text != "" {
		return fmt.Errorf("%q is not among %s", text, strings.Join(f.Choices, ", "))
	}
	var x float64
	switch {
	case f.Type == DurationOption:
		x = time.Duration(v.Int()).Seconds()
	case v.CanInt():
		x = float64(v.Int())
	case v.CanUint():
		x = float64(v.Uint())
	case v.CanFloat():
		x = v.Float()
	default:
		return nil
	}
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return errors.New("it must be a finite number")
	case f.Min != nil && x < *f.Min:
		return fmt.Errorf("%s is too small: the minimum is %s", f.words(x), f.words(*f.Min))
	case f.Max != nil && x > *f.Max:
		return fmt.Errorf("%s is too large: the maximum is %s", f.words(x), f.words(*f.Max))
	}
	return nil
}

// Parse reads a value of the option as a user types it: a bool, an integer, a
// float64 or a string.
func (o Option) Parse(text string) (any, error) {
	if len(o.Choices) > 0 && !slices.Contains(o.Choices, text) {
		return nil, fmt.Errorf("%q is not among %s", text, strings.Join(o.Choices, ", "))
	}
	switch o.Type {
	case BoolOption:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is not true or false", text)
		}
		return v, nil
	case IntOption:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v, nil
		}
		v, err := strconv.ParseUint(text, 10, 64) // seeds use all 64 bits
		if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return v, nil
	case NumberOption:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return v, nil
	}
	return text, o.checkPlaces(text)
}

// aPlace is where a text that a user can replace has something put into it.
var aPlace = regexp.MustCompile(`\{[a-z_]+\}`)

// checkPlaces refuses places that the default does not have, if it has any: nothing
// would be put there.
func (o Option) checkPlaces(text string) error {
	known := aPlace.FindAllString(o.Default, -1)
	for _, place := range aPlace.FindAllString(text, -1) {
		if len(known) > 0 && !slices.Contains(known, place) {
			return fmt.Errorf("nothing is put in the place of %s%s: use %s", place, DidYouMean(place, known), strings.Join(known, " and "))
		}
	}
	return nil
}
