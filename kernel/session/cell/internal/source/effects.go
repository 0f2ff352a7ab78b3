package source

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// Effects are the names of the session that a piece of code reads and sets.
// Functions are read where they are named; a method's name is "T.M". What only
// running the code could tell is left out: calls through interfaces, and changes
// behind pointers.
type Effects struct {
	Reads, Sets map[string]bool
}

func newEffects() Effects { return Effects{Reads: map[string]bool{}, Sets: map[string]bool{}} }

// Effects are those of the cell's statements, with those of the functions that
// they name. A name that the cell has set itself before is not read. functions
// has the effects of all functions of the session, by their names; the cell's
// are added.
func (u *Unit) Effects(functions map[string]Effects) Effects {
	all := newEffects()
	own := map[string]bool{} // set by the cell itself
	for _, d := range u.Defines {
		delete(functions, d.Name)
		if _, ok := d.Object.(*types.Var); ok {
			all.Sets[d.Name], own[d.Name] = true, true
		}
	}
	var body []ast.Stmt
	for _, d := range u.File.Decls {
		switch f, ok := d.(*ast.FuncDecl); {
		case !ok || f.Body == nil:
		case f.Recv == nil && f.Name.Name == u.Run:
			body = f.Body.List
		default:
			functions[u.sessionName(f.Name)] = u.effectsOf(f.Body)
		}
	}
	for _, s := range body {
		e := u.effectsOf(s)
		e.follow(functions)
		for name := range e.Reads {
			if earlier, isOld := strings.CutSuffix(name, oldSuffix); isOld || !own[name] {
				all.Reads[earlier] = true
			}
		}
		for name := range e.Sets {
			all.Sets[name] = true
		}
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.ASSIGN {
			for _, l := range a.Lhs {
				if id, ok := l.(*ast.Ident); ok {
					own[u.sessionName(id)] = true
				}
			}
		}
	}
	return all
}

// follow adds the effects of the functions that are read.
func (e Effects) follow(functions map[string]Effects) {
	var open []string
	add := func(names map[string]bool) {
		for name := range names {
			if !e.Reads[name] {
				e.Reads[name] = true
				open = append(open, name)
			}
		}
	}
	for name := range e.Reads {
		open = append(open, name)
	}
	for len(open) > 0 {
		f := functions[open[len(open)-1]]
		open = open[:len(open)-1]
		add(f.Reads)
		for name := range f.Sets {
			e.Sets[name] = true
		}
	}
}

// effectsOf are those of a statement, without those of the functions that it names.
func (u *Unit) effectsOf(n ast.Node) Effects {
	e := newEffects()
	only := map[*ast.Ident]bool{} // set and not read
	set := func(x ast.Expr, read bool) {
		if id := base(x); id != nil {
			e.Sets[u.sessionName(id)] = true
			only[id] = !read && x == ast.Expr(id)
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				set(l, n.Tok != token.ASSIGN)
			}
		case *ast.IncDecStmt:
			set(n.X, true)
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				set(n.Key, false)
				set(n.Value, false)
			}
		case *ast.CallExpr:
			for _, a := range n.Args {
				if at, ok := a.(*ast.UnaryExpr); ok && at.Op == token.AND {
					set(at.X, true)
				}
			}
		case *ast.Ident:
			if !only[n] {
				e.Reads[u.sessionName(n)] = true
			}
		}
		return true
	})
	delete(e.Reads, "")
	delete(e.Sets, "")
	return e
}

// base is the variable that an assignment to x changes, x in x.f[i], or the name of
// the type of a receiver, T in *T[P]; nil if that is behind a call.
func base(x ast.Expr) *ast.Ident {
	for {
		switch e := x.(type) {
		case *ast.Ident:
			return e
		case *ast.SelectorExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.ParenExpr:
			x = e.X
		default:
			return nil
		}
	}
}

// sessionName is the name by which the session knows what an identifier stands
// for, with oldSuffix if the cell declares the name anew; "" if that is local or
// of a compiled package.
func (u *Unit) sessionName(id *ast.Ident) string {
	o := u.Info.ObjectOf(id)
	if o == nil || o.Pkg() == nil || o.Pkg().Path() != "main" {
		return ""
	}
	name := o.Name()
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if p, ok := types.Unalias(t).(*types.Pointer); ok {
			t = p.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok {
			return named.Obj().Name() + "." + name
		}
		return ""
	}
	if o.Parent() != o.Pkg().Scope() || strings.Contains(name, newSuffix) {
		return ""
	}
	return name
}
