package score

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"

	"noema/methods/decimal"
)

// SameMath reports whether two expressions are equal, as plain text or LaTeX:
//
//	numbers (1,234.5), mixed numbers (1\frac{1}{2}), + - * / ^, parentheses, \frac \dfrac
//	\tfrac, \sqrt and \sqrt[n], \pi, \cdot \times \div, products without a sign, variables
//	of one letter, lists, tuples and intervals such as (1, \sqrt{2}], matrices, and sets
//	\{1, 2\}, whose members have no order
//
// Rational ones are compared exactly, others in floating point (within 1e-9 of
// their size), variables at three points. Of an answer with \boxed{…} or $…$ the last
// of these counts; of "x = 5" and "x \in [1, 2]" what stands behind the sign; of "5\text{ cm}",
// "5^\circ", "5\%", "5 percent" and "\$5" the 5; of \text{even} the word, in any case. What is
// not in this subset is equal if it is the same text but for spaces, the braces of a single
// character, and \left and \right: equations, functions such as \sin, numbers in another base
// (101_2), and units that differ. It does no computer algebra. The first four lines are those of
// Hendrycks et al. 2021 (MATH, math_equivalence.py), which compares texts; values, matrices
// entry by entry and sets without order are compared as by Math-Verify.
func SameMath(got, want string) bool {
	a, b := mathText(got), mathText(want)
	if a == b {
		return a != ""
	}
	left, right := mathParts(a), mathParts(b)
	if len(left.parts) != len(right.parts) || left.open != right.open || left.end != right.end {
		return false
	}
	used := make([]bool, len(right.parts))
	for i, part := range left.parts {
		at := i
		if left.open == `\{` {
			at = -1
			for j, other := range right.parts {
				if at < 0 && !used[j] && sameExpression(part, other) {
					at = j
				}
			}
		}
		if at < 0 || used[at] || !sameExpression(part, right.parts[at]) {
			return false
		}
		used[at] = true
	}
	return true
}

// mathPoints are where variables are compared: nothing is special about them.
var mathPoints = []float64{0.7390851, 1.9021605, 3.3588565}

func sameExpression(a, b string) bool {
	if a == b {
		return true
	}
	for i, at := range mathPoints {
		x, err := evaluateMath(a, at)
		if err != nil {
			return false
		}
		y, err := evaluateMath(b, at)
		switch {
		case err != nil:
			return false
		case x.exact != nil && y.exact != nil:
			return x.exact.Cmp(y.exact) == 0
		case math.Abs(x.value-y.value) > 1e-9*max(1, math.Abs(y.value)):
			return false
		case i == 0 && !x.varies && !y.varies:
			return true
		}
	}
	return true
}

var (
	inDollars = regexp.MustCompile(`\$+([^$]+)\$+`)
	dropped   = regexp.MustCompile(`\\(?:left|right|displaystyle|degree|quad|qquad|[,;:! ()\[\]%])|\^\{?\\circ\}?|(?i:per ?cent|degrees?)\b|[$°%~\s]`)
	asText    = regexp.MustCompile(`\\(?:text|mathrm|mbox|textbf|mathbf|textit|operatorname)\s*\{([^{}]*)\}`)
	thousands = regexp.MustCompile(`(\d),(\d{3})\b`)
	assigned  = regexp.MustCompile(`^[a-zA-Z](?:=|\\in(?:[^a-z]|$))`)
	mixed     = regexp.MustCompile(`(\d+)\s*(\\[dt]?frac\s*(?:\{\d+\}|\d)\s*(?:\{\d+\}|\d))|(\d+)\s+(\d+/\d+)`)
	oneBraced = regexp.MustCompile(`([_^])\{(\w)\}`)
	inLetter  = regexp.MustCompile(`^\(([A-Za-z])\)$`)
	matrix    = regexp.MustCompile(`^\\begin\{([a-zA-Z]*matrix)\}(.*)\\end\{[a-zA-Z]*matrix\}$`)
	spelled   = strings.NewReplacer(`\dfrac`, `\frac`, `\tfrac`, `\frac`, `\cdot`, "*", `\times`, "*", `\div`, "/", "−", "-", "×", "*", "·", "*", "÷", "/", "π", `\pi`, "**", "^", "√", `\sqrt`, `\lbrace`, `\{`, `\rbrace`, `\}`)
)

// rowEnd stands for the end of a matrix's row.
const rowEnd = "¦"

// maxMath bounds an expression in bytes.
const maxMath = 1000

// mathText is the expression of an answer, without what only sets type.
func mathText(s string) string {
	s = strings.ReplaceAll(strings.TrimRight(strings.TrimSpace(s), "."), `\$`, "")
	if i := strings.LastIndex(s, `\boxed{`); i >= 0 {
		s = braced(s[i+len(`\boxed`):])
	} else if all := inDollars.FindAllStringSubmatch(s, -1); len(all) > 0 {
		s = all[len(all)-1][1]
	}
	s = strings.ReplaceAll(s, `\\`, rowEnd)
	s = mixed.ReplaceAllString(s, "($1$3+$2$4)")
	s = spelled.Replace(s)
	if value := dropped.ReplaceAllString(asText.ReplaceAllString(s, ""), ""); strings.Trim(value, "()[].,") != "" {
		s = value
	} else { // words alone
		s = dropped.ReplaceAllString(asText.ReplaceAllString(s, "$1"), "")
		s = strings.TrimRight(s, ".")
	}
	if m := inLetter.FindStringSubmatch(s); m != nil {
		s = m[1]
	}
	if !strings.ContainsAny(s, "([{") {
		s = thousands.ReplaceAllString(thousands.ReplaceAllString(s, "$1$2"), "$1$2")
	}
	s = oneBraced.ReplaceAllString(s, "$1$2")
	if at := assigned.FindString(s); at != "" {
		s = s[strings.IndexAny(at, "=n")+1:]
	}
	if word := strings.ToLower(s); strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" && len(word) > 2 {
		return word
	}
	return s
}

// braced is what stands in the braces that s begins with.
func braced(s string) string {
	depth := 0
	for i, c := range s {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return s[1:i]
			}
		}
	}
	return strings.TrimPrefix(s, "{")
}

// several are the members of a list, a tuple, an interval, a set or a matrix with what stands
// around them; an expression is its only member.
type several struct {
	open, end string
	parts     []string
}

func mathParts(s string) several {
	if m := matrix.FindStringSubmatch(s); m != nil {
		var cells []string
		for row := range strings.SplitSeq(strings.TrimSuffix(m[2], rowEnd), rowEnd) {
			cells = append(append(cells, strings.Split(row, "&")...), rowEnd)
		}
		return several{open: m[1], parts: cells}
	}
	inner, open, end := s, "", ""
	for _, o := range []string{`\{`, "(", "["} {
		if rest, ok := strings.CutPrefix(s, o); ok {
			for _, e := range []string{`\}`, ")", "]"} {
				if rest, ok := strings.CutSuffix(rest, e); ok {
					inner, open, end = rest, o, e
				}
			}
		}
	}
	parts := members(inner)
	if len(parts) < 2 && open != `\{` {
		return several{parts: []string{s}}
	}
	return several{open, end, parts}
}

// members are the parts between the commas of a list that stand in no bracket; nil if its
// brackets do not match.
func members(s string) (parts []string) {
	depth, from := 0, 0
	for i := range len(s) {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return nil
			}
		case ',':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	return append(parts, s[from:])
}

// quantity is the value of an expression, also exactly where it is rational.
type quantity struct {
	value  float64
	exact  *big.Rat
	varies bool // it has a variable
}

func rational(r *big.Rat) quantity {
	f, _ := r.Float64()
	return quantity{value: f, exact: r}
}

var errMath = errors.New("not an expression of the subset")

// mathReader reads an expression by recursive descent.
type mathReader struct {
	rest  string
	at    float64 // value of a variable; letters differ by their code
	depth int
}

func evaluateMath(s string, at float64) (quantity, error) {
	if s == "" || len(s) > maxMath {
		return quantity{}, errMath
	}
	r := &mathReader{rest: s, at: at}
	q, err := r.sum()
	if err == nil && (r.rest != "" || math.IsNaN(q.value) || math.IsInf(q.value, 0)) {
		err = errMath
	}
	return q, err
}

func (r *mathReader) take(prefix string) bool {
	rest, ok := strings.CutPrefix(r.rest, prefix)
	r.rest = rest
	return ok
}

func (r *mathReader) sum() (quantity, error) {
	if r.depth++; r.depth > 50 {
		return quantity{}, errMath
	}
	defer func() { r.depth-- }()
	q, err := r.product()
	for err == nil && r.rest != "" {
		sign := byte(0)
		if r.take("+") {
			sign = '+'
		} else if r.take("-") {
			sign = '-'
		} else {
			break
		}
		var right quantity
		if right, err = r.product(); err == nil {
			q = combine(sign, q, right)
		}
	}
	return q, err
}

func (r *mathReader) product() (quantity, error) {
	q, err := r.power()
	for err == nil && r.rest != "" {
		op := byte('*')
		switch {
		case r.take("*"):
		case r.take("/"):
			op = '/'
		case strings.IndexByte("+-)]},|", r.rest[0]) >= 0:
			return q, nil
		}
		var right quantity
		if right, err = r.power(); err == nil {
			q = combine(op, q, right)
		}
	}
	return q, err
}

func (r *mathReader) power() (quantity, error) {
	if r.take("+") {
		return r.power()
	}
	if r.take("-") {
		q, err := r.power()
		return combine('-', rational(new(big.Rat)), q), err
	}
	q, err := r.atom()
	if err != nil || !r.take("^") {
		return q, err
	}
	exponent, err := r.power()
	return raise(q, exponent), err
}

func (r *mathReader) atom() (quantity, error) {
	switch {
	case r.take(`\frac`):
		a, err := r.argument()
		if err != nil {
			return a, err
		}
		b, err := r.argument()
		return combine('/', a, b), err
	case r.take(`\sqrt`):
		return r.root()
	case r.take(`\pi`):
		return quantity{value: math.Pi}, nil
	case r.take("("):
		return r.closed(")")
	case r.take("{"):
		return r.closed("}")
	case r.rest == "":
		return quantity{}, errMath
	}
	if n := len(r.rest) - len(strings.TrimLeft(r.rest, "0123456789.")); n > 0 {
		text := r.rest[:n]
		r.rest = r.rest[n:]
		v, err := decimal.Parse(text)
		if err != nil {
			return quantity{}, errMath
		}
		return rational(v), nil
	}
	if c := r.rest[0]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		r.rest = r.rest[1:]
		return quantity{value: r.at + float64(c)/97, varies: true}, nil
	}
	return quantity{}, errMath
}

// argument is the argument of a command: in braces, or one character.
func (r *mathReader) argument() (quantity, error) {
	if r.take("{") {
		return r.closed("}")
	}
	if r.rest == "" {
		return quantity{}, errMath
	}
	rest := r.rest[1:]
	r.rest = r.rest[:1]
	q, err := r.atom()
	r.rest = rest
	return q, err
}

func (r *mathReader) root() (quantity, error) {
	degree := rational(big.NewRat(2, 1))
	if r.take("[") {
		var err error
		if degree, err = r.closed("]"); err != nil {
			return degree, err
		}
	}
	q, err := r.argument()
	root := raise(q, combine('/', rational(big.NewRat(1, 1)), degree))
	if back := math.Round(root.value); !root.varies && q.exact != nil && degree.value == 2 && back*back == q.value && math.Abs(back) < 1e6 {
		return rational(new(big.Rat).SetFloat64(back)), err
	}
	return root, err
}

func (r *mathReader) closed(by string) (quantity, error) {
	q, err := r.sum()
	if err == nil && !r.take(by) {
		err = errMath
	}
	return q, err
}

// combine computes exactly where both sides are rational.
func combine(op byte, a, b quantity) quantity {
	q := quantity{varies: a.varies || b.varies}
	if a.exact != nil && b.exact != nil && a.exact.Num().BitLen()+b.exact.Num().BitLen() < 1<<14 {
		if r := decimal.Apply(string(op), a.exact, b.exact); r != nil {
			return rational(r)
		}
	}
	switch op {
	case '+':
		q.value = a.value + b.value
	case '-':
		q.value = a.value - b.value
	case '*':
		q.value = a.value * b.value
	case '/':
		q.value = a.value / b.value
	}
	return q
}

// maxExponent bounds powers that are computed exactly.
const maxExponent = 100

func raise(base, exponent quantity) quantity {
	if e := exponent.exact; base.exact != nil && e != nil && e.IsInt() && math.Abs(exponent.value) <= maxExponent && base.exact.Num().BitLen()+base.exact.Denom().BitLen() < 256 {
		n := e.Num().Int64()
		power := rational(big.NewRat(1, 1))
		for range max(n, -n) {
			power = combine('*', power, base)
		}
		if n < 0 {
			return combine('/', rational(big.NewRat(1, 1)), power)
		}
		return power
	}
	return quantity{value: math.Pow(base.value, exponent.value), varies: base.varies || exponent.varies}
}
