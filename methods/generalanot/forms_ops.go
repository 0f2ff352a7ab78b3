package generalanot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// operations converts the form in which the computation is declared: filter,
// extract, compute with an op for each step, and output.
func (c *converter) operations(top object) {
	c.Seed.TaskName = c.text(top, "", "task_name", "name")
	filter, at := c.object(top, "", "filter")
	var words []string
	c.decode(filter, at, &words, "keywords")
	c.keywords(words)
	c.rest(filter, at)
	c.Seed.ExtractionPrompt = c.text(top, "", "extraction_prompt", "extraction_guidelines")
	extract, at := c.object(top, "", "extract")
	c.each(extract, at, func(o object, at string) { c.field(o, at, c.text(o, at, "name")) }, "fields")
	c.unused(extract, at, "formulas say which reviews count", "outcome_field", "none_values")
	c.rest(extract, at)
	c.filters = map[string]string{}
	c.each(top, "", c.operation, "compute")
	c.outputFields(top, "", "output", "output_fields")
	c.matchCase(top)
	c.lookupNames()
	c.unused(top, "", whyWords, "version", "description")
	c.rest(top, "")
}

// operation is one step by its op.
func (c *converter) operation(o object, at string) {
	name, op := c.text(o, at, "name"), c.text(o, at, "op")
	c.unused(o, at, whyWords, "description")
	switch op {
	case "define_filter":
		c.filters["$"+name] = c.where(o, at, "extraction", "meta", "where")
	case "count":
		test := c.where(o, at, "where")
		c.step(at, name, "sum(1 for e in extractions"+test+")")
	case "sum", "max", "min", "avg", "mean":
		each := c.condition(inElement(c.text(o, at, "expr", "field"))) + " for e in extractions" + c.where(o, at, "where")
		var other any
		switch hasDefault := c.decode(o, at, &other, "default"); {
		case op == "avg" || op == "mean":
			c.step(at, name, "statistics.mean("+each+")")
		case hasDefault && op != "sum":
			c.step(at, name, fmt.Sprintf("%s((%s), default=%s)", op, each, pyLiteral(other)))
		default:
			c.step(at, name, op+"("+each+")")
		}
	case "expr":
		c.step(at, name, c.text(o, at, "expr", "formula"))
	case "const":
		var v any
		c.decode(o, at, &v, "value")
		c.step(at, name, pyLiteral(v))
	case "case":
		c.step(at, name, c.cases(o, at))
	case "lookup":
		c.table(o, at, name)
	default:
		c.fault(join(at, "op"), "%q is not known: count, sum, max, min, mean, lookup, expr, const, case and define_filter are", op)
	}
}

// table is a lookup by the way in which its keys are to match.
func (c *converter) table(o object, at, name string) {
	var other any
	c.decode(o, at, &other, "default")
	table, inner := c.object(o, at, "table")
	c.lookup(name, inner, c.text(o, at, "source"), table, other)
	entries := c.Seed.Lookups[len(c.Seed.Lookups)-1].Table
	switch match := c.text(o, at, "match"); match {
	case "", "exact":
		for i := range entries {
			entries[i].Key = strings.Trim(entries[i].Key, "*")
		}
	case "substring_first":
	case "substring_max": // the first that matches is the greatest
		slices.SortStableFunc(entries, func(a, b LookupEntry) int { return cmp.Compare(numeric(b.Value), numeric(a.Value)) })
	default:
		c.fault(join(at, "match"), "%q is not known: exact, substring_first and substring_max are", match)
	}
}

func numeric(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

// cases are conditions, the first of which that holds decides.
func (c *converter) cases(o object, at string) string {
	source := c.text(o, at, "source")
	var rules []struct {
		When       string
		Then, Else any
	}
	c.decode(o, at, &rules, "rules")
	formula, otherwise := "", "None"
	for _, r := range rules {
		if r.When == "" {
			otherwise = pyLiteral(r.Else)
			break
		}
		formula += fmt.Sprintf("%s if %s else ", pyLiteral(r.Then), strings.TrimSpace(source+" "+r.When))
	}
	return formula + otherwise
}

// where is the test of a comprehension, or nothing.
func (c *converter) where(o object, path string, names ...string) string {
	var tests []string
	for _, name := range names {
		where, at := c.object(o, path, name)
		for _, m := range where {
			var v any
			c.decode(object{m}, at, &v, m.key)
			if filter := strings.TrimPrefix(c.filters[m.key], " if "); filter != "" {
				if v == false {
					filter = "not (" + filter + ")"
				}
				tests = append(tests, filter)
				continue
			}
			field := strings.TrimPrefix(strings.TrimPrefix(m.key, "extraction."), "meta.")
			if !c.isField(field) && metadataOf(field) == "" {
				c.fault(join(at, m.key), "is not an extraction field, a filter or what a review has")
				continue
			}
			tests = append(tests, c.tests(c.element(field), v, join(at, m.key)))
		}
	}
	if len(tests) == 0 {
		return ""
	}
	return " if " + strings.Join(tests, " and ")
}

// tests compares a field with a value, or by the operators of an object.
func (c *converter) tests(field string, v any, at string) string {
	ops, ok := v.(map[string]any)
	if _, isList := v.([]any); isList {
		ops, ok = map[string]any{"in": v}, true
	}
	if !ok {
		return field + " == " + pyLiteral(v)
	}
	var out []string
	for _, op := range []string{"in", ">=", ">", "<=", "<", "!=", "=="} {
		if want, has := ops[op]; has {
			out = append(out, field+" "+op+" "+pyLiteral(want))
			delete(ops, op)
		}
	}
	if len(ops) > 0 {
		c.fault(at, "an operator is not known: in, >=, >, <=, <, != and == are")
		return "True"
	}
	return strings.Join(out, " and ")
}

var namespace = regexp.MustCompile(`\b(meta|extraction)\.`)

// inElement drops the name spaces of what is read of one extraction.
func inElement(formula string) string { return namespace.ReplaceAllString(formula, "") }

// pyLiteral is a value of JSON in Python.
func pyLiteral(v any) string {
	switch x := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[x]
	case string:
		return pythonText(x)
	case []any:
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = pyLiteral(x[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(v)
}
