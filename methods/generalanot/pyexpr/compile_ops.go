package pyexpr

func (c *compiler) binary(n *binary, s *scope) code {
	l, r, op, pos := c.expr(n.l, s), c.expr(n.r, s), operatorOf(n.op), n.at()
	return func(f *frame) Value {
		a := l(f)
		b := r(f)
		f.m.pos = pos
		f.m.step(1)
		return op.apply(f.m, a, b)
	}
}

func (c *compiler) unary(n *unary, s *scope) code {
	if n.op == "not" {
		test := c.test(n.x, s)
		return func(f *frame) Value { return Bool(!test(f)) }
	}
	x, op, pos := c.expr(n.x, s), n.op, n.at()
	return func(f *frame) Value {
		v := x(f)
		f.m.pos = pos
		f.m.step(1)
		return f.m.unary(op, v)
	}
}

func (c *compiler) logical(n *logical, s *scope) code {
	xs := make([]code, len(n.xs))
	for i, x := range n.xs {
		xs[i] = c.expr(x, s)
	}
	last, or := len(xs)-1, n.or
	return func(f *frame) Value {
		for _, x := range xs[:last] {
			if v := x(f); truth(v) == or {
				return v
			}
		}
		return xs[last](f)
	}
}

// test compiles a node whose truth alone is wanted.
func (c *compiler) test(n node, s *scope) func(f *frame) bool {
	switch n := n.(type) {
	case *logical:
		xs := make([]func(f *frame) bool, len(n.xs))
		for i, x := range n.xs {
			xs[i] = c.test(x, s)
		}
		or := n.or
		return func(f *frame) bool {
			for _, x := range xs {
				if x(f) == or {
					return or
				}
			}
			return !or
		}
	case *comparison:
		if len(n.ops) == 1 {
			return c.compareOne(n, s)
		}
	}
	x := c.expr(n, s)
	return func(f *frame) bool { return truth(x(f)) }
}

func (c *compiler) compareOne(n *comparison, s *scope) func(f *frame) bool {
	l, r, op, pos := c.expr(n.xs[0], s), c.expr(n.xs[1], s), n.ops[0], n.at()
	if want, ok := constantStr(n.xs[1]); ok && (op == "==" || op == "!=") {
		if x, ok := n.xs[0].(*subscript); ok {
			if short := fieldEquals(x, s, want, op == "==", l); short != nil {
				return short
			}
		}
		return func(f *frame) bool {
			f.m.step(1)
			got, ok := l(f).(Str)
			return (ok && got == want) == (op == "==")
		}
	}
	cmp := comparator(op)
	return func(f *frame) bool {
		a := l(f)
		b := r(f)
		f.m.pos = pos
		f.m.step(1)
		return cmp(f.m, a, b)
	}
}

func constantStr(n node) (Str, bool) {
	k, ok := n.(*constant)
	if !ok {
		return "", false
	}
	s, ok := k.val.(Str)
	return s, ok
}

// fieldEquals is e['name'] == 'text' for a loop variable e, of which formulas
// are full; slow is for whatever is not a dict with that key. It is nil
// for any other subscript.
func fieldEquals(n *subscript, s *scope, want Str, equal bool, slow code) func(f *frame) bool {
	name, ok := constantStr(n.index)
	v, isName := n.x.(*nameRef)
	if !ok || !isName || s == nil {
		return nil
	}
	slot, ok := s.names[v.id]
	if !ok {
		return nil
	}
	look := lookup{name: name}
	return func(f *frame) bool {
		f.m.step(2)
		var got Value
		if d, ok := f.vars[slot].(*Dict); ok {
			got = look.in(d)
		}
		if got == nil {
			got = slow(f)
		}
		text, ok := got.(Str)
		return (ok && text == want) == equal
	}
}

func comparator(op string) func(m *machine, a, b Value) bool {
	switch op {
	case "==":
		return (*machine).eq
	case "!=":
		return func(m *machine, a, b Value) bool { return !m.eq(a, b) }
	case "in":
		return func(m *machine, a, b Value) bool { return m.contains(b, a) }
	case "not in":
		return func(m *machine, a, b Value) bool { return !m.contains(b, a) }
	case "is":
		return identical
	case "is not":
		return func(_ *machine, a, b Value) bool { return !identical(nil, a, b) }
	}
	return func(m *machine, a, b Value) bool { return m.order(op, a, b) }
}

func (c *compiler) comparison(n *comparison, s *scope) code {
	if len(n.ops) == 1 {
		test := c.compareOne(n, s)
		return func(f *frame) Value { return Bool(test(f)) }
	}
	xs := make([]code, len(n.xs))
	for i, x := range n.xs {
		xs[i] = c.expr(x, s)
	}
	cmps := make([]func(m *machine, a, b Value) bool, len(n.ops))
	for i, op := range n.ops {
		cmps[i] = comparator(op)
	}
	pos := n.at()
	return func(f *frame) Value {
		a := xs[0](f)
		for i, cmp := range cmps {
			b := xs[i+1](f)
			f.m.pos = pos
			f.m.step(1)
			if !cmp(f.m, a, b) {
				return Bool(false)
			}
			a = b
		}
		return Bool(true)
	}
}
