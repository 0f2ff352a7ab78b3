package pyexpr

import (
	"slices"
	"unicode/utf8"
)

// Bounds on a source. CPython's lie elsewhere, and beyond any formula too.
const (
	maxSource  = 64 << 10
	maxNesting = 400
)

// parser is a recursive-descent parser with one method for each level of the
// grammar in the package comment.
type parser struct {
	src   string
	toks  []token
	i     int
	depth int
}

// parse reads a whole source.
func parse(src string) node {
	if len(src) > maxSource {
		fail(0, "longer than %d bytes", maxSource)
	}
	if !utf8.ValidString(src) {
		fail(0, "not valid UTF-8")
	}
	if i := slices.Index([]byte(src), 0); i >= 0 {
		fail(i, "source code cannot contain null bytes")
	}
	p := &parser{src: src, toks: lex(src, 0, len(src), false)}
	n := p.exprList()
	for p.peek().kind == tokNewline {
		p.i++
	}
	if t := p.peek(); t.kind != tokEnd {
		p.unexpected(t)
	}
	return n
}

// inner parses an f-string's expression, as if it stood in parentheses.
func (p *parser) inner(from, to int) node {
	sub := &parser{src: p.src, toks: lex(p.src, from, to, true), depth: p.depth}
	n := sub.exprList()
	if t := sub.peek(); t.kind != tokEnd {
		sub.unexpected(t)
	}
	return n
}

func (p *parser) peek() token { return p.toks[p.i] }

func (p *parser) take() token {
	t := p.toks[p.i]
	if t.kind != tokEnd {
		p.i++
	}
	return t
}

// is says whether the next token is this operator or keyword.
func (p *parser) is(text string) bool {
	t := p.peek()
	return t.text == text && (t.kind == tokOp || t.kind == tokName)
}

// accept takes the next token if it is text.
func (p *parser) accept(text string) bool {
	if p.is(text) {
		p.i++
		return true
	}
	return false
}

func (p *parser) expect(text string) {
	if !p.accept(text) {
		if t := p.peek(); t.kind == tokEnd {
			fail(t.pos, "expected %q, the expression ends here", text)
		}
		p.unexpected(p.peek())
	}
}

func (p *parser) unexpected(t token) {
	switch {
	case t.kind == tokEnd || t.kind == tokNewline:
		fail(t.pos, "the expression ends too early")
	case t.kind == tokOp && len(t.text) > 1 && t.text[len(t.text)-1] == '=' || t.text == "=":
		fail(t.pos, "assignment is not allowed: a formula is one expression (== compares)")
	default:
		fail(t.pos, "invalid syntax at %q", t.text)
	}
}

// deeper bounds the recursion; the caller calls the result when it is done.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxNesting {
		fail(p.peek().pos, "too deeply nested")
	}
	return func() { p.depth-- }
}

// exprList is an expression, or a tuple without parentheses.
func (p *parser) exprList() node {
	pos := p.peek().pos
	first := p.starExpr()
	if !p.is(",") {
		return p.noStar(first)
	}
	elems := []node{first}
	for p.accept(",") {
		if p.atListEnd() {
			break
		}
		elems = append(elems, p.starExpr())
	}
	return &display{position(pos), typeTuple, elems}
}

func (p *parser) atListEnd() bool {
	t := p.peek()
	return t.kind == tokEnd || t.kind == tokNewline || t.kind == tokOp && (t.text == ")" || t.text == "]" || t.text == "}")
}

// starExpr is an expression, or "*" and what it unpacks.
func (p *parser) starExpr() node {
	if t := p.peek(); p.accept("*") {
		return &starred{position(t.pos), p.bitOr()}
	}
	return p.expr()
}

func (p *parser) noStar(n node) node {
	if s, ok := n.(*starred); ok {
		fail(s.at(), "cannot use a starred expression here")
	}
	return n
}

// expr is a conditional expression or a lambda.
func (p *parser) expr() node {
	defer p.deeper()()
	if p.is("lambda") {
		return p.lambda()
	}
	pos := p.peek().pos
	then := p.or()
	if !p.accept("if") {
		return then
	}
	test := p.or()
	p.expect("else")
	return &conditional{position(pos), test, then, p.expr()}
}

func (p *parser) or() node { return p.chain("or", p.and) }

func (p *parser) and() node { return p.chain("and", p.not) }

func (p *parser) chain(op string, next func() node) node {
	first := next()
	if !p.is(op) {
		return first
	}
	xs := []node{first}
	for p.accept(op) {
		xs = append(xs, next())
	}
	return &logical{position(first.at()), op == "or", xs}
}

func (p *parser) not() node {
	t := p.peek()
	if !p.accept("not") {
		return p.comparison()
	}
	defer p.deeper()()
	return &unary{position(t.pos), "not", p.not()}
}

func (p *parser) comparison() node {
	first := p.bitOr()
	var c *comparison
	for {
		pos := p.peek().pos
		op := p.compareOp()
		if op == "" {
			break
		}
		if c == nil {
			c = &comparison{position(pos), nil, []node{first}}
		}
		c.ops = append(c.ops, op)
		c.xs = append(c.xs, p.bitOr())
	}
	if c == nil {
		return first
	}
	return c
}

func (p *parser) compareOp() string {
	t := p.peek()
	switch {
	case t.kind == tokOp && slices.Contains([]string{"==", "!=", "<", "<=", ">", ">="}, t.text), p.is("in"):
		p.i++
		return t.text
	case p.accept("is"):
		if p.accept("not") {
			return "is not"
		}
		return "is"
	case p.is("not") && p.toks[p.i+1].text == "in" && p.toks[p.i+1].kind == tokName:
		p.i += 2
		return "not in"
	}
	return ""
}

func (p *parser) bitOr() node  { return p.left(p.bitXor, "|") }
func (p *parser) bitXor() node { return p.left(p.bitAnd, "^") }
func (p *parser) bitAnd() node { return p.left(p.shift, "&") }
func (p *parser) shift() node  { return p.left(p.sum, "<<", ">>") }
func (p *parser) sum() node    { return p.left(p.term, "+", "-") }
func (p *parser) term() node   { return p.left(p.factor, "*", "/", "//", "%") }

// left parses a chain of operators that associate to the left.
func (p *parser) left(next func() node, ops ...string) node {
	n := next()
	for {
		t := p.peek()
		if t.kind != tokOp || !slices.Contains(ops, t.text) {
			return n
		}
		p.i++
		n = &binary{position(t.pos), t.text, n, next()}
	}
}

func (p *parser) factor() node {
	t := p.peek()
	if t.kind == tokOp && (t.text == "-" || t.text == "+" || t.text == "~") {
		defer p.deeper()()
		p.i++
		return &unary{position(t.pos), t.text, p.factor()}
	}
	return p.power()
}

func (p *parser) power() node {
	base := p.primary()
	t := p.peek()
	if !p.accept("**") {
		return base
	}
	defer p.deeper()()
	return &binary{position(t.pos), "**", base, p.factor()}
}

func (p *parser) lambda() node {
	t := p.take()
	ps := p.params()
	p.expect(":")
	return &lambda{position(t.pos), ps, p.expr()}
}
