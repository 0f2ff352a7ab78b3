package generalanot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
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
//     output_specification;
//   - operations: filter, extract, compute with an op for each step, output.
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
	c := &converter{output: map[string]bool{}, said: map[Fault]bool{}, words: map[string]bool{}, Conversion: &Conversion{Seed: &FormulaSeed{FilterKeywords: []string{}, ExtractionFields: []ExtractionField{}}}}
	switch {
	case top.has("calculation_steps", "per_review_extraction_schema", "aggregation_definitions"):
		c.sections(top)
	case top.has("extract", "compute"):
		c.operations(top)
	default:
		c.lists(top)
	}
	c.finish()
	return c.Conversion, nil
}

// foreign reports whether an object has a key that only other forms have.
func (o object) foreign() bool {
	if o.has("version", "computations", "steps", "array_assemblies", "assemblies", "aggregations", "verdict_rule",
		"extraction_prompt_template", "fields", "keywords", "name_map", "extract", "compute", "calculation_steps", "per_review_extraction_schema") {
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
	words   map[string]bool   // the keywords so far
	outputs string            // where the file has the output fields
	filters map[string]string // tests by name, of the form with operations
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
	s.TaskName = cmp.Or(s.TaskName, "converted")
	c.prompt()
	for _, f := range Validate(s, methods.AnswerSpec{}) {
		if rest, ok := strings.CutPrefix(f.Path, "compute_dag["); ok {
			number, rest, _ := strings.Cut(rest, "].")
			if i, err := strconv.Atoi(number); err == nil && i < len(c.origins) {
				f.Path = join(c.origins[i], rest)
			}
		}
		if rest, ok := strings.CutPrefix(f.Path, "output_fields"); ok && c.outputs != "" {
			f.Path = c.outputs + rest
		}
		if strings.Contains(f.Text, "parse expression") {
			f.Text += ": write it as one Python expression"
		}
		c.add(&c.Faults, f)
	}
}

// step adds a step of the DAG and notes where it came from.
func (c *converter) step(origin, name, formula string) {
	if c.full("computations", len(c.Seed.ComputeDAG)) {
		return
	}
	c.Seed.ComputeDAG = append(c.Seed.ComputeDAG, ComputeStep{Name: name, Formula: c.formula(formula)})
	c.origins = append(c.origins, origin)
}

// full bounds what a file can cost.
func (c *converter) full(list string, n int) bool {
	if n >= maxSteps {
		c.fault(list, "there are more than %d: the rest is not read", maxSteps)
	}
	return n >= maxSteps
}
