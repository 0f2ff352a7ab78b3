package pyexpr

// Field is a place where an expression reads a key of a list's items.
type Field struct {
	Name      string
	Line, Col int
}

// Fields are the constant keys that e reads from the items of the named list,
// in the order of the source: e['name'] and e.get('name') where e runs over
// the list in a comprehension, or is the argument of a lambda that sorted,
// min, max, map or filter applies to it. The list may come through a slice,
// filter, sorted, list, tuple, reversed, enumerate, zip or a comprehension
// that keeps its items. Names that the expression binds itself do not count.
func (e *Expr) Fields(of string) []Field {
	t := &tracer{src: e.src, of: of}
	t.visit(e.root, nil)
	return t.found
}

// tracer follows a list's items through an expression.
type tracer struct {
	src   string
	of    string
	found []Field
}

// bindings are the names that are bound around a node, innermost first, and
// whether each is an item of the list.
type bindings struct {
	up   *bindings
	name string
	item bool
}

func (b *bindings) lookup(name string) (item, bound bool) {
	for ; b != nil; b = b.up {
		if b.name == name {
			return b.item, true
		}
	}
	return false, false
}

func (t *tracer) isList(n node, b *bindings) bool {
	switch n := n.(type) {
	case *nameRef:
		_, bound := b.lookup(n.id)
		return !bound && n.id == t.of
	case *subscript:
		_, cut := n.index.(*slice)
		return cut && t.isList(n.x, b)
	case *binary:
		return n.op == "+" && (t.isList(n.l, b) || t.isList(n.r, b))
	case *conditional:
		return t.isList(n.then, b) || t.isList(n.other, b)
	case *logical:
		for _, x := range n.xs {
			if t.isList(x, b) {
				return true
			}
		}
	case *comprehension:
		return n.kind != typeDict && t.isItem(n.elem, t.clauses(n, b))
	case *call:
		switch t.builtinName(n.fn, b) {
		case "sorted", "list", "tuple", "reversed", "iter":
			return len(n.args) > 0 && t.isList(n.args[0], b)
		case "filter":
			return len(n.args) == 2 && t.isList(n.args[1], b)
		}
	}
	return false
}

func (t *tracer) isItem(n node, b *bindings) bool {
	switch n := n.(type) {
	case *nameRef:
		item, _ := b.lookup(n.id)
		return item
	case *subscript:
		_, cut := n.index.(*slice)
		return !cut && t.isList(n.x, b)
	case *call:
		name := t.builtinName(n.fn, b)
		return ((name == "min" || name == "max") && len(n.args) == 1 || name == "next" && len(n.args) > 0) && t.isList(n.args[0], b)
	}
	return false
}

// builtinName is the name that a call calls, unless it is bound.
func (t *tracer) builtinName(fn node, b *bindings) string {
	if n, ok := fn.(*nameRef); ok {
		if _, bound := b.lookup(n.id); !bound {
			return n.id
		}
	}
	return ""
}

// clauses are the bindings within a comprehension.
func (t *tracer) clauses(n *comprehension, b *bindings) *bindings {
	for _, cl := range n.clauses {
		b = t.bind(cl.target, cl.iter, b, b)
	}
	return b
}

// bind adds the names of a target that runs over iter.
func (t *tracer) bind(target, iter node, at, b *bindings) *bindings {
	if name, ok := target.(*nameRef); ok {
		return &bindings{b, name.id, t.isList(iter, at)}
	}
	tuple, ok := target.(*display)
	if !ok {
		return b
	}
	sources := make([]node, len(tuple.elems))
	if c, ok := iter.(*call); ok {
		switch name := t.builtinName(c.fn, at); {
		case name == "zip":
			copy(sources, c.args)
		case name == "enumerate" && len(sources) == 2 && len(c.args) > 0:
			sources[1] = c.args[0]
		}
	}
	for i, elem := range tuple.elems {
		if sources[i] == nil {
			sources[i] = &constant{}
		}
		b = t.bind(elem, sources[i], at, b)
	}
	return b
}

func (t *tracer) visit(n node, b *bindings) {
	switch n := n.(type) {
	case *comprehension:
		for _, cl := range n.clauses {
			t.visit(cl.iter, b)
			b = t.bind(cl.target, cl.iter, b, b)
			t.visitAll(cl.conds, b)
		}
		t.visit(n.elem, b)
		t.visit(n.val, b)
		return
	case *lambda:
		t.visitLambda(n, b, false)
		return
	case *call:
		t.visitCall(n, b)
		return
	case *subscript:
		t.note(n.x, n.index, b, n.at())
	}
	t.visitAll(children(n), b)
}

func (t *tracer) visitAll(ns []node, b *bindings) {
	for _, n := range ns {
		t.visit(n, b)
	}
}

func (t *tracer) note(x, index node, b *bindings, pos int) {
	k, ok := index.(*constant)
	if !ok || !t.isItem(x, b) {
		return
	}
	if name, ok := k.val.(Str); ok {
		line, col := place(t.src, pos)
		t.found = append(t.found, Field{string(name), line, col})
	}
}

// visitLambda visits a lambda; its first parameter may be an item.
func (t *tracer) visitLambda(n *lambda, b *bindings, item bool) {
	t.visitAll(n.params.defaults, b)
	for i, name := range n.params.names {
		b = &bindings{b, name, item && i == 0}
	}
	t.visit(n.body, b)
}

func (t *tracer) visitCall(n *call, b *bindings) {
	if a, ok := n.fn.(*attribute); ok && a.name == "get" && len(n.args) > 0 {
		t.note(a.x, n.args[0], b, n.at())
	}
	t.visit(n.fn, b)
	name := t.builtinName(n.fn, b)
	over := func(i int) bool { return len(n.args) > i && t.isList(n.args[i], b) }
	for i, arg := range n.args {
		if l, ok := arg.(*lambda); ok && i == 0 && (name == "map" || name == "filter") {
			t.visitLambda(l, b, over(1))
			continue
		}
		t.visit(arg, b)
	}
	for _, kw := range n.kws {
		if l, ok := kw.val.(*lambda); ok && kw.name == "key" && (name == "sorted" || name == "min" || name == "max") {
			t.visitLambda(l, b, over(0))
			continue
		}
		t.visit(kw.val, b)
	}
}

// children are the nodes that n holds, where they are not bound by it.
func children(n node) []node {
	switch n := n.(type) {
	case *display:
		return n.elems
	case *dictDisplay:
		return append(append([]node{}, n.keys...), n.vals...)
	case *starred:
		return []node{n.x}
	case *unary:
		return []node{n.x}
	case *binary:
		return []node{n.l, n.r}
	case *logical:
		return n.xs
	case *comparison:
		return n.xs
	case *conditional:
		return []node{n.test, n.then, n.other}
	case *attribute:
		return []node{n.x}
	case *subscript:
		return []node{n.x, n.index}
	case *slice:
		return []node{n.lo, n.hi, n.step}
	case *formatted:
		return partNodes(n.parts)
	}
	return nil
}

func partNodes(parts []fpart) []node {
	var out []node
	for _, p := range parts {
		if p.expr != nil {
			out = append(out, p.expr)
			out = append(out, partNodes(p.spec)...)
		}
	}
	return out
}
