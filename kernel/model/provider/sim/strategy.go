package sim

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task/cafes"
)

// plan is a request as understood: numbered tests and how they combine.
type plan struct {
	tests []test // test i has the number i+1
	logic logic
}

// understand reads a request in natural words, with the errors of that.
func understand(query string, n noise) (plan, bool) {
	tree, err := cafes.ParseRequest(query)
	if err != nil {
		return plan{}, false
	}
	var p plan
	p.logic = p.number(tree)
	if p.logic.op == "" {
		p.logic = logic{op: "AND", args: []logic{p.logic}}
	}
	return p.misread(strings.TrimSpace(query), n), true
}

// number gives every condition of a tree a number, equal ones the same.
func (p *plan) number(n cafes.Node) logic {
	if n.Op == "" {
		t := testOf(n.Leaf)
		for i, have := range p.tests {
			if have == t {
				return logic{leaf: i + 1}
			}
		}
		p.tests = append(p.tests, t)
		return logic{leaf: len(p.tests)}
	}
	l := logic{op: string(n.Op)}
	for _, a := range n.Args {
		l.args = append(l.args, p.number(a))
	}
	return l
}

func testOf(c cafes.Condition) test {
	switch c.Kind {
	case cafes.Hours:
		return test{kind: "HOURS", day: c.Day, from: c.From, to: c.To}
	case cafes.Review:
		return test{kind: "REVIEW_TEXT", pattern: c.Pattern}
	case cafes.Social:
		return test{kind: "SOCIAL", pattern: c.Pattern, friend: c.Friend, hops: c.Hops}
	}
	t := test{kind: "ATTR", path: c.Path, op: "="}
	switch {
	case strings.HasPrefix(c.Path, "attributes.Ambience."):
		t.kind = "AMBIENCE"
	case strings.HasPrefix(c.Path, "attributes.GoodForMeal."):
		t.kind = "MEAL"
	}
	switch want := c.Want.(type) {
	case bool:
		t.want = map[bool]string{true: "True", false: "False"}[want]
	case string:
		t.want, t.quoted = want, true
	default:
		t.want = fmt.Sprint(want)
	}
	return t
}

// extractStrategy answers phase 1.
func extractStrategy(prompt string, n noise) (string, bool) {
	query, rest, ok := section(prompt, "request")
	items, counted := between(rest, "The list has ", " items")
	p, understood := understand(query, n)
	if !ok || !counted || !understood {
		return "", false
	}
	var b strings.Builder
	b.WriteString("===STRATEGY===\nCONDITIONS:\n")
	for i, t := range p.tests {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, t)
	}
	fmt.Fprintf(&b, "\nLOGIC: %s\nTOTAL_ITEMS: %d\n\n===MESSAGE===\n", p.logic, items)
	return b.String(), true
}

// misread applies the errors of reading a request: each wrong condition is lost or
// misread, evenly. The last one left is never lost.
func (p plan) misread(query string, n noise) plan {
	out := plan{logic: p.logic}
	renumber := map[int]int{}
	for i, t := range p.tests {
		if n.errs(request, query, i) {
			if n.below(2, request, 0, query, i) == 0 && len(p.tests) > 1 {
				if left, ok := out.logic.without(i + 1); ok {
					out.logic = left
					continue
				}
			}
			t = t.misread()
		}
		out.tests = append(out.tests, t)
		renumber[i+1] = len(out.tests)
	}
	out.logic = out.logic.renumbered(renumber)
	return out
}

func (l logic) renumbered(to map[int]int) logic {
	if l.op == "" {
		return logic{leaf: to[l.leaf]}
	}
	out := logic{op: l.op}
	for _, a := range l.args {
		out.args = append(out.args, a.renumbered(to))
	}
	return out
}

// misread is a test that a careless reader takes t for.
func (t test) misread() test {
	switch t.kind {
	case "HOURS":
		t.day = map[string]string{
			"Monday": "Tuesday", "Tuesday": "Thursday", "Wednesday": "Thursday", "Thursday": "Tuesday",
			"Friday": "Saturday", "Saturday": "Sunday", "Sunday": "Saturday",
		}[t.day]
	case "REVIEW_TEXT":
		t.pattern = shortened(t.pattern)
	case "SOCIAL":
		t.hops = 3 - t.hops
	default:
		switch {
		case t.want == "True" && !t.quoted:
			t.want = "False"
		case t.want == "False" && !t.quoted:
			t.want = "True"
		default:
			t.op = "!="
		}
	}
	return t
}

// written are the tests as a program has them, with the errors of writing: a step of
// it looks at other data.
func (p plan) written(n noise) plan {
	p.tests = slices.Clone(p.tests)
	for i, t := range p.tests {
		if !n.errs(write, i) {
			continue
		}
		switch {
		case t.kind == "HOURS" || t.kind == "SOCIAL":
			p.tests[i] = t.misread()
		case t.pattern != "":
			p.tests[i].pattern = shortened(t.pattern)
		default:
			p.tests[i].path = strings.Join(t.wrongFields(), ".")
		}
	}
	return p
}

// shortened is the pattern without its last word, or its plural.
func shortened(pattern string) string {
	if i := strings.LastIndexByte(pattern, ' '); i > 0 {
		return pattern[:i]
	}
	return pattern + "s"
}
