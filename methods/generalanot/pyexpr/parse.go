package pyexpr

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds on a source. CPython's lie elsewhere, and beyond any formula too.
const (
	maxSource  = 64 << 10
	maxNesting = 400
)

// parser is a recursive-descent parser for the grammar in the package comment.
type parser struct {
	lex   lexer
	ahead []token // read and not taken
	depth int
}

func parse(src string) node {
	if len(src) > maxSource {
		fail(0, "longer than %d bytes", maxSource)
	}
	if !utf8.ValidString(src) {
		fail(0, "not valid UTF-8")
	}
	p := &parser{lex: lexer{src: src, end: len(src)}}
	n := p.exprList()
	if t := p.peek(); t.kind != tokEnd {
		p.unexpected(t)
	}
	return n
}

func (p *parser) peek() token { return p.peekAt(0) }

func (p *parser) peekAt(i int) token {
	for len(p.ahead) <= i {
		p.ahead = append(p.ahead, p.lex.next())
	}
	return p.ahead[i]
}

func (p *parser) take() token {
	t := p.peek()
	p.ahead = p.ahead[:copy(p.ahead, p.ahead[1:])]
	return t
}

// is says whether the next token is this operator or keyword.
func (p *parser) is(text string) bool { return p.peek().is(text) }

func (t token) is(text string) bool { return t.text == text && (t.kind == tokOp || t.kind == tokName) }

func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.take()
	return true
}

func (p *parser) expect(text string) {
	if t := p.peek(); t.kind == tokEnd {
		fail(t.pos, "the expression ends too early: expected %q", text)
	} else if !p.accept(text) {
		p.unexpected(t)
	}
}

func (p *parser) unexpected(t token) {
	switch {
	case t.kind == tokEnd:
		fail(t.pos, "the expression ends too early")
	case t.is("<<") || t.is(">>"):
		fail(t.pos, "%s is not supported: multiply or divide by 2**n", t.text)
	case t.is("=") || strings.HasPrefix(p.lex.src[t.pos:], ":="):
		fail(t.pos, "assignment is not allowed: a formula is one expression (== compares)")
	}
	fail(t.pos, "invalid syntax at %q", t.text)
}

// deeper bounds the recursion; the caller calls the result when it is done.
func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxNesting {
		fail(p.peek().pos, "too deeply nested")
	}
	return func() { p.depth-- }
}

// list is the rest of what commas separate, after the first.
func (p *parser) list(first node, next func() node) []node {
	elems := []node{first}
	for p.accept(",") {
		if t := p.peek(); t.kind == tokEnd || slices.ContainsFunc([]string{")", "]", "}", "in", ":", "!"}, t.is) {
			break
		}
		elems = append(elems, next())
	}
	return elems
}

// exprList is an expression, or a tuple without parentheses.
func (p *parser) exprList() node {
	pos := p.peek().pos
	first := p.starExpr()
	if !p.is(",") {
		return p.noStar(first)
	}
	return &display{position(pos), typeTuple, p.list(first, p.starExpr)}
}

// starExpr is an expression, or "*" and what it unpacks.
func (p *parser) starExpr() node {
	if t := p.peek(); p.accept("*") {
		return &starred{position(t.pos), p.binary(0)}
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
	first := p.binary(0)
	c := &comparison{position(p.peek().pos), nil, []node{first}}
	for op := p.compareOp(); op != ""; op = p.compareOp() {
		c.ops = append(c.ops, op)
		c.xs = append(c.xs, p.binary(0))
	}
	if c.ops == nil {
		return first
	}
	return c
}

func (p *parser) compareOp() string {
	t := p.peek()
	switch {
	case slices.ContainsFunc([]string{"==", "!=", "<", "<=", ">", ">=", "in"}, t.is):
		return p.take().text
	case p.accept("is"):
		if p.accept("not") {
			return "is not"
		}
		return "is"
	case t.is("not") && p.peekAt(1).is("in"):
		p.take()
		p.take()
		return "not in"
	}
	return ""
}

// binary parses operators that associate to the left, from the level that binds
// least.
func (p *parser) binary(level int) node {
	levels := [...]string{"|", "^", "&", "+ -", "* / // %"}
	if level == len(levels) {
		return p.factor()
	}
	n := p.binary(level + 1)
	for {
		t := p.peek()
		if t.kind != tokOp || !slices.Contains(strings.Fields(levels[level]), t.text) {
			return n
		}
		p.take()
		n = &binary{position(t.pos), t.text, n, p.binary(level + 1)}
	}
}

func (p *parser) factor() node {
	t := p.peek()
	if t.is("-") || t.is("+") || t.is("~") {
		defer p.deeper()()
		p.take()
		return &unary{position(t.pos), t.text, p.factor()}
	}
	base := p.primary()
	t = p.peek()
	if !p.accept("**") {
		return base
	}
	defer p.deeper()()
	return &binary{position(t.pos), "**", base, p.factor()}
}
