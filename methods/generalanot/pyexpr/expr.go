package pyexpr

import (
	"context"
	"slices"
)

// Expr is a compiled expression. It may be evaluated many times and at the
// same time.
type Expr struct {
	src     string
	root    node
	code    code
	globals []string
	builtin []Value // beside globals; nil where the name is not a builtin
}

// Compile parses and compiles src. Its errors are [*SyntaxError].
func Compile(src string) (e *Expr, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case syntaxFault:
			line, col := place(src, r.pos)
			e, err = nil, &SyntaxError{line, col, r.msg}
		default:
			panic(r)
		}
	}()
	root := parse(src)
	c := &compiler{index: map[string]int{}}
	code := c.expr(root, nil)
	e = &Expr{src: src, root: root, code: code, globals: c.globals}
	for _, name := range c.globals {
		e.builtin = append(e.builtin, stdlib().names[name])
	}
	return e, nil
}

// Names are the names that an environment must provide, sorted. Builtins are
// not among them, though an environment may replace them.
func (e *Expr) Names() []string {
	var names []string
	for i, name := range e.globals {
		if e.builtin[i] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Eval evaluates e. What it returns has been walked once within the limits,
// so that [ToGo] and [Repr] of it are cheap. Errors are an [*EvalError], a
// [*LimitError] or ctx's own.
func (e *Expr) Eval(ctx context.Context, env map[string]Value, l Limits) (v Value, err error) {
	m := newMachine(ctx, l)
	m.globals = make([]Value, len(e.globals))
	for i, name := range e.globals {
		if m.globals[i] = env[name]; m.globals[i] == nil {
			m.globals[i] = e.builtin[i]
		}
	}
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, e.fault(r, m.pos)
		}
	}()
	m.refuel()
	v = e.code(&frame{m: m})
	m.measure(v)
	return v, nil
}

// fault is the error that a panic carries. A panic of another kind is a fault
// of this package and goes on.
func (e *Expr) fault(r any, pos int) error {
	line, col := place(e.src, pos)
	switch r := r.(type) {
	case *EvalError:
		r.Line, r.Col = line, col
		return r
	case *LimitError:
		r.Line, r.Col = line, col
		return r
	case stopped:
		return r.err
	}
	panic(r)
}

// measure walks v as a printer would, so that a small value that contains
// itself many times over is found out here.
func (m *machine) measure(v Value) {
	m.step(1)
	m.enter()
	defer m.leave()
	switch x := v.(type) {
	case Str:
		m.work(len(x))
	case *Dict:
		m.measureEntries(x)
	case *Set:
		m.measureEntries(&x.d)
	case *View:
		m.measureEntries(x.d)
	default:
		xs, _ := items(v)
		for _, it := range xs {
			m.measure(it)
		}
	}
}

func (m *machine) measureEntries(d *Dict) {
	for _, e := range d.entries {
		m.measure(e.key)
		if e.val != nil {
			m.measure(e.val)
		}
	}
}
