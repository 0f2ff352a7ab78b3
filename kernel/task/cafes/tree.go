package cafes

import (
	"fmt"
	"strings"
)

// Op joins the arguments of a Node.
type Op string

// The operators. A Node without one is a leaf.
const (
	And Op = "AND"
	Or  Op = "OR"
	Not Op = "NOT" // has exactly one argument
)

// Node is a condition tree: an operator over arguments, or a leaf.
type Node struct {
	Op   Op
	Args []Node
	Leaf Condition // if Op is empty
}

// Kind says what a Condition looks at.
type Kind string

// The kinds of condition.
const (
	Attr   Kind = "attr"   // the value at Path equals Want
	Hours  Kind = "hours"  // open on Day during all of From..To
	Review Kind = "review" // a review's text mentions Pattern
	Social Kind = "social" // a review by someone near Friend mentions Pattern
)

// Condition is one test of one cafe. It is comparable with ==.
//
// A missing value counts as false, so for booleans "Want false" and the
// negation of "Want true" are the same test. A mention is an occurrence as
// whole words, in any case. Someone is near Friend within one hop if Friend's
// list in the friend graph has them, within two hops if that list or a list of
// someone in it has them; Friend is not near Friend.
type Condition struct {
	Kind    Kind
	Path    string // attr: such as "attributes.Ambience.hipster"
	Want    any    // attr: a bool, an int or a string
	Day     string // hours: "Monday" … "Sunday"
	From    int    // hours: minutes after midnight
	To      int    // hours: minutes after midnight, From < To ≤ 1440
	Pattern string // review, social
	Friend  string // social: whose friends are meant
	Hops    int    // social: 1 or 2
}

// AllOf is the conjunction of args.
func AllOf(args ...Node) Node { return Node{Op: And, Args: args} }

// AnyOf is the disjunction of args.
func AnyOf(args ...Node) Node { return Node{Op: Or, Args: args} }

// No is the negation of n.
func No(n Node) Node { return Node{Op: Not, Args: []Node{n}} }

// Is is the leaf that tests c.
func Is(c Condition) Node { return Node{Leaf: c} }

// String is the condition in a form for people, for example
// "attributes.HasTV = false".
func (c Condition) String() string {
	switch c.Kind {
	case Attr:
		return fmt.Sprintf("%s = %v", c.Path, c.Want)
	case Hours:
		return fmt.Sprintf("hours.%s covers %s-%s", c.Day, clock(c.From), clock(c.To))
	case Review:
		return fmt.Sprintf("reviews mention %q", c.Pattern)
	case Social:
		return fmt.Sprintf("reviews by friends(%s, %d) mention %q", c.Friend, c.Hops, c.Pattern)
	}
	return fmt.Sprintf("unknown condition kind %q", c.Kind)
}

// String is the tree in prefix form, for example
// "AND(attributes.HasTV = false, OR(…, …))".
func (n Node) String() string {
	if n.Op == "" {
		return n.Leaf.String()
	}
	parts := make([]string, len(n.Args))
	for i, a := range n.Args {
		parts[i] = a.String()
	}
	return string(n.Op) + "(" + strings.Join(parts, ", ") + ")"
}

// Leaves lists the conditions of the tree from left to right.
func (n Node) Leaves() []Condition {
	if n.Op == "" {
		return []Condition{n.Leaf}
	}
	var all []Condition
	for _, a := range n.Args {
		all = append(all, a.Leaves()...)
	}
	return all
}

// Normal is an equivalent tree in which AND and OR alternate and have at least
// two arguments each, and NOT stands before leaves only. A negated boolean
// attribute becomes the wish for the other value, unless it is nested in a
// dict, where data leaves out what is false.
func (n Node) Normal() Node { return normal(n, false) }

func normal(n Node, negate bool) Node {
	switch n.Op {
	case "":
		return leaf(n.Leaf, negate)
	case Not:
		if len(n.Args) != 1 {
			return normal(Node{Op: And, Args: n.Args}, !negate)
		}
		return normal(n.Args[0], !negate)
	}
	op := n.Op
	if negate {
		op = map[Op]Op{And: Or, Or: And}[op]
	}
	out := Node{Op: op}
	for _, a := range n.Args {
		a = normal(a, negate)
		if a.Op == op {
			out.Args = append(out.Args, a.Args...)
		} else {
			out.Args = append(out.Args, a)
		}
	}
	if len(out.Args) == 1 {
		return out.Args[0]
	}
	return out
}

// leaf is c or its negation in normal form.
func leaf(c Condition, negate bool) Node {
	c.Pattern = strings.ToLower(c.Pattern)
	want, isBool := c.Want.(bool)
	if c.Kind != Attr || !isBool {
		if negate {
			return No(Is(c))
		}
		return Is(c)
	}
	want = want != negate
	if want || strings.Count(c.Path, ".") < 2 {
		c.Want = want
		return Is(c)
	}
	c.Want = true
	return No(Is(c))
}
