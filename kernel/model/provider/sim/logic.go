package sim

import (
	"slices"
	"strconv"
	"strings"
)

// logic is a tree of AND, OR and NOT over condition numbers.
type logic struct {
	op   string // empty for a leaf
	args []logic
	leaf int // condition number, from 1
}

// joined is what say says of the arguments, with a text between.
func (l logic) joined(between string, say func(logic) string) string {
	parts := make([]string, len(l.args))
	for i, a := range l.args {
		parts[i] = say(a)
	}
	return strings.Join(parts, between)
}

// String is the tree as strategies write it.
func (l logic) String() string {
	if l.op == "" {
		return strconv.Itoa(l.leaf)
	}
	return l.op + "(" + l.joined(", ", logic.String) + ")"
}

// holds reports whether verdicts, by condition number, fulfil the tree.
func (l logic) holds(verdict func(int) bool) bool {
	switch l.op {
	case "AND":
		return !slices.ContainsFunc(l.args, func(a logic) bool { return !a.holds(verdict) })
	case "OR":
		return slices.ContainsFunc(l.args, func(a logic) bool { return a.holds(verdict) })
	case "NOT":
		return !l.args[0].holds(verdict)
	}
	return verdict(l.leaf)
}

// closeness is how near verdicts come to fulfilling the tree, from 0 to 1:
// the mean over AND, the best of OR.
func (l logic) closeness(verdict func(int) bool) float64 {
	switch l.op {
	case "AND":
		sum := 0.0
		for _, a := range l.args {
			sum += a.closeness(verdict)
		}
		return sum / float64(len(l.args))
	case "OR":
		best := 0.0
		for _, a := range l.args {
			best = max(best, a.closeness(verdict))
		}
		return best
	case "NOT":
		return 1 - l.args[0].closeness(verdict)
	}
	if verdict(l.leaf) {
		return 1
	}
	return 0
}

// without removes a leaf. The second result is false if nothing is left.
func (l logic) without(leaf int) (logic, bool) {
	if l.op == "" {
		return l, l.leaf != leaf
	}
	out := logic{op: l.op}
	for _, a := range l.args {
		if kept, ok := a.without(leaf); ok {
			out.args = append(out.args, kept)
		}
	}
	return out, len(out.args) > 0
}

// maxDepth bounds the nesting that parseLogic accepts.
const maxDepth = 100

// parseLogic reads a tree over the conditions 1 to n.
func parseLogic(s string, n int) (logic, bool) {
	p := logicParser{rest: s, n: n}
	l, ok := p.tree(0)
	return l, ok && strings.TrimSpace(p.rest) == ""
}

type logicParser struct {
	rest string
	n    int
}

func (p *logicParser) tree(depth int) (logic, bool) {
	p.rest = strings.TrimLeft(p.rest, " \t")
	for _, op := range []string{"AND", "OR", "NOT"} {
		rest, found := strings.CutPrefix(p.rest, op)
		if rest = strings.TrimLeft(rest, " "); found && strings.HasPrefix(rest, "(") && depth < maxDepth {
			p.rest = rest[1:]
			return p.arguments(op, depth)
		}
	}
	end := 0
	for end < len(p.rest) && p.rest[end] >= '0' && p.rest[end] <= '9' {
		end++
	}
	leaf, err := strconv.Atoi(p.rest[:end])
	p.rest = p.rest[end:]
	return logic{leaf: leaf}, err == nil && leaf >= 1 && leaf <= p.n
}

func (p *logicParser) arguments(op string, depth int) (logic, bool) {
	l := logic{op: op}
	for {
		a, ok := p.tree(depth + 1)
		if !ok {
			return l, false
		}
		l.args = append(l.args, a)
		p.rest = strings.TrimLeft(p.rest, " \t")
		if rest, more := strings.CutPrefix(p.rest, ","); more {
			p.rest = rest
			continue
		}
		rest, closed := strings.CutPrefix(p.rest, ")")
		p.rest = rest
		return l, closed && (op != "NOT" || len(l.args) == 1)
	}
}
