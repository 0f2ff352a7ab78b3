package generalanot

import (
	"encoding/json"
	"slices"
)

// sections converts the form that has a version and a section for each part.
// Its formulas are in part prose, which is named and stays to be rewritten.
func (c *converter) sections(top object) {
	c.Seed.TaskName = c.text(top, "", "task_name", "name")
	c.unused(top, "", whyWords, "version", "overview", "description", "data_sources")
	c.filtering(top)
	c.reviewFields(top)
	c.definitions(top)
	c.tables(top)
	c.calculations(top)
	out, at := c.object(top, "", "output_specification")
	c.outputFields(out, at, "reported_values", "output_fields")
	c.unused(out, at, whyWords, "format", "notes")
	c.rest(out, at)
	c.matchCase(top)
	c.lookupNames()
	c.rest(top, "")
}

func (c *converter) filtering(top object) {
	filtering, at := c.object(top, "", "filtering")
	var detectors []struct {
		Type            string
		Patterns        []string
		CaseInsensitive bool `json:"case_insensitive"`
	}
	c.decode(filtering, at, &detectors, "relevance_detectors")
	for _, d := range detectors {
		c.keywords(d.Patterns)
	}
	c.unused(filtering, at, whyWords, "purpose", "allergy_mentions_required", "scope_behavior", "notes")
	c.rest(filtering, at)
}

// reviewFields are the fields that a model fills in, among those that every
// review has.
func (c *converter) reviewFields(top object) {
	schema, at := c.object(top, "", "per_review_extraction_schema")
	fields, inner := c.object(schema, at, "target_review_fields", "fields")
	c.rest(schema, at)
	c.members(fields, inner, func(o object, at, name string) {
		if metadataOf(name) != "" || slices.Contains([]string{"review_id", "restaurant_id", "restaurant_categories"}, name) {
			c.note(at, "left out: it comes with the data")
			return
		}
		c.field(o, at, name)
		c.rules(o, at, name)
		c.unused(o, at, "a review whose extraction failed is left out, and counted", "default")
		c.rest(o, at)
	})
}

// rules are signs of a label; the prompt tells the model of them.
func (c *converter) rules(o object, at, field string) {
	rules, inner := c.object(o, at, "extraction_rules")
	for _, r := range rules {
		var signs []string
		if err := json.Unmarshal(r.raw, &signs); err != nil {
			c.fault(join(inner, r.key), "want a list of texts")
			continue
		}
		c.Seed.ExtractionPrompt += "\n" + field + ", " + r.key + ": " + string(plainJSON(signs))
	}
}

// definitions are counts: of a condition, or by a formula.
func (c *converter) definitions(top object) {
	all, at := c.object(top, "", "aggregation_definitions")
	c.members(all, at, func(o object, at, name string) {
		formula := c.text(o, at, "formula")
		if test := c.where(o, at, "condition", "where"); formula == "" {
			formula = "sum(1 for e in extractions" + test + ")"
		}
		c.unused(o, at, whyWords, "description")
		o.find("source") // always reviews
		c.rest(o, at)
		c.step(at, name, formula)
	})
}

// tables are lookups, told from rules by their scalars.
func (c *converter) tables(top object) {
	all, at := c.object(top, "", "external_data_and_lookup")
	c.members(all, at, func(table object, at, name string) {
		if table.has("condition", "formula", "method") {
			c.fault(at, "a rule in words cannot be converted: write a step of compute_dag for it")
			return
		}
		var other any
		c.decode(table, at, &other, "default")
		table = slices.DeleteFunc(table, func(m member) bool { return m.key == "default" })
		c.lookup(name, at, "", table, other)
	})
}

// calculations are the steps, by name.
func (c *converter) calculations(top object) {
	steps, at := c.object(top, "", "calculation_steps")
	all, inner := c.object(steps, at, "definitions")
	c.unused(steps, at, whyDerived, "order_of_operations")
	c.rest(steps, at)
	c.formulas(all, inner, func(at, name, formula string) { c.step(at, name, formula) })
}
