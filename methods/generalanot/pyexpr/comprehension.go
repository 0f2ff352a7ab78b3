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
	elem := c.expr(n.elem, inner)
	first := l.clauses[0].iter
	switch n.kind {
	case typeGen:
		return func(f *frame) Value {
			w := l.start(f, first(f))
			return &Iter{func(*machine) (Value, bool) {
				if !w.next() {
					return nil, false
				}
				return elem(w.f), true
			}, typeGen}
		}
	case typeList:
		return func(f *frame) Value {
			out := f.m.room(0)
			for w := l.start(f, first(f)); w.next(); {
				f.m.alloc(32)
				out = append(out, elem(w.f))
			}
			return &List{out}
		}
	case typeSet:
		return func(f *frame) Value {
			out := new(Set)
			for w := l.start(f, first(f)); w.next(); {
				v := elem(w.f)
				f.m.pos = l.pos
				out.d.put(f.m, v, nil)
			}
			return out
		}
	}
	return dictComprehension(l, first, elem, c.expr(n.val, inner))
}

func dictComprehension(l *loop, first, elem, val code) code {
	return func(f *frame) Value {
		out := new(Dict)
		for w := l.start(f, first(f)); w.next(); {
			k := elem(w.f)
			v := val(w.f)
			f.m.pos = l.pos
			out.put(f.m, k, v)
		}
		return out
	}
}

func declareTargets(n node, s *scope) {
	switch n := n.(type) {
	case *nameRef:
		s.declare(n.id)
	case *starred:
		declareTargets(n.x, s)
	case *display:
		for _, e := range n.elems {
			declareTargets(e, s)
		}
	}
}

// target compiles the binding of a loop variable, or of several.
func (c *compiler) target(n node, s *scope) func(f *frame, v Value) {
	switch n := n.(type) {
	case *nameRef:
		slot := s.names[n.id]
		return func(f *frame, v Value) { f.vars[slot] = v }
	case *starred:
		return c.target(n.x, s)
	}
	elems := n.(*display).elems
	binds := make([]func(f *frame, v Value), len(elems))
	star := -1
	for i, e := range elems {
		if _, ok := e.(*starred); ok {
			star = i
		}
		binds[i] = c.target(e, s)
	}
	pos := n.at()
	return func(f *frame, v Value) {
		f.m.pos = pos
		for i, x := range f.m.unpack(v, len(binds), star) {
			binds[i](f, x)
		}
	}
}

// unpack splits v into n values, of which the one at star, if any, is a list
// of all that the others leave.
func (m *machine) unpack(v Value, n, star int) []Value {
	if t, ok := v.(*Tuple); ok && star < 0 && len(t.items) == n {
		return t.items
	}
	next, ok := m.tryIter(v)
	if !ok {
		raise(typeError, "cannot unpack non-iterable %s object", className(v))
	}
	var vals []Value
	for star >= 0 || len(vals) <= n {
		x, ok := next(m)
		if !ok {
			break
		}
		m.step(1)
		m.alloc(16)
		vals = append(vals, x)
	}
	if star < 0 {
		if len(vals) > n {
			raise(valueError, "too many values to unpack (expected %d)", n)
		}
		if len(vals) < n {
			raise(valueError, "not enough values to unpack (expected %d, got %d)", n, len(vals))
		}
		return vals
	}
	rest := len(vals) - (n - 1)
	if rest < 0 {
		raise(valueError, "not enough values to unpack (expected at least %d, got %d)", n-1, len(vals))
	}
	out := append([]Value{}, vals[:star]...)
	out = append(out, &List{append([]Value{}, vals[star:star+rest]...)})
	return append(out, vals[star+rest:]...)
}
