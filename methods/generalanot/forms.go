package generalanot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

// Conversion is a Formula Seed of another form, turned into ours.
type Conversion struct {
	Seed *FormulaSeed
	// Faults are all that could not be converted, by their place in the file.
	// A formula that is not Python stands in the seed as it was, to be edited.
	Faults []Fault
	// Notes are what is read otherwise than the original reads it, and what
	// has no effect and is left out.
	Notes []Fault
}

// Read reads a Formula Seed in our form or in one of those that the public
// project has written; see [Convert]. Its error lists all faults at once.
func Read(raw []byte) (*FormulaSeed, error) {
	c, err := Convert(raw)
	if err != nil {
		return nil, err
	}
	if len(c.Faults) > 0 {
		return nil, &FormError{c.Faults}
	}
	return c.Seed, nil
}

// FormError lists what in a Formula Seed of another form cannot be converted.
type FormError struct{ Faults []Fault }

func (e *FormError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = "\n  " + f.String()
	}
	return "convert formula seed: it has another form, of which this cannot be converted:" + strings.Join(lines, "")
}

// Convert turns a Formula Seed of any form into ours. A seed in our own form
// comes back as it is. The others, told apart by their keys:
//
//   - lists: extraction_fields with field_type, computations, aggregations,
//     array_assemblies, lookups with a mapping, verdict_rule;
//   - sections: version, filtering, per_review_extraction_schema,
//     aggregation_definitions, external_data_and_lookup, calculation_steps,
//     output_specification.
//
// Its error is that the file is not a JSON object.
func Convert(raw []byte) (*Conversion, error) {
	top, err := readObject(raw)
	if err != nil {
		return nil, fmt.Errorf("parse formula seed: %w", err)
	}
	if !top.foreign() {
		s, err := Parse(raw)
		return &Conversion{Seed: s}, err
	}
	c := &converter{output: map[string]bool{}, said: map[Fault]bool{}, Conversion: &Conversion{Seed: &FormulaSeed{FilterKeywords: []string{}, ExtractionFields: []ExtractionField{}}}}
	if top.has("calculation_steps", "per_review_extraction_schema", "aggregation_definitions") {
		c.sections(top)
	} else {
		c.lists(top)
	}
	c.finish()
	return c.Conversion, nil
}

// foreign reports whether an object has a key that only other forms have.
func (o object) foreign() bool {
	if o.has("version", "computations", "steps", "array_assemblies", "assemblies", "aggregations", "verdict_rule",
		"extraction_prompt_template", "fields", "keywords", "name_map", "calculation_steps", "per_review_extraction_schema") {
		return true
	}
	for _, list := range []struct {
		name string
		keys []string
	}{{"extraction_fields", []string{"field_type", "description", "extraction_hint", "options"}}, {"lookups", []string{"mapping", "source_field"}},
		{"compute_dag", []string{"depends_on", "expression", "expr", "is_output"}}} {
		m := o.find(list.name)
		if m == nil {
			continue
		}
		var raws []json.RawMessage
		_ = json.Unmarshal(m.raw, &raws) // what is not a list is faulted where it is read
		for _, raw := range raws {
			if e, err := readObject(raw); err == nil && e.has(list.keys...) {
				return true
			}
		}
	}
	return false
}

// converter is at work on one seed.
type converter struct {
	*Conversion
	origins []string        // of the steps, in the file
	output  map[string]bool // steps that say is_output
	said    map[Fault]bool
}

func (c *converter) fault(path, format string, args ...any) {
	c.add(&c.Faults, Fault{path, fmt.Sprintf(format, args...)})
}

func (c *converter) add(to *[]Fault, f Fault) {
	if !c.said[f] {
		c.said[f] = true
		*to = append(*to, f)
	}
}

func (c *converter) note(path, format string, args ...any) {
	c.add(&c.Notes, Fault{path, fmt.Sprintf(format, args...)})
}

// finish validates what came of it; its faults get the paths of the file.
func (c *converter) finish() {
	s := c.Seed
	if s.TaskName == "" {
		s.TaskName = "converted"
	}
	c.prompt()
	for _, f := range Validate(s, methods.AnswerSpec{}) {
		for i, origin := range c.origins {
			if rest, ok := strings.CutPrefix(f.Path, index("compute_dag", i)+"."); ok {
				f.Path = join(origin, rest)
				break
			}
		}
		if strings.Contains(f.Text, "parse expression") {
			f.Text += ": write it as one Python expression"
		}
		c.add(&c.Faults, f)
	}
}

// step adds a step of the DAG and notes where it came from.
func (c *converter) step(origin, name, formula string) {
	c.Seed.ComputeDAG = append(c.Seed.ComputeDAG, ComputeStep{Name: name, Formula: c.formula(formula)})
	c.origins = append(c.origins, origin)
}

// object is a JSON object whose keys keep their order.
type object []member

type member struct {
	key  string
	raw  json.RawMessage
	used bool
}

func readObject(raw []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	t, err := d.Token()
	if err != nil {
		return nil, place(raw, err)
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("want an object, not %.20q", raw)
	}
	var o object
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, place(raw, err)
		}
		m := member{key: key.(string)} // the decoder accepts no other key
		if err := d.Decode(&m.raw); err != nil {
			return nil, place(raw, err)
		}
		o = append(o, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, place(raw, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more text after the object")
	}
	return o, nil
}

func (o object) has(keys ...string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return slices.Contains(keys, m.key) })
}

// find is the first member with one of the names, or nil; it counts as read.
func (o object) find(names ...string) *member {
	for i := range o {
		if slices.Contains(names, o[i].key) {
			o[i].used = true
			return &o[i]
		}
	}
	return nil
}

// decode reads a value into to, if the object has it.
func (c *converter) decode(o object, path string, to any, names ...string) bool {
	m := o.find(names...)
	if m == nil || string(m.raw) == "null" {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(m.raw))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		c.fault(join(path, m.key), "%v", err)
		return false
	}
	return true
}

func (c *converter) text(o object, path string, names ...string) string {
	var s string
	c.decode(o, path, &s, names...)
	return s
}

// object reads an object within another.
func (c *converter) object(o object, path string, names ...string) (object, string) {
	m := o.find(names...)
	if m == nil || string(m.raw) == "null" {
		return nil, ""
	}
	at := join(path, m.key)
	inner, err := readObject(m.raw)
	if err != nil {
		c.fault(at, "%v", err)
	}
	return inner, at
}

// each visits the objects of a list, then names what was not read of them.
func (c *converter) each(o object, do func(e object, at string), names ...string) {
	m := o.find(names...)
	var raws []json.RawMessage
	if m == nil || !c.decode(o, "", &raws, m.key) {
		return
	}
	for i, raw := range raws {
		at := index(m.key, i)
		e, err := readObject(raw)
		if err != nil {
			c.fault(at, "%v", err)
			continue
		}
		do(e, at)
		c.rest(e, at)
	}
}

// rest names the keys that nothing has read.
func (c *converter) rest(o object, path string) {
	for _, m := range o {
		if !m.used {
			c.fault(join(path, m.key), "the key is not known in any form of a Formula Seed: remove it, or write a step for what it does")
		}
	}
}

// unused are keys without an effect on the result.
func (c *converter) unused(o object, path, why string, names ...string) {
	for _, name := range names {
		if m := o.find(name); m != nil && !slices.Contains([]string{"null", `""`, "[]", "{}", "false"}, string(m.raw)) {
			c.note(listIndex.ReplaceAllString(join(path, name), "[*]"), "left out: %s", why) // once for a list
		}
	}
}

var listIndex = regexp.MustCompile(`\[\d+\]`)

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
