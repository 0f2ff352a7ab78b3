package pyexpr

// loop is a compiled comprehension: nested loops that stop at each element.
type loop struct {
	clauses []loopClause
	nvars   int
	pos     int
}

type loopClause struct {
	iter  code
	bind  func(f *frame, v Value)
	conds []func(f *frame) bool
}

// walk is a comprehension at work.
type walk struct {
	loop *loop
	f    *frame
	its  []iterator // one for each clause that is open
	done bool
}

// start opens the first clause over v, whose items the comprehension's own
// scope cannot influence.
func (l *loop) start(f *frame, v Value) *walk {
	f.m.pos = l.pos
	f.m.alloc(160 + 16*l.nvars)
	w := &walk{loop: l, f: &frame{m: f.m, vars: make([]Value, l.nvars), up: f}}
	w.its = append(make([]iterator, 0, len(l.clauses)), f.m.iter(v))
	return w
}

// next moves to the next element; its variables are bound then.
func (w *walk) next() bool {
	if w.done {
		return false
	}
	m, level := w.f.m, len(w.its)-1
	for {
		v, ok := w.its[level](m)
		if !ok {
			w.its = w.its[:level]
			if level--; level < 0 {
				w.done = true
				return false
			}
			continue
		}
		m.step(1)
		cl := &w.loop.clauses[level]
		cl.bind(w.f, v)
		if !w.holds(cl) {
			continue
		}
		if level++; level == len(w.loop.clauses) {
			return true
		}
		inner := w.loop.clauses[level].iter(w.f)
		m.pos = w.loop.pos
		m.step(5)
		m.alloc(48)
		w.its = append(w.its, m.iter(inner))
	}
}

func (w *walk) holds(cl *loopClause) bool {
	for _, cond := range cl.conds {
		if !cond(w.f) {
			return false
		}
	}
	return true
}

func (c *compiler) comprehension(n *comprehension, s *scope) code {
	inner := &scope{up: s, names: map[string]int{}}
	for _, cl := range n.clauses {
		declareTargets(cl.target, inner)
	}
	l := &loop{pos: n.at(), nvars: len(inner.names)}
	for i, cl := range n.clauses {
		lc := loopClause{bind: c.target(cl.target, inner)}
		if i == 0 {
			lc.iter = c.expr(cl.iter, s) // evaluated outside, as in Python
		} else {
			lc.iter = c.expr(cl.iter, inner)
		}
		for _, cond := range cl.conds {
			lc.conds = append(lc.conds, c.test(cond, inner))
		}
		l.clauses = append(l.clauses, lc)
	}
	elem, first := c.expr(n.elem, inner), l.clauses[0].iter
	if n.kind == typeGen {
		return func(f *frame) Value {
			w := l.start(f, first(f))
			return &Iter{func(m *machine) (v Value, ok bool) {
				if ok = w.next(); ok {
					v = elem(w.f)
				}
				return v, ok
			}}
		}
	}
	var val code
	if n.val != nil {
		val = c.expr(n.val, inner)
	}
	return func(f *frame) Value { return l.collect(f, first(f), n.kind, elem, val) }
}

// collect makes the list, set or dict of a comprehension.
func (l *loop) collect(f *frame, over Value, kind *Type, elem, val code) Value {
	list, d := f.m.room(0), new(Set)
	for w := l.start(f, over); w.next(); {
		v := elem(w.f)
		if kind == typeList {
			f.m.alloc(32)
			list = append(list, v)
			continue
		}
		var x Value
		if val != nil {
			x = val(w.f)
		}
		f.m.pos = l.pos
		d.d.put(f.m, v, x)
	}
	switch kind {
	case typeList:
		return &List{list}
	case typeSet:
		return d
	}
	return &d.d
}

func declareTargets(n node, s *scope) {
	switch n := n.(type) {
	case *nameRef:
		s.declare(n.id)
	case *display:
		for _, e := range n.elems {
			declareTargets(e, s)
		}
	}
}

// target compiles the binding of a loop variable, or of several.
func (c *compiler) target(n node, s *scope) func(f *frame, v Value) {
	if n, ok := n.(*nameRef); ok {
		slot := s.names[n.id]
		return func(f *frame, v Value) { f.vars[slot] = v }
	}
	elems := n.(*display).elems
	binds := make([]func(f *frame, v Value), len(elems))
	for i, e := range elems {
		binds[i] = c.target(e, s)
	}
	pos := n.at()
	return func(f *frame, v Value) {
		f.m.pos = pos
		for i, x := range f.m.unpack(v, len(binds)) {
			binds[i](f, x)
		}
	}
}

// unpack splits v into n values.
func (m *machine) unpack(v Value, n int) []Value {
	if t, ok := v.(*Tuple); ok && len(t.items) == n {
		return t.items
	}
	next, ok := m.tryIter(v)
	if !ok {
		raise(typeError, "cannot unpack non-iterable %s object", className(v))
	}
	var vals []Value
	for len(vals) <= n {
		x, ok := next(m)
		if !ok {
			break
		}
		m.step(1)
		m.alloc(16)
		vals = append(vals, x)
	}
	if len(vals) != n {
		raise(valueError, "cannot unpack %d values into %d names", len(vals), n)
	}
	return vals
}
