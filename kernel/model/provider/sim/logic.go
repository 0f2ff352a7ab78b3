package sim

import (
	"fmt"
	"go/ast"
	"go/parser"
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

// parseLogic reads a tree over the conditions 1 to n, which has the form of calls in Go.
func parseLogic(s string, n int) (logic, bool) {
	x, err := parser.ParseExpr(s)
	if err != nil {
		return logic{}, false
	}
	return logicOf(x, n)
}

func logicOf(x ast.Expr, n int) (logic, bool) {
	switch x := x.(type) {
	case *ast.BasicLit:
		leaf, err := strconv.Atoi(x.Value)
		return logic{leaf: leaf}, err == nil && leaf >= 1 && leaf <= n
	case *ast.CallExpr:
		l := logic{op: fmt.Sprint(x.Fun)}
		for _, arg := range x.Args {
			a, ok := logicOf(arg, n)
			if !ok {
				return l, false
			}
			l.args = append(l.args, a)
		}
		return l, len(l.args) == 1 && l.op == "NOT" || len(l.args) > 0 && (l.op == "AND" || l.op == "OR")
	}
	return logic{}, false
}
