package pyexpr

import "slices"

// keywords are the words that are not names.
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
			name := p.name()
			if name.text[0] == '_' {
				fail(name.pos, "attribute %q is not allowed: it begins with an underscore", name.text)
			}
			n = &attribute{position(t.pos), n, name.text}
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
	switch {
	case t.kind == tokString:
		return p.strings()
	case t.kind == tokNumber:
		return &constant{pos, parseNumber(p.take())}
	case p.accept("None"):
		return &constant{pos, None{}}
	case p.accept("True"), p.accept("False"):
		return &constant{pos, Bool(t.text == "True")}
	case p.accept("("):
		return p.group(pos)
	case p.accept("["):
		if p.accept("]") {
			return &display{pos, typeList, nil}
		}
		return p.elems(pos, typeList, "]", p.starExpr())
	case p.accept("{"):
		return p.braces(pos)
	}
	return &nameRef{pos, p.name().text}
}

func (p *parser) group(pos position) node {
	if p.accept(")") {
		return &display{pos, typeTuple, nil}
	}
	first := p.starExpr()
	switch {
	case p.is("for"):
		return p.elems(pos, typeGen, ")", first)
	case p.is(","):
		return p.elems(pos, typeTuple, ")", first)
	}
	p.expect(")")
	return p.noStar(first)
}

// elems is the rest of a display or a comprehension after its first element.
func (p *parser) elems(pos position, kind *Type, end string, first node) node {
	if p.is("for") {
		n := p.comp(pos, kind, p.noStar(first), nil)
		p.expect(end)
		return n
	}
	elems := p.list(first, p.starExpr)
	p.expect(end)
	return &display{pos, kind, elems}
}

func (p *parser) braces(pos position) node {
	d := &dictDisplay{position: pos}
	for !p.is("}") {
		var key node
		if !p.accept("**") {
			key = p.starExpr()
			if len(d.vals) == 0 && !p.is(":") {
				return p.elems(pos, typeSet, "}", key)
			}
			p.noStar(key)
			p.expect(":")
		}
		val := p.expr()
		if key != nil && len(d.vals) == 0 && p.is("for") {
			n := p.comp(pos, typeDict, key, val)
			p.expect("}")
			return n
		}
		d.keys, d.vals = append(d.keys, key), append(d.vals, val)
		if !p.accept(",") {
			break
		}
	}
	p.expect("}")
	return d
}

func (p *parser) comp(pos position, kind *Type, elem, val node) node {
	c := &comprehension{position: pos, kind: kind, elem: elem, val: val}
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
		return first
	}
	return &display{position(t.pos), typeTuple, p.list(first, p.target)}
}

func (p *parser) target() node {
	t := p.peek()
	defer p.deeper()()
	if p.is("*") {
		fail(t.pos, "* is not supported in the targets of a loop: use a slice")
	}
	if p.accept("(") {
		n := p.targets()
		p.expect(")")
		return n
	}
	return &nameRef{position(t.pos), p.name().text}
}

func (p *parser) subscript() node {
	t := p.peek()
	s := &slice{position: position(t.pos)}
	if !p.is(":") {
		s.lo = p.exprList()
		if !p.is(":") {
			return s.lo
		}
	}
	p.expect(":")
	part := func() node {
		if p.is(":") || p.is("]") {
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
