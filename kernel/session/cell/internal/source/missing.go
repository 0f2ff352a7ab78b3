package source

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"strings"
)

// add adds imports of the standard library for names that are undefined and fit
// one package. It reports whether there was a new one.
func (m adjustments) add(faults *Errors, w Environment) bool {
	before := len(m.imports)
	for _, f := range faults.Faults {
		name, undefined := strings.CutPrefix(f.Message, "undefined: ")
		if !undefined || w.Named == nil {
			continue
		}
		if paths := w.Named(name); len(paths) == 1 && w.has(paths[0], faults.selected[name]) {
			m.imports[name] = paths[0]
		}
	}
	return len(m.imports) > before
}

// has reports whether a package exports all the names, of which there is one at least.
func (w Environment) has(path string, names []string) bool {
	pkg, err := w.Importer.Import(path)
	if err != nil {
		return false
	}
	for _, name := range names {
		if pkg.Scope().Lookup(name) == nil {
			return false
		}
	}
	return len(names) > 0
}

// suggest adds to undefined names the packages of the standard library that they
// may stand for.
func suggest(faults *Errors, w Environment) {
	for i, f := range faults.Faults {
		name, undefined := strings.CutPrefix(f.Message, "undefined: ")
		if !undefined || w.Named == nil || f.Hint != "" || faults.selected[name] == nil {
			continue
		}
		paths := w.Named(name)
		for k, path := range paths {
			paths[k] = fmt.Sprintf("import %q", path)
		}
		switch len(paths) {
		case 0:
		case 1:
			faults.Faults[i].Hint = "add " + paths[0]
		default:
			faults.Faults[i].Hint = "add the one you mean: " + strings.Join(paths, " or ")
		}
	}
}

// selecting notes in an *Errors what the file selects from each name, as ToUpper
// of strings.
func selecting(err error, file *ast.File) error {
	var faults *Errors
	if !errors.As(err, &faults) {
		return err
	}
	faults.selected = map[string][]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				faults.selected[x.Name] = append(faults.selected[x.Name], s.Sel.Name)
			}
		}
		return true
	})
	return faults
}

// withImports is the environment with further imports.
func (w Environment) withImports(more map[string]string) Environment {
	all := maps.Clone(more)
	maps.Copy(all, w.Imports)
	w.Imports = all
	return w
}
