package pyexpr

import "noema/methods"

type code func(f *frame) Value

// frame holds the variables of one running lambda or comprehension.
type frame struct {
	m    *machine
	vars []Value // nil until bound
	up   *frame
}

// scope is a frame's shape, known when compiling.
type scope struct {
	up    *scope
	names map[string]int
}

func (s *scope) declare(name string) int {
	if i, ok := s.names[name]; ok {
		return i
	}
	s.names[name] = len(s.names)
	return len(s.names) - 1
}

// compiler turns nodes into closures; every name becomes a slot.
type compiler struct {
	globals []string
	index   map[string]int
}

func (c *compiler) expr(n node, s *scope) code {
	switch n := n.(type) {
	case *constant:
		v := n.val
		return func(*frame) Value { return v }
	case *nameRef:
		return c.name(n, s)
	case *display:
		return c.display(n, s)
	case *dictDisplay:
		return c.dict(n, s)
	case *unary:
		return c.unary(n, s)
	case *binary:
		return c.binary(n, s)
	case *logical:
		return c.logical(n, s)
	case *comparison:
		return c.comparison(n, s)
	case *conditional:
		test, then, other := c.test(n.test, s), c.expr(n.then, s), c.expr(n.other, s)
		return func(f *frame) Value {
			if test(f) {
				return then(f)
			}
			return other(f)
		}
	case *lambda:
		return c.lambda(n, s)
	case *comprehension:
		return c.comprehension(n, s)
	case *attribute:
		x, name, pos := c.expr(n.x, s), n.name, n.at()
		return func(f *frame) Value {
			v := x(f)
			f.m.pos = pos
			return f.m.attr(v, name)
		}
	case *call:
		return c.call(n, s)
	case *subscript:
		return c.subscript(n, s)
	case *slice:
		return c.slice(n, s)
	case *formatted:
		return c.formatted(n, s)
	}
	fail(n.at(), "cannot use a starred expression here")
	return nil
}

func (c *compiler) name(n *nameRef, s *scope) code {
	id, pos := n.id, n.at()
	depth := 0
	for at := s; at != nil; at, depth = at.up, depth+1 {
		if slot, ok := at.names[id]; ok {
			return localVar(id, pos, slot, depth)
		}
	}
	slot, ok := c.index[id]
	if !ok {
		slot = len(c.globals)
		c.index[id], c.globals = slot, append(c.globals, id)
	}
	return func(f *frame) Value {
		if v := f.m.globals[slot]; v != nil {
			return v
		}
		f.m.pos = pos
		if cure := Instead(id); cure != "" {
			raise(nameError, "name '%s' is not defined: %s", id, cure)
		}
		raise(nameError, "name '%s' is not defined%s", id, methods.DidYouMean(id, Builtins()))
		return nil
	}
}

func localVar(id string, pos, slot, depth int) code {
	return func(f *frame) Value {
		g := f
		for range depth {
			g = g.up
		}
		if v := g.vars[slot]; v != nil {
			return v
		}
		f.m.pos = pos
		class := nameError
		if depth == 0 {
			class = unboundError
		}
		raise(class, "variable '%s' is read before it has a value", id)
		return nil
	}
}

// list compiles elements, of which some may be starred, into a builder.
func (c *compiler) list(elems []node, s *scope) func(f *frame) []Value {
	codes := make([]code, len(elems))
	stars := make([]bool, len(elems))
	for i, e := range elems {
		if st, ok := e.(*starred); ok {
			stars[i], e = true, st.x
		}
		codes[i] = c.expr(e, s)
	}
	return func(f *frame) []Value {
		out := f.m.room(len(codes))
		for i, code := range codes {
			v := code(f)
			if !stars[i] {
				out = append(out, v)
				continue
			}
			f.m.pos = elems[i].at()
			out = append(out, f.m.collect(v)...)
		}
		return out
	}
}

func (c *compiler) display(n *display, s *scope) code {
	list := c.list(n.elems, s)
	if n.kind != typeSet {
		return func(f *frame) Value { f.m.step(1); return sequence(n.kind, list(f)) }
	}
	pos := n.at()
	return func(f *frame) Value {
		vals := list(f)
		f.m.pos = pos
		set := new(Set)
		for _, v := range vals {
			f.m.step(1)
			set.d.put(f.m, v, nil)
		}
		return set
	}
}

func (c *compiler) dict(n *dictDisplay, s *scope) code {
	keys, vals := make([]code, len(n.keys)), make([]code, len(n.keys))
	for i := range n.keys {
		if n.keys[i] != nil {
			keys[i] = c.expr(n.keys[i], s)
		}
		vals[i] = c.expr(n.vals[i], s)
	}
	pos := n.at()
	return func(f *frame) Value {
		d := new(Dict)
		pairs := f.m.room(2 * len(keys)) // all are evaluated before any is put, as in CPython
		for i := range keys {
			f.m.step(1)
			var k Value
			if keys[i] != nil {
				k = keys[i](f)
			}
			v := vals[i](f)
			if _, ok := v.(*Dict); k == nil && !ok {
				f.m.pos = pos
				raise(typeError, "'%s' object is not a mapping", className(v))
			}
			pairs = append(pairs, k, v)
		}
		f.m.pos = pos
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] != nil {
				d.put(f.m, pairs[i], pairs[i+1])
			} else {
				d.addAll(f.m, pairs[i+1].(*Dict))
			}
		}
		return d
	}
}

func (c *compiler) slice(n *slice, s *scope) code {
	part := func(n node) code {
		if n == nil {
			return func(*frame) Value { return None{} }
		}
		return c.expr(n, s)
	}
	lo, hi, step := part(n.lo), part(n.hi), part(n.step)
	return func(f *frame) Value {
		return &sliceValue{lo(f), hi(f), step(f)}
	}
}

func (c *compiler) subscript(n *subscript, s *scope) code {
	x, pos := c.expr(n.x, s), n.at()
	if k, ok := n.index.(*constant); ok {
		if name, ok := k.val.(Str); ok {
			look := lookup{name: name}
			return func(f *frame) Value {
				v := x(f)
				f.m.step(1)
				if d, ok := v.(*Dict); ok {
					if val := look.in(d); val != nil {
						return val
					}
				}
				f.m.pos = pos
				return f.m.item(v, name)
			}
		}
	}
	index := c.expr(n.index, s)
	return func(f *frame) Value {
		v := x(f)
		i := index(f)
		f.m.pos = pos
		f.m.step(1)
		return f.m.item(v, i)
	}
}
