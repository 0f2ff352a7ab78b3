package generalanot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const (
	whyWords   = "it is for readers and has no effect"
	whyDerived = "it follows from the formulas"
)

// lists converts the form whose parts are lists: extraction_fields,
// computations, lookups and so on, under any of the names that they had.
func (c *converter) lists(top object) {
	s := c.Seed
	s.TaskName = c.text(top, "", "task_name", "name", "task")
	var words []string
	if !c.decode(top, "", &words, "filter_keywords", "keywords") {
		filter, at := c.object(top, "", "filter")
		c.decode(filter, at, &words, "keywords")
		c.rest(filter, at)
	}
	c.keywords(words)
	s.ExtractionPrompt = c.text(top, "", "extraction_prompt", "extraction_prompt_template", "prompt")
	c.each(top, "", func(o object, at string) { c.field(o, at, c.text(o, at, "name", "field")) }, "extraction_fields", "fields")
	c.each(top, "", c.listLookup, "lookups", "lookup_tables")
	c.each(top, "", c.assembly, "array_assemblies", "assemblies")
	for _, list := range []string{"aggregations", "computations", "compute_dag", "steps"} {
		c.each(top, "", c.computation, list)
	}
	c.verdictRule(top)
	c.handlingOf(top)
	if !c.outputFields(top, "", "output_fields", "outputs", "output") {
		c.outputsOfSteps()
	} else if len(c.output) > 0 {
		c.note("computations[*].is_output", "left out: output_fields says what the result is")
	}
	c.matchCase(top)
	c.lookupNames()
	c.unused(top, "", whyWords, "version", "description", "overview")
	c.unused(top, "", "formulas always have stars, date, year, useful and text", "review_metadata")
	c.rest(top, "")
	for _, l := range s.Lookups {
		c.inlineLookup(l.Name)
	}
}

// handlingOf reads the optional keys of our own form.
func (c *converter) handlingOf(top object) {
	c.decode(top, "", &c.Seed.ReviewHandling, "review_handling")
	c.decode(top, "", &c.Seed.ReviewValidity, "review_validity")
}

func (c *converter) listLookup(o object, at string) {
	name, field := c.text(o, at, "name"), c.text(o, at, "source_field", "field", "source")
	var other any
	c.decode(o, at, &other, "default")
	c.unused(o, at, whyWords, "description")
	var table []LookupEntry
	if m := o.find("table"); m != nil && strings.HasPrefix(string(m.raw), "[") { // our own form
		if c.decode(o, at, &table, "table"); c.full("lookups", len(c.Seed.Lookups)) {
			return
		}
		c.Seed.Lookups = append(c.Seed.Lookups, Lookup{name, field, table, other})
		return
	}
	mapping, inner := c.object(o, at, "mapping", "table", "map")
	c.lookup(name, inner, field, mapping, other)
}

// assembly is a list made of one field of the extractions, or a record made
// of values.
func (c *converter) assembly(o object, at string) {
	name := c.text(o, at, "array_name", "name")
	c.unused(o, at, whyWords, "description")
	c.unused(o, at, "a formula reads stars, date, year, useful and text of each extraction", "include_metadata")
	if o.has("fields", "values") {
		c.step(at, name, c.record(o, at))
		return
	}
	field, cond := c.text(o, at, "source_field", "field"), c.text(o, at, "filter_condition", "filter", "condition", "where")
	formula := fmt.Sprintf("[%s for e in extractions", c.element(field))
	if cond != "" {
		formula += " if " + c.condition(cond)
	}
	c.step(at, name, formula+"]")
}

// record is a dict display of named values, or of values under their names.
func (c *converter) record(o object, at string) string {
	var names []string
	var parts []string
	m := o.find("fields", "values")
	if err := json.Unmarshal(m.raw, &names); err == nil {
		for _, n := range names {
			parts = append(parts, fmt.Sprintf("%s: %s", pythonText(n), n))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	fields, inner := c.object(o, at, m.key)
	c.formulas(fields, inner, func(_, name, formula string) {
		parts = append(parts, fmt.Sprintf("%s: (%s)", pythonText(name), formula))
	})
	return "{" + strings.Join(parts, ", ") + "}"
}

// computation is a step with its formula.
func (c *converter) computation(o object, at string) {
	name, formula := c.text(o, at, "name", "id"), c.text(o, at, "formula", "expression", "expr")
	c.unused(o, at, whyDerived, "depends_on", "dependsOn", "dependencies", "is_aggregate", "type")
	c.unused(o, at, whyWords, "description")
	if m := o.find("is_output"); m != nil && string(m.raw) == "true" {
		c.output[name] = true
	}
	c.step(at, name, formula)
}

// verdictRule becomes one step of conditions.
func (c *converter) verdictRule(top object) {
	rule, at := c.object(top, "", "verdict_rule")
	if rule == nil {
		return
	}
	source := c.text(rule, at, "source_field", "source")
	formula, ends, otherwise := "", 0, "None"
	var thresholds []struct {
		Max, Min json.Number
		Verdict  string
	}
	c.decode(rule, at, &thresholds, "thresholds", "rules")
	for i, t := range thresholds {
		test := fmt.Sprintf("%s < %s", source, t.Max)
		if t.Max == "" {
			test = fmt.Sprintf("%s >= %s", source, t.Min)
		}
		if i == len(thresholds)-1 && (t.Max == "" || i > 0) {
			otherwise = pythonText(t.Verdict)
			break
		}
		formula += fmt.Sprintf("%s if %s else (", pythonText(t.Verdict), test)
		ends++
	}
	c.note(at, "a threshold's max is read as less than, and the last verdict as that of all other values")
	c.rest(rule, at)
	if !slices.ContainsFunc(c.Seed.ComputeDAG, func(s ComputeStep) bool { return strings.EqualFold(s.Name, verdictField) }) {
		c.step(at, verdictField, formula+otherwise+strings.Repeat(")", ends))
		return
	}
	c.note(at, "left out: a computation has the verdict")
}

func (c *converter) outputsOfSteps() {
	for _, s := range c.Seed.ComputeDAG {
		if c.output[s.Name] {
			c.Seed.OutputFields = append(c.Seed.OutputFields, s.Name)
		}
	}
	if len(c.Seed.OutputFields) > 0 {
		c.note("output_fields", "missing: the steps with is_output are taken")
	}
}

// matchCase gives the output fields the names of steps that differ from them
// only in upper and lower case, as the original does, or by name_map.
func (c *converter) matchCase(top object) {
	renamed := map[string]string{}
	c.decode(top, "", &renamed, "name_map")
	for i, name := range c.Seed.OutputFields {
		has := func(want string) func(ComputeStep) bool {
			return func(s ComputeStep) bool { return strings.EqualFold(s.Name, want) }
		}
		at := slices.IndexFunc(c.Seed.ComputeDAG, has(name))
		if at < 0 && renamed[name] != "" {
			at = slices.IndexFunc(c.Seed.ComputeDAG, has(renamed[name]))
		}
		if at < 0 || c.Seed.ComputeDAG[at].Name == name {
			continue
		}
		c.note(index("output_fields", i), "%q is read as the step %q", name, c.Seed.ComputeDAG[at].Name)
		c.Seed.OutputFields[i] = c.Seed.ComputeDAG[at].Name
	}
}

// lookupNames: a lookup that shares its name with a step gives way, for in the
// original the step is what others read; one that is an output becomes a step.
func (c *converter) lookupNames() {
	for i := range c.Seed.Lookups {
		l := &c.Seed.Lookups[i]
		isStep := slices.ContainsFunc(c.Seed.ComputeDAG, func(s ComputeStep) bool { return s.Name == l.Name })
		isOutput := slices.Contains(c.Seed.OutputFields, l.Name)
		if !isStep && !isOutput {
			continue
		}
		old := l.Name
		l.Name += "_lookup"
		if !isStep {
			c.step(index("lookups", i), old, l.Name)
		}
		c.note(index("lookups", i)+".name", "%q is the name of a step or an output too: the lookup is called %q", old, l.Name)
	}
}
