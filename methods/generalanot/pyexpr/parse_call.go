package pyexpr

import "slices"

// call is a call's arguments after the opening parenthesis.
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
	case p.accept("**"):
		c.kws = append(c.kws, kwNode{"", p.expr()})
		return
	case p.accept("*"):
		p.positional(c, t, &starred{position(t.pos), p.expr()})
		return
	case t.kind == tokName && p.toks[p.i+1].kind == tokOp && p.toks[p.i+1].text == "=":
		name := p.name()
		p.expect("=")
		if slices.ContainsFunc(c.kws, func(k kwNode) bool { return k.name == name.text }) {
			fail(t.pos, "keyword argument repeated: %s", name.text)
		}
		c.kws = append(c.kws, kwNode{name.text, p.expr()})
		return
	}
	arg := p.expr()
	if p.is("for") {
		arg = p.comp(t.pos, typeGen, arg, nil)
		if len(c.args)+len(c.kws) > 0 || !p.is(")") && !(p.is(",") && p.toks[p.i+1].text == ")") {
			fail(t.pos, "a generator expression must be parenthesized")
		}
		if p.is(",") {
			fail(t.pos, "a generator expression must be parenthesized")
		}
	}
	p.positional(c, t, arg)
}

func (p *parser) positional(c *call, t token, arg node) {
	_, star := arg.(*starred)
	for _, k := range c.kws {
		if k.name == "" {
			fail(t.pos, "positional argument follows keyword argument unpacking")
		}
		if !star {
			fail(t.pos, "positional argument follows keyword argument")
		}
	}
	c.args = append(c.args, arg)
}

// params is a lambda's parameters, up to the colon.
func (p *parser) params() params {
	ps := params{kwOnly: -1}
	seen := map[string]bool{}
	name := func() string {
		t := p.name()
		if seen[t.text] {
			fail(t.pos, "duplicate argument %q in function definition", t.text)
		}
		seen[t.text] = true
		return t.text
	}
	for !p.is(":") {
		t := p.peek()
		switch {
		case p.accept("**"):
			ps.kwRest = name()
			p.accept(",")
			if !p.is(":") {
				fail(t.pos, "arguments cannot follow var-keyword argument")
			}
		case p.accept("*"):
			p.starParam(&ps, t, name)
		case p.accept("/"):
			if len(ps.names) == 0 || ps.posOnly > 0 || ps.kwOnly >= 0 {
				p.unexpected(t)
			}
			ps.posOnly = len(ps.names)
		default:
			p.param(&ps, t, name())
		}
		if !p.accept(",") {
			break
		}
	}
	if ps.kwOnly < 0 {
		ps.kwOnly = len(ps.names)
	}
	return ps
}

func (p *parser) starParam(ps *params, t token, name func() string) {
	if ps.kwOnly >= 0 {
		p.unexpected(t)
	}
	ps.kwOnly = len(ps.names)
	if !p.is(",") {
		ps.rest = name()
	} else if next := p.toks[p.i+1]; next.kind != tokName {
		fail(t.pos, "named arguments must follow bare *")
	}
}

func (p *parser) param(ps *params, t token, name string) {
	var def node
	if p.accept("=") {
		def = p.expr()
	} else if n := len(ps.defaults); ps.kwOnly < 0 && n > 0 && ps.defaults[n-1] != nil {
		fail(t.pos, "non-default argument follows default argument")
	}
	ps.names, ps.defaults = append(ps.names, name), append(ps.defaults, def)
}
