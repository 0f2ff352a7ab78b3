// Package jsonschema checks JSON values against JSON Schema, draft 2020-12, as
// far as the schemas of replies and tools go. The words of a fault are its own:
// they are quoted in prompts and are thus part of keys, and change only when
// noema means them to.
//
// A schema is refused if it uses a keyword of the draft that would be ignored:
// conditions, contains, rules on names and dependencies, anchors and dynamic
// references, $id below the root. As the draft says, format and the content of
// texts are notes, not rules. Patterns are Go's regular expressions, which take
// linear time.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	kind    []rule    // type, const and enum: the first fault of these is the only one
	rules   []rule    // all others
	inPlace []*Schema // those that rules apply to the same value
	mark    mark
}

// rule adds the faults of v, which stands at place.
type rule func(c *check, place []string, v any)

// Fault is one way in which a value departs from its schema.
type Fault struct {
	Place []string // keys and indices from the root to the value at fault
	Rule  string   // the schema's keyword that is not met, such as "required"
	Text  string   // such as "got string, want number"
}

// String is the fault on one line, with its place.
func (f Fault) String() string {
	if len(f.Place) == 0 {
		return f.Text
	}
	return "at /" + strings.Join(f.Place, "/") + ": " + f.Text
}

// Limits on one check. A reply can be made to break a rule many times; beyond
// maxFaults the rest is not listed. A schema of references to references can ask
// for more work than there is time.
const (
	maxFaults = 1000
	maxSteps  = 2_000_000
)

var errWork = fmt.Errorf("check value: this takes more than %d steps: make the value or the schema smaller", maxSteps)

// Parse reads one JSON value, with numbers as json.Number.
func Parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the JSON value")
	}
	return v, nil
}

// Faults lists how a value of [Parse] departs from the schema, sorted by what
// they say and none twice. The error says that the check was given up.
func (s *Schema) Faults(v any) ([]Fault, error) {
	c := &check{}
	s.apply(c, nil, v)
	if c.steps > maxSteps {
		return nil, errWork
	}
	list := c.faults
	slices.SortFunc(list, func(a, b Fault) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(list, func(a, b Fault) bool { return a.String() == b.String() }), nil
}

// check is one value being checked.
type check struct {
	faults []Fault
	steps  int
}

func (c *check) fault(place []string, rule, format string, args ...any) {
	if len(c.faults) < maxFaults {
		c.faults = append(c.faults, Fault{slices.Clone(place), rule, fmt.Sprintf(format, args...)})
	}
}

// apply adds the faults of v under s.
func (s *Schema) apply(c *check, place []string, v any) {
	if c.steps++; c.steps > maxSteps {
		return
	}
	before := len(c.faults)
	for _, r := range s.kind {
		if r(c, place, v); len(c.faults) > before {
			return
		}
	}
	for _, r := range s.rules {
		r(c, place, v)
	}
}

// try returns the faults of v under s without adding them.
func (s *Schema) try(c *check, place []string, v any) []Fault {
	kept := c.faults
	c.faults = nil
	s.apply(c, place, v)
	found := c.faults
	c.faults = kept
	return found
}

// add takes over faults that try found.
func (c *check) add(found []Fault) {
	c.faults = append(c.faults, found[:min(len(found), maxFaults-len(c.faults))]...)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
