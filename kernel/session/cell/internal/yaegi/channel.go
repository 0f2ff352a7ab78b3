package yaegi

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// Operations on channels are calls of the host: the interpreter's own do not end
// when a cell is interrupted, and goroutines that are in one of its selects share
// what they wait for.

// wait chooses among operations on channels, each given as its direction, the
// channel, and a pointer to what is sent or received. It returns the index of the
// operation, -1 for the default, and whether a reception got a value.
func (e *Engine) wait(orElse bool, operations ...any) (int, bool) {
	var cases []reflect.SelectCase
	for i := 0; i < len(operations); i += 3 {
		c := reflect.SelectCase{Dir: operations[i].(reflect.SelectDir), Chan: reflect.ValueOf(operations[i+1])}
		if c.Dir == reflect.SelectSend {
			c.Send = reflect.ValueOf(operations[i+2]).Elem()
		}
		cases = append(cases, c)
	}
	last := len(cases)
	if orElse {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})
	} else {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(e.done())})
	}
	i, v, ok := reflect.Select(cases)
	if i == last {
		if !orElse {
			e.machine.Thread().CheckOut()
		}
		return -1, false
	}
	if cases[i].Dir == reflect.SelectRecv {
		reflect.ValueOf(operations[i*3+2]).Elem().Set(v)
	}
	return i, ok
}

// element is the type of what a channel carries.
func (l *lowering) element(c ast.Expr) string {
	return l.typeText(l.info.TypeOf(c).Underlying().(*types.Chan).Elem())
}

// receive is an expression that receives; with ok it has two values.
func (l *lowering) receive(n *ast.UnaryExpr, ok bool) string {
	elem := l.element(n.X)
	c, v, i, more := l.temp(), l.temp(), l.temp(), l.temp()
	results, values := elem, "*"+v
	if ok {
		results, values = fmt.Sprintf("(%s, bool)", elem), "*"+v+", "+more
	}
	return fmt.Sprintf("func(%s %s) %s {\n%s := new(%s)\n%s, %s := %s.Wait(false, %s.Recv, %s, %s)\n_, _ = %s, %s\nreturn %s\n}(%s)",
		c, l.typeText(l.info.TypeOf(n.X)), results, v, elem, i, more, hostName, hostName, c, v, i, more, values, l.text(n.X))
}

// receives lowers a reception, which is not that of a select's case.
func (l *lowering) receives(c *astutil.Cursor, n *ast.UnaryExpr) {
	if n.Op != token.ARROW {
		return
	}
	two := false
	switch p := c.Parent().(type) {
	case *ast.AssignStmt:
		if l.comm[p] {
			return
		}
		two = len(p.Lhs) == 2 && len(p.Rhs) == 1
	case *ast.ValueSpec:
		two = len(p.Names) == 2 && len(p.Values) == 1
	case *ast.ExprStmt:
		if l.comm[p] {
			return
		}
	}
	l.put(c, raw("%s", l.receive(n, two)))
}

// send lowers a send, which is not that of a select's case.
func (l *lowering) send(c *astutil.Cursor, n *ast.SendStmt) {
	if l.comm[n] {
		return
	}
	before, operation := l.sending(n)
	c.Replace(statement("%s\n%s.Wait(false, %s)", before, hostName, operation))
}

// sending evaluates what is sent, and names it as an operation.
func (l *lowering) sending(n *ast.SendStmt) (before, operation string) {
	c, v := l.temp(), l.temp()
	before = fmt.Sprintf("%s := %s\n%s := new(%s)\n*%s = %s", c, l.text(n.Chan), v, l.element(n.Chan), v, l.text(n.Value))
	return before, fmt.Sprintf("%s.Send, %s, %s", hostName, c, v)
}

// choice makes a switch of a select.
func (l *lowering) choice(c *astutil.Cursor, n *ast.SelectStmt) {
	var before, operations []string
	which, more := l.temp(), l.temp()
	orElse := false
	for _, s := range n.Body.List {
		clause := s.(*ast.CommClause)
		if clause.Comm == nil {
			orElse = true
			continue
		}
		if send, ok := clause.Comm.(*ast.SendStmt); ok {
			b, o := l.sending(send)
			before, operations = append(before, b), append(operations, o)
			continue
		}
		var from ast.Expr
		a, assigns := clause.Comm.(*ast.AssignStmt)
		if assigns {
			from = a.Rhs[0]
		} else {
			from = clause.Comm.(*ast.ExprStmt).X
		}
		x := ast.Unparen(from).(*ast.UnaryExpr).X
		ch, v := l.temp(), l.temp()
		before = append(before, fmt.Sprintf("%s := %s\n%s := new(%s)", ch, l.text(x), v, l.element(x)))
		operations = append(operations, fmt.Sprintf("%s.Recv, %s, %s", hostName, ch, v))
		if assigns {
			clause.Body = append(l.received(a, "*"+v, more), clause.Body...)
		}
	}
	list := ""
	for _, o := range operations {
		list += ", " + o
	}
	before = append(before, fmt.Sprintf("%s, %s := %s.Wait(%v%s)\n_ = %s", which, more, hostName, orElse, list, more))
	l.hoist(c, &ast.SwitchStmt{Tag: raw("%s", which), Body: &ast.BlockStmt{List: clauses(n)}}, strings.Join(before, "\n"))
}

// received gives what a case declares or assigns its value.
func (l *lowering) received(a *ast.AssignStmt, values ...string) (lines []ast.Stmt) {
	for i, x := range a.Lhs {
		if l.text(x) != "_" {
			t := l.temp()
			lines = append(lines, statement("%s := %s\n%s %s %s", t, values[i], l.text(x), a.Tok, t))
		}
	}
	return lines
}

// clauses are the cases of a select as those of a switch.
func clauses(n *ast.SelectStmt) []ast.Stmt {
	var list, last []ast.Stmt
	for _, s := range n.Body.List {
		clause := s.(*ast.CommClause)
		if clause.Comm == nil {
			last = append(last, &ast.CaseClause{Body: clause.Body})
			continue
		}
		list = append(list, &ast.CaseClause{List: []ast.Expr{raw("%d", len(list))}, Body: clause.Body})
	}
	return append(list, last...)
}

// rangeChannel makes a loop over what a channel gives.
func (l *lowering) rangeChannel(c *astutil.Cursor, n *ast.RangeStmt) {
	ch, v, more := l.temp(), l.temp(), l.temp()
	receive := l.receive(&ast.UnaryExpr{Op: token.ARROW, X: l.typed(ch, l.info.TypeOf(n.X))}, true)
	head := fmt.Sprintf("%s, %s := %s\nif !%s {\nbreak\n}", v, more, receive, more)
	if n.Key != nil && l.text(n.Key) != "_" {
		t := l.temp()
		head += fmt.Sprintf("\n%s := %s\n%s %s %s", t, v, l.text(n.Key), n.Tok, t)
	}
	prepend(n.Body, head)
	l.hoist(c, &ast.ForStmt{Body: n.Body}, fmt.Sprintf("%s := %s", ch, l.text(n.X)))
}

// typed is a name with a type.
func (l *lowering) typed(name string, t types.Type) ast.Expr {
	x := raw("%s", name)
	l.info.Types[x] = types.TypeAndValue{Type: t}
	return x
}
