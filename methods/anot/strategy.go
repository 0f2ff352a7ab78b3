package anot

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"noema/methods"
)

// Type says what a condition looks at.
type Type string

// The types of conditions. Source: seed 000 §Phase 1, with Social added.
const (
	Attr       Type = "ATTR"        // a field of the item
	Ambience   Type = "AMBIENCE"    // a field below attributes.Ambience
	Meal       Type = "MEAL"        // a field below attributes.GoodForMeal
	Hours      Type = "HOURS"       // opening hours
	ReviewText Type = "REVIEW_TEXT" // words in any review
	Social     Type = "SOCIAL"      // words in a review by someone near a person
	Label      Type = "LABEL"       // a statement about a label, where the items are labels
)

// Op is how a condition compares.
type Op string

// The operators. Fits belongs to Label, Mention belongs to ReviewText and Social, the others to
// the types that have a path.
const (
	Equal        Op = "="
	NotEqual     Op = "!="
	Less         Op = "<"
	LessEqual    Op = "<="
	Greater      Op = ">"
	GreaterEqual Op = ">="
	Contains     Op = "contains"
	Covers       Op = "covers" // open during the whole of Value, such as "18:00-22:30"
	Mention      Op = "mention"
	Fits         Op = "fits" // Value is the statement
)

// Condition is one test of an item. Conditions are numbered by the model.
type Condition struct {
	Number int
	Type   Type
	Path   []string // keys from the item down; nil for Mention
	Op     Op
	Value  any    // nil, bool, int64, float64 or string; nil for a Mention of nothing in particular
	Person string // Social: whose friends
	Hops   int    // Social: 1 for friends, 2 for friends and their friends
}

// Logic combines conditions: a leaf is a condition, any other node an
// operator over its arguments.
type Logic struct {
	Op        LogicOp
	Condition int // number of the condition, if Op is empty
	Args      []*Logic
}

// LogicOp combines truth values.
type LogicOp string

// The operators of a [Logic]. Not has one argument.
const (
	And LogicOp = "AND"
	Or  LogicOp = "OR"
	Not LogicOp = "NOT"
)

// Strategy is what phase 1 concludes: which conditions to check and how they
// combine.
type Strategy struct {
	Conditions []Condition // in the order of the text; numbers are distinct
	Logic      *Logic      // over all condition numbers
	Message    string      // notes for phase 2
}

// The marks of the text form.
const (
	strategyMark = "===STRATEGY==="
	messageMark  = "===MESSAGE==="
)

// Text prints s for a list of n items, in the form that parseStrategy
// reads.
func (s *Strategy) Text(n int) string {
	return strategyMark + "\n" + s.conditionsText(n) + "\n" + messageMark + "\n" + s.Message + "\n"
}

// conditionsText is the text form without marks and message.
func (s *Strategy) conditionsText(n int) string {
	var b strings.Builder
	b.WriteString("CONDITIONS:\n")
	for _, c := range s.Conditions {
		fmt.Fprintf(&b, "  %d. %s\n", c.Number, c)
	}
	fmt.Fprintf(&b, "\nLOGIC: %s\nTOTAL_ITEMS: %d\n", s.Logic, n)
	return b.String()
}

// String prints c without its number: [ATTR] attributes.WiFi = "free".
func (c Condition) String() string {
	test := ""
	switch {
	case c.Op == Fits:
		test = c.valueText()
	case c.Op != Mention:
		test = pathText(c.Path) + " " + string(c.Op) + " " + c.valueText()
	case c.Type == Social:
		test = fmt.Sprintf("reviews by friends(%s, %d)", nameText(c.Person), c.Hops)
		if c.Value != nil {
			test += " mention " + c.valueText()
		}
	default:
		test = "reviews mention " + c.valueText()
	}
	return "[" + string(c.Type) + "] " + test
}

// valueText writes the value so that it is read back as it is.
func (c Condition) valueText() string {
	switch v := c.Value.(type) {
	case nil:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return text
	}
	text, _ := c.Value.(string)
	if c.Op == Covers {
		return text
	}
	return quoted(text)
}

// quoted writes s in double quotes with the escapes of JSON, which Python
// literals share.
func quoted(s string) string {
	return string(methods.Must(methods.EncodeJSON(s)))
}

// plainKey matches what may stand between the dots of a path.
var plainKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_]+(?:[ -][\pL\pN_]+)*$`)
})

func pathText(path []string) string {
	var b strings.Builder
	for i, k := range path {
		switch {
		case !plainKey().MatchString(k):
			b.WriteString("[" + quotedKey(k) + "]")
		case i > 0:
			b.WriteString("." + k)
		default:
			b.WriteString(k)
		}
	}
	return b.String()
}

var keyQuoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// quotedKey writes a key as LWT paths do.
func quotedKey(k string) string { return `"` + keyQuoter.Replace(k) + `"` }

// plainName matches names that need no quotes.
var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_]+(?:[ .'-]*[\pL\pN_.])*$`)
})

func nameText(name string) string {
	if plainName().MatchString(name) {
		return name
	}
	return quoted(name)
}

// String prints l: AND(1, NOT(2)).
func (l *Logic) String() string {
	if l == nil {
		return ""
	}
	if l.Op == "" {
		return strconv.Itoa(l.Condition)
	}
	args := make([]string, len(l.Args))
	for i, a := range l.Args {
		args[i] = a.String()
	}
	return string(l.Op) + "(" + strings.Join(args, ", ") + ")"
}

// Numbers returns the condition numbers in l, in order, repeats included.
func (l *Logic) Numbers() []int {
	if l == nil {
		return nil
	}
	if l.Op == "" {
		return []int{l.Condition}
	}
	var all []int
	for _, a := range l.Args {
		all = append(all, a.Numbers()...)
	}
	return all
}
