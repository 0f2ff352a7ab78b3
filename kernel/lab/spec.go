package lab

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"sort"
	"strings"

	"noema/methods"
)

// Spec is a name with options, as in "anot?builder=compiled&retries=0".
type Spec struct {
	Name    string
	Options map[string]string // never nil after ParseSpec
}

// ParseSpec reads the written form, whose options are those of a URL's query.
func ParseSpec(s string) (Spec, error) {
	name, query, _ := strings.Cut(s, "?")
	if name == "" {
		return Spec{}, fmt.Errorf("parse %q: no name", s)
	}
	out := Spec{Name: name, Options: map[string]string{}}
	values, err := url.ParseQuery(query)
	if err != nil {
		return Spec{}, fmt.Errorf("parse %q: %w", s, err)
	}
	for key, v := range values {
		if len(v) != 1 {
			return Spec{}, fmt.Errorf("parse %q: option %q is given %d times", s, key, len(v))
		}
		out.Options[key] = v[0]
	}
	return out, nil
}

// Label is the spec in its one canonical form.
func (s Spec) Label(name string) string {
	if len(s.Options) == 0 {
		return name
	}
	pairs := make([]string, 0, len(s.Options))
	for k, v := range s.Options {
		pairs = append(pairs, k+"="+v)
	}
	sort.Strings(pairs)
	return name + "?" + strings.Join(pairs, "&")
}

// encodeOptions types the values by the description and encodes them as the
// JSON object that a method gets. Nothing given is nil.
func encodeOptions(d methods.Description, given map[string]string) (json.RawMessage, error) {
	if len(given) == 0 {
		return nil, nil
	}
	typed := map[string]any{}
	for name, value := range given {
		i := slices.IndexFunc(d.Options, func(o methods.Option) bool { return o.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("method %q: %w", d.Name, methods.UnknownOption(name, optionNames(d)))
		}
		v, err := d.Options[i].Parse(value)
		if err != nil {
			return nil, fmt.Errorf("method %q: option %q: %w", d.Name, name, err)
		}
		typed[name] = v
	}
	return json.Marshal(typed)
}

// optionNames lists what a method can be given: its own options and shuffle,
// which the kernel keeps for every method.
func optionNames(d methods.Description) []string {
	names := []string{shuffleOption}
	for _, o := range d.Options {
		names = append(names, o.Name)
	}
	return names
}
