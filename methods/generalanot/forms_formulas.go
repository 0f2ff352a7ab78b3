package generalanot

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/methods/generalanot/pyexpr"
)

// What the other forms write in formulas and Python has not, or has under
// another name.
var (
	aggregateCall = regexp.MustCompile(`(?s)^\s*(COUNT|SUM|AVG|MEAN|MAX|MIN)\s*\((.*)\)\s*$`)
	metadataKey   = regexp.MustCompile(`(\[|\.get\()(['"])([a-z_]+)(['"])`)
	upperCall     = regexp.MustCompile(`\b(MAX|MIN|ABS|ROUND|LEN)\(`)
	logarithm     = regexp.MustCompile(`\bln\(`)
	clampCall     = regexp.MustCompile(`^\s*clamp\((.*),([^,()]*),([^,()]*)\)\s*$`)
	conditionPart = regexp.MustCompile(`(?s)'[^']*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_]*|[<>=!]=|=|.`)
)

// metadataOf is our name of what a review has besides its text.
func metadataOf(name string) string {
	switch strings.TrimPrefix(strings.ToLower(name), "_") {
	case "stars", "review_stars", "rating":
		return "stars"
	case "useful", "review_useful", "useful_votes":
		return "useful"
	case "year", "review_year":
		return "year"
	case "date", "review_date":
		return "date"
	case "text", "review_text":
		return "text"
	}
	return ""
}

func (c *converter) isField(name string) bool {
	return slices.ContainsFunc(c.Seed.ExtractionFields, func(f ExtractionField) bool { return f.Name == name })
}

// formula turns COUNT(a='x' AND b='y') and the like into Python. Any other
// text stays, and is named if it is not Python.
func (c *converter) formula(text string) string {
	text = logarithm.ReplaceAllString(text, "log(")
	text = metadataKey.ReplaceAllStringFunc(text, func(s string) string {
		p := metadataKey.FindStringSubmatch(s)
		if ours := metadataOf(p[3]); ours != "" && !c.isField(p[3]) {
			return p[1] + p[2] + ours + p[4]
		}
		return s
	})
	if p := clampCall.FindStringSubmatch(text); p != nil {
		return fmt.Sprintf("max(%s, min(%s, %s))", strings.TrimSpace(p[2]), strings.TrimSpace(p[3]), strings.TrimSpace(p[1]))
	}
	p := aggregateCall.FindStringSubmatch(text)
	if p == nil {
		return upperCall.ReplaceAllStringFunc(text, strings.ToLower)
	}
	arg := strings.TrimSpace(p[2])
	known := c.isField(arg) || metadataOf(arg) != ""
	switch all := fmt.Sprintf("%s for e in extractions", c.element(arg)); {
	case p[1] == "COUNT" && (arg == "" || arg == "*"):
		return "len(extractions)"
	case p[1] == "COUNT":
		counted := "sum(1 for e in extractions if " + c.condition(arg) + ")"
		if _, err := pyexpr.Compile(counted); err == nil {
			return counted
		}
		return text
	case !known:
		return text
	case p[1] == "AVG" || p[1] == "MEAN":
		return "statistics.mean(" + all + ")"
	default:
		return strings.ToLower(p[1]) + "(" + all + ")"
	}
}

// element is how a formula reads a field of one extraction.
func (c *converter) element(field string) string {
	if ours := metadataOf(field); ours != "" && !c.isField(field) {
		field = ours
	}
	return "e[" + pythonText(field) + "]"
}

// condition is a test of the fields of one extraction, in Python.
func (c *converter) condition(text string) string {
	var b strings.Builder
	for _, part := range conditionPart.FindAllString(text, -1) {
		switch {
		case part == "=":
			part = "=="
		case part == "AND" || part == "OR" || part == "NOT" || part == "IN":
			part = strings.ToLower(part)
		case c.isField(part) || metadataOf(part) != "":
			part = c.element(part)
		}
		b.WriteString(part)
	}
	return b.String()
}

// inlineLookup replaces table.get(key, default) by the lookup's own value:
// a lookup of ours has already looked up its field.
func (c *converter) inlineLookup(name string) {
	call := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `(\.get\(\s*[A-Za-z_]\w*\s*(,[^()]*)?\)|\[\s*[A-Za-z_]\w*\s*\])`)
	for i := range c.Seed.ComputeDAG {
		s := &c.Seed.ComputeDAG[i]
		if !strings.Contains(s.Formula, name+".get(") && !strings.Contains(s.Formula, name+"[") {
			continue
		}
		if changed := call.ReplaceAllString(s.Formula, name); changed != s.Formula {
			c.note(c.origins[i]+".formula", "%q is read as the value of the lookup %s", call.FindString(s.Formula), name)
			s.Formula = changed
		}
	}
}
