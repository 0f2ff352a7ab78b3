package pyexpr

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// call compiles a call. A method is looked up before its arguments are
// evaluated, as in CPython.
func (c *compiler) call(n *call, s *scope) code {
	args, kws, pos := c.list(n.args, s), c.keywords(n.kws, s), n.at()
	if a, ok := n.fn.(*attribute); ok {
		checkPattern(n, a)
		x, name, apos := c.expr(a.x, s), a.name, a.at()
		return func(f *frame) Value {
			v := x(f)
			f.m.pos = apos
			fn := f.m.attr(v, name)
			av, kv := args(f), kws(f)
			f.m.pos = pos
			return f.m.call(fn, av, kv)
		}
	}
	fn := c.expr(n.fn, s)
	return func(f *frame) Value {
		v := fn(f)
		av, kv := args(f), kws(f)
		f.m.pos = pos
		return f.m.call(v, av, kv)
	}
}

// checkPattern refuses a pattern written out in a call of re that no evaluation
// could use, so that whoever writes the formula hears of it at once.
func checkPattern(n *call, fn *attribute) {
	if module, ok := fn.x.(*nameRef); !ok || module.id != "re" || len(n.args) == 0 {
		return
	}
	pattern, ok := constantStr(n.args[0])
	if !ok || fn.name == "escape" {
		return
	}
	err := caught(func() { newMachine(context.Background(), Limits{}).regex(string(pattern), 0) })
	if exc := new(EvalError); errors.As(err, &exc) && strings.Contains(exc.Msg, "is not supported") {
		fail(n.args[0].at(), "%s", exc.Msg)
	}
}

func (c *compiler) keywords(nodes []kwNode, s *scope) func(f *frame) []keyword {
	if len(nodes) == 0 {
		return func(*frame) []keyword { return nil }
	}
	codes := make([]code, len(nodes))
	for i, n := range nodes {
		codes[i] = c.expr(n.val, s)
	}
	return func(f *frame) []keyword {
		out := make([]keyword, len(nodes))
		f.m.alloc(32 * len(nodes))
		for i, n := range nodes {
			out[i] = keyword{n.name, codes[i](f)}
		}
		return out
	}
}

func (m *machine) call(fn Value, args []Value, kw []keyword) Value {
	m.step(1)
	switch fn := fn.(type) {
	case *Func:
		return fn.call(m, args, kw)
	case *Type:
		if c := m.lib.classes[fn]; c != nil && c.make != nil {
			return c.make.call(m, args, kw)
		}
	}
	raise(typeError, "'%s' object is not callable", className(fn))
	return nil
}

func (c *compiler) lambda(n *lambda, s *scope) code {
	inner := &scope{up: s, names: map[string]int{}}
	ps := n.params
	for _, name := range ps.names {
		inner.declare(name)
	}
	body := c.expr(n.body, inner)
	defaults := make([]code, len(ps.names))
	for i, d := range ps.defaults {
		if d != nil {
			defaults[i] = c.expr(d, s)
		}
	}
	size := len(inner.names)
	return func(f *frame) Value {
		f.m.alloc(96 + 16*len(defaults))
		defs := make([]Value, len(defaults))
		for i, d := range defaults {
			if d != nil {
				defs[i] = d(f)
			}
		}
		return &Func{"<lambda>", func(m *machine, args []Value, kw []keyword) Value {
			m.enter()
			defer m.leave()
			m.step(3)
			m.alloc(64 + 16*size)
			g := &frame{m: m, vars: make([]Value, size), up: f}
			ps.bind(g, defs, args, kw)
			return body(g)
		}}
	}
}

// bind fills a lambda's frame with its arguments.
func (ps *params) bind(g *frame, defs, args []Value, kw []keyword) {
	if copy(g.vars, args) < len(args) {
		raise(typeError, "<lambda>() takes %d positional arguments but %d were given", len(ps.names), len(args))
	}
	for _, k := range kw {
		i := slices.Index(ps.names, k.name)
		if i < 0 || g.vars[i] != nil {
			raise(typeError, "<lambda>() got an unexpected or repeated argument '%s'", k.name)
		}
		g.vars[i] = k.val
	}
	for i, name := range ps.names {
		if g.vars[i] == nil {
			g.vars[i] = defs[i]
		}
		if g.vars[i] == nil {
			raise(typeError, "<lambda>() missing required argument: '%s'", name)
		}
	}
}
