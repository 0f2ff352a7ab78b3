package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// hoist puts statements before a loop or switch, around its label if it has one.
func (l *lowering) hoist(c *astutil.Cursor, n ast.Stmt, before string) {
	if _, labeled := c.Parent().(*ast.LabeledStmt); labeled {
		l.hoisted[n] = before
		c.Replace(n)
		return
	}
	c.Replace(&ast.BlockStmt{List: []ast.Stmt{statement("%s", before), n}})
}

// labeled puts what a statement had hoisted before its label.
func (l *lowering) labeled(c *astutil.Cursor, n *ast.LabeledStmt) {
	if before, ok := l.hoisted[n.Stmt]; ok {
		c.Replace(&ast.BlockStmt{List: []ast.Stmt{statement("%s", before), n}})
	}
}

// prepend puts statements at the beginning of a body.
func prepend(b *ast.BlockStmt, text ...string) {
	var list []ast.Stmt
	for _, t := range text {
		list = append(list, statement("%s", t))
	}
	b.List = append(list, b.List...)
}

// rangeLoop makes the variables of a range those of one iteration, and spells out
// ranges over integers and strings. The interpreter has one set of variables for
// all iterations, no ranges over integers, and skips bytes after invalid UTF-8.
func (l *lowering) rangeLoop(c *astutil.Cursor, n *ast.RangeStmt) {
	if _, ok := l.info.TypeOf(n.X).Underlying().(*types.Chan); ok {
		l.rangeChannel(c, n)
		return
	}
	if sig, ok := l.info.TypeOf(n.X).Underlying().(*types.Signature); ok {
		l.rangeFunction(c, n, sig)
		return
	}
	var targets []string
	bind := func(to ast.Expr) string {
		if to == nil || l.text(to) == "_" {
			return "_"
		}
		hidden := l.temp()
		targets = append(targets, fmt.Sprintf("%s %s %s", l.text(to), n.Tok, hidden))
		return hidden
	}
	k, v := bind(n.Key), bind(n.Value)
	t := l.info.TypeOf(n.X)
	basic, _ := t.Underlying().(*types.Basic)
	switch {
	case basic != nil && basic.Info()&types.IsInteger != 0:
		if k == "_" {
			k = l.temp()
		}
		if basic.Info()&types.IsUntyped != 0 {
			t = types.Typ[types.Int]
		}
		limit, typ := l.temp(), l.typeText(t)
		prepend(n.Body, targets...)
		c.Replace(&ast.ForStmt{
			Init: statement("%s, %s := %s(%s), %s(0)", limit, k, typ, l.text(n.X), typ),
			Cond: raw("%s < %s", k, limit), Post: statement("%s++", k), Body: n.Body,
		})
	case basic != nil:
		text, at, width := l.temp(), l.temp(), l.temp()
		if v == "_" {
			v = l.temp()
		}
		if k != "_" {
			targets = append([]string{fmt.Sprintf("%s := %s", k, at)}, targets...)
		}
		step := l.temp()
		targets = append([]string{fmt.Sprintf("%s, %s := %s.Rune(%s[%s:])", v, step, hostName, text, at), fmt.Sprintf("%s = %s", width, step)}, targets...)
		prepend(n.Body, targets...)
		c.Replace(&ast.ForStmt{
			Init: statement("%s, %s, %s := string(%s), 0, 0", text, at, width, l.text(n.X)),
			Cond: raw("%s < len(%s)", at, text), Post: statement("%s += %s", at, width), Body: n.Body,
		})
	case len(targets) > 0:
		n.Key, n.Tok = raw("%s", k), token.DEFINE
		if n.Value != nil {
			n.Value = raw("%s", v)
		}
		prepend(n.Body, targets...)
	case n.Key != nil:
		n.Key, n.Value = nil, nil
	}
}

// leaves reports whether something in the body of a loop leaves it for elsewhere than
// its end.
func leaves(body *ast.BlockStmt) (found bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt, *ast.DeferStmt, *ast.LabeledStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Label != nil
		}
		return true
	})
	return found
}

// rangeFunction makes a function of the body of a loop over one.
func (l *lowering) rangeFunction(c *astutil.Cursor, n *ast.RangeStmt, sig *types.Signature) {
	yield := sig.Params().At(0).Type().Underlying().(*types.Signature)
	var params []string
	for i, x := range []ast.Expr{n.Key, n.Value}[:yield.Params().Len()] {
		name := l.temp()
		if x != nil && l.text(x) != "_" {
			prepend(n.Body, fmt.Sprintf("%s %s %s", l.text(x), n.Tok, name))
		}
		params = append(params, name+" "+l.typeText(yield.Params().At(i).Type()))
	}
	astutil.Apply(n.Body, func(c *astutil.Cursor) bool {
		switch s := c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			again(s)
			return false
		case *ast.BranchStmt:
			if s.Tok != token.FALLTHROUGH {
				c.Replace(statement("return %v", s.Tok == token.CONTINUE))
			}
		}
		return true
	}, nil)
	prepend(n.Body, turns+" := 0")
	body := fmt.Sprintf("func(%s) bool {\n%s\nreturn true\n}", strings.Join(params, ", "), l.text(n.Body))
	c.Replace(statement("%s(%s)", l.text(n.X), l.framed(l.typeText(yield), body)))
}

// again makes the continue statements within a switch those of a function that is the
// body of a loop.
func again(n ast.Node) {
	astutil.Apply(n, func(c *astutil.Cursor) bool {
		switch s := c.Node().(type) {
		case *ast.ForStmt, *ast.RangeStmt, *ast.FuncLit:
			return false
		case *ast.BranchStmt:
			if s.Tok == token.CONTINUE {
				c.Replace(statement("return true"))
			}
		}
		return true
	}, nil)
}

// forLoop gives each iteration its own variables, as Go does since 1.22, where a
// function literal or a pointer could tell the difference.
func (l *lowering) forLoop(c *astutil.Cursor, n *ast.ForStmt) {
	init, ok := n.Init.(*ast.AssignStmt)
	if !ok || init.Tok != token.DEFINE || !l.captures(n) {
		return
	}
	var vars, old, addresses, pointers []string
	for _, x := range init.Lhs {
		name := l.text(x)
		if name == "_" {
			continue
		}
		p := l.temp()
		vars, pointers = append(vars, name), append(pointers, p)
		old, addresses = append(old, "*"+p), append(addresses, "&"+name)
	}
	first := l.temp()
	before := fmt.Sprintf("%s\n%s := %s\n%s := true", l.simple(init), strings.Join(pointers, ", "), strings.Join(addresses, ", "), first)
	head := []string{
		fmt.Sprintf("%s := %s", strings.Join(vars, ", "), strings.Join(old, ", ")),
		fmt.Sprintf("%s = %s", strings.Join(pointers, ", "), strings.Join(addresses, ", ")),
	}
	post := ""
	if n.Post != nil {
		post = l.simple(n.Post)
	}
	head = append(head, fmt.Sprintf("if %s {\n%s = false\n} else {\n%s\n}", first, first, post))
	if n.Cond != nil {
		head = append(head, fmt.Sprintf("if !(%s) {\nbreak\n}", l.text(n.Cond)))
	}
	prepend(n.Body, head...)
	n.Init, n.Cond, n.Post = nil, nil, nil
	l.hoist(c, n, before)
}

// captures reports whether something in a loop may outlive an iteration.
func (l *lowering) captures(n *ast.ForStmt) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.DeferStmt, *ast.GoStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.AND
		case *ast.Ident: // a text that was lowered already
			found = found || strings.Contains(n.Name, "func(") || strings.Contains(n.Name, "&") || strings.Contains(n.Name, ":=")
		}
		return true
	})
	return found
}

// exprSwitch puts the default case last and compares one by one what is not
// constant: the interpreter takes the cases in their order of the text, and
// evaluates several calls of one case wrongly.
func (l *lowering) exprSwitch(c *astutil.Cursor, n *ast.SwitchStmt) {
	var rest, last []ast.Stmt
	constant := true
	for _, s := range n.Body.List {
		clause := s.(*ast.CaseClause)
		if clause.List == nil {
			last = append(last, s)
			continue
		}
		rest = append(rest, s)
		for _, x := range clause.List {
			constant = constant && l.info.Types[x].Value != nil
		}
	}
	n.Body.List = append(rest, last...)
	if n.Tag == nil {
		if n.Init != nil {
			before := l.simple(n.Init)
			n.Init = nil
			l.hoist(c, n, before)
		}
		for _, s := range rest {
			merge(l, s.(*ast.CaseClause), "")
		}
		return
	}
	if constant && n.Init == nil {
		return
	}
	tag := l.temp()
	before := fmt.Sprintf("%s := %s", tag, l.text(n.Tag))
	if l.info.Types[n.Tag].Value != nil {
		before = fmt.Sprintf("var %s %s = %s", tag, l.typeText(l.info.TypeOf(n.Tag)), l.text(n.Tag))
	}
	if n.Init != nil {
		before = l.simple(n.Init) + "\n" + before
	}
	for _, s := range rest {
		merge(l, s.(*ast.CaseClause), tag+" == ")
	}
	n.Init, n.Tag = nil, nil
	l.hoist(c, n, before)
}

// merge makes one condition of a case's list.
func merge(l *lowering, clause *ast.CaseClause, compare string) {
	var all []string
	for _, x := range clause.List {
		all = append(all, fmt.Sprintf("%s(%s)", compare, l.text(x)))
	}
	clause.List = []ast.Expr{raw("%s", strings.Join(all, " || "))}
}
