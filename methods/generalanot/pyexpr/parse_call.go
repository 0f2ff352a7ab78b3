package pyexpr

import "slices"

func (p *parser) call(fn node, pos int) node {
	c := &call{position: position(pos), fn: fn}
	for !p.is(")") {
		p.argument(c)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return c
}

func (p *parser) argument(c *call) {
	t := p.peek()
	switch {
	case p.is("**"):
		fail(t.pos, "** is not supported in a call: give the arguments by name")
	case t.kind == tokName && p.peekAt(1).is("="):
		name := p.name()
		p.expect("=")
		if slices.ContainsFunc(c.kws, func(k kwNode) bool { return k.name == name.text }) {
			fail(t.pos, "keyword argument repeated: %s", name.text)
		}
		c.kws = append(c.kws, kwNode{name.text, p.expr()})
		return
	}
	var arg node
	star := p.accept("*")
	if star {
		arg = &starred{position(t.pos), p.expr()}
	} else if arg = p.expr(); p.is("for") {
		arg = p.comp(position(t.pos), typeGen, arg, nil)
		if len(c.args)+len(c.kws) > 0 || !p.is(")") {
			fail(t.pos, "a generator expression must be parenthesized")
		}
	}
	if len(c.kws) > 0 && !star {
		fail(t.pos, "positional argument follows keyword argument")
	}
	c.args = append(c.args, arg)
}

func (p *parser) lambda() node {
	t := p.take()
	ps := p.params()
	p.expect(":")
	return &lambda{position(t.pos), ps, p.expr()}
}

// params is a lambda's parameters, up to the colon.
func (p *parser) params() params {
	var ps params
	for !p.is(":") {
		t := p.peek()
		if p.is("*") || p.is("**") || p.is("/") {
			fail(t.pos, "%q is not supported in the parameters of a lambda: use names and defaults", t.text)
		}
		name := p.name().text
		if slices.Contains(ps.names, name) {
			fail(t.pos, "duplicate argument %q in function definition", name)
		}
		var def node
		if p.accept("=") {
			def = p.expr()
		} else if n := len(ps.defaults); n > 0 && ps.defaults[n-1] != nil {
			fail(t.pos, "non-default argument follows default argument")
		}
		ps.names, ps.defaults = append(ps.names, name), append(ps.defaults, def)
		if !p.accept(",") {
			break
		}
	}
	return ps
}
