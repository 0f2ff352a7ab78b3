package pyexpr

import "slices"

// keywords are the words that are no names.
var keywords = []string{
	"False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
	"def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
	"is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
}

// primary is an atom and what is called, subscripted or looked up on it.
func (p *parser) primary() node {
	n := p.atom()
	for {
		t := p.peek()
		switch {
		case p.accept("."):
			n = &attribute{position(t.pos), n, p.attrName()}
		case p.accept("("):
			n = p.call(n, t.pos)
		case p.accept("["):
			n = &subscript{position(t.pos), n, p.subscript()}
			p.expect("]")
		default:
			return n
		}
	}
}

func (p *parser) attrName() string {
	t := p.name()
	if t.text[0] == '_' {
		fail(t.pos, "attribute %q is not allowed: it begins with an underscore", t.text)
	}
	return t.text
}

// name takes an identifier.
func (p *parser) name() token {
	t := p.take()
	if t.kind != tokName || slices.Contains(keywords, t.text) {
		p.unexpected(t)
	}
	return t
}

func (p *parser) atom() node {
	t := p.peek()
	pos := position(t.pos)
	switch t.kind {
	case tokString:
		return p.strings()
	case tokNumber:
		return &constant{pos, parseNumber(p.take())}
	case tokName:
		return p.word()
	}
	switch {
	case p.accept("("):
		return p.group(t.pos)
	case p.accept("["):
		return p.listOrComp(t.pos)
	case p.accept("{"):
		return p.braces(t.pos)
	}
	p.unexpected(t)
	return nil
}

func (p *parser) word() node {
	t := p.peek()
	pos := position(t.pos)
	switch t.text {
	case "None":
		p.i++
		return &constant{pos, None{}}
	case "True", "False":
		p.i++
		return &constant{pos, Bool(t.text == "True")}
	}
	return &nameRef{pos, p.name().text}
}

// group is what stands in parentheses.
func (p *parser) group(pos int) node {
	if p.accept(")") {
		return &display{position(pos), typeTuple, nil}
	}
	first := p.starExpr()
	if p.is("for") {
		n := p.comp(pos, typeGen, p.noStar(first), nil)
		p.expect(")")
		return n
	}
	if p.accept(")") {
		return p.noStar(first)
	}
	elems := []node{first}
	for p.accept(",") && !p.is(")") {
		elems = append(elems, p.starExpr())
	}
	p.expect(")")
	return &display{position(pos), typeTuple, elems}
}

func (p *parser) listOrComp(pos int) node {
	if p.accept("]") {
		return &display{position(pos), typeList, nil}
	}
	return p.elems(pos, typeList, "]", p.starExpr())
}

// elems is the rest of a list or a set after its first element.
func (p *parser) elems(pos int, kind *Type, end string, first node) node {
	if p.is("for") {
		n := p.comp(pos, kind, p.noStar(first), nil)
		p.expect(end)
		return n
	}
	elems := []node{first}
	for p.accept(",") && !p.is(end) {
		elems = append(elems, p.starExpr())
	}
	p.expect(end)
	return &display{position(pos), kind, elems}
}

// braces is a set or a dict.
func (p *parser) braces(pos int) node {
	if p.accept("}") {
		return &dictDisplay{position: position(pos)}
	}
	d := &dictDisplay{position: position(pos)}
	if !p.is("**") {
		first := p.starExpr()
		if !p.is(":") {
			return p.elems(pos, typeSet, "}", first)
		}
		p.expect(":")
		val := p.expr()
		if p.is("for") {
			n := p.comp(pos, typeDict, p.noStar(first), val)
			p.expect("}")
			return n
		}
		d.keys, d.vals = append(d.keys, p.noStar(first)), append(d.vals, val)
		if !p.accept(",") {
			p.expect("}")
			return d
		}
	}
	for !p.is("}") {
		p.item(d)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return d
}

func (p *parser) item(d *dictDisplay) {
	if p.accept("**") {
		d.keys, d.vals = append(d.keys, nil), append(d.vals, p.bitOr())
		return
	}
	d.keys = append(d.keys, p.expr())
	p.expect(":")
	d.vals = append(d.vals, p.expr())
}

// comp is the clauses of a comprehension.
func (p *parser) comp(pos int, kind *Type, elem, val node) node {
	c := &comprehension{position: position(pos), kind: kind, elem: elem, val: val}
	for p.accept("for") {
		cl := clause{target: p.targets()}
		p.expect("in")
		cl.iter = p.or()
		for p.accept("if") {
			cl.conds = append(cl.conds, p.or())
		}
		c.clauses = append(c.clauses, cl)
	}
	return c
}

// targets is one target or a tuple of targets without parentheses.
func (p *parser) targets() node {
	t := p.peek()
	first := p.target()
	if !p.is(",") {
		return p.noStar(first)
	}
	elems := []node{first}
	for p.accept(",") && !p.is("in") && !p.atListEnd() {
		elems = append(elems, p.target())
	}
	return targetTuple(t.pos, elems)
}

func targetTuple(pos int, elems []node) node {
	stars := 0
	for _, e := range elems {
		if _, ok := e.(*starred); ok {
			stars++
		}
	}
	if stars > 1 {
		fail(pos, "multiple starred expressions in assignment")
	}
	return &display{position(pos), typeTuple, elems}
}

func (p *parser) target() node {
	t := p.peek()
	defer p.deeper()()
	switch {
	case p.accept("*"):
		return &starred{position(t.pos), p.noStar(p.target())}
	case p.is("("), p.is("["):
		end := map[string]string{"(": ")", "[": "]"}[p.take().text]
		if p.accept(end) {
			return targetTuple(t.pos, nil)
		}
		first := p.target()
		if end == ")" && p.accept(end) {
			return p.noStar(first)
		}
		elems := []node{first}
		for p.accept(",") && !p.is(end) {
			elems = append(elems, p.target())
		}
		p.expect(end)
		return targetTuple(t.pos, elems)
	}
	return &nameRef{position(t.pos), p.name().text}
}

func (p *parser) subscript() node {
	t := p.peek()
	first := p.slice()
	if !p.is(",") {
		return p.noStar(first)
	}
	elems := []node{first}
	for p.accept(",") && !p.is("]") {
		elems = append(elems, p.slice())
	}
	return &display{position(t.pos), typeTuple, elems}
}

func (p *parser) slice() node {
	t := p.peek()
	var lo node
	if !p.is(":") {
		lo = p.starExpr()
		if !p.is(":") {
			return lo
		}
	}
	p.expect(":")
	s := &slice{position: position(t.pos), lo: lo}
	part := func() node {
		if p.is(":") || p.is("]") || p.is(",") {
			return nil
		}
		return p.expr()
	}
	s.hi = part()
	if p.accept(":") {
		s.step = part()
	}
	return s
}
