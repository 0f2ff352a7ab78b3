// Package generic has the standard library's generic functions as source text.
// The interpreter's tables are built on reflection, which cannot hold them, and
// the interpreter's own generics fail on most. A cell that uses one gets its
// text here as if the cell had declared it, and the generics are then resolved
// as those of the cell are. The texts keep to what the interpreter does well:
// plain loops, no ranges over integers or functions, and the compiled sort.
//
// The texts are this package's own files, so that the compiler checks them and
// tests compare them with the originals. Their names say what they stand for:
// slices_Sort is slices.Sort.
package generic

import (
	"embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Func is a generic function, or a generic type with its methods.
type Func struct {
	Name    string            // what the text declares, such as "slices_SortFunc"
	Text    string            // the declaration, or several for a type, without comments
	Imports map[string]string // name -> path of the packages that the text uses; the names begin with std_
	Uses    []string          // further Names that the text uses, sorted
}

// Lookup returns the text of a package's generic function or type, such as
// Lookup("slices", "SortFunc"), and false if there is none.
func Lookup(path, name string) (Func, bool) {
	return ByName(mangle(path) + "_" + name)
}

// ByName is Lookup by the name that a text declares, such as "slices_SortFunc".
func ByName(name string) (Func, bool) {
	f, ok := all()[name]
	return f, ok
}

// Names are the names that the texts declare, sorted.
func Names() []string { return slices.Sorted(maps.Keys(all())) }

// mangle makes an import path a part of an identifier.
func mangle(path string) string {
	return strings.NewReplacer("/", "_", ".", "_").Replace(path)
}

//go:embed slices.go sorting.go sequences.go maps.go single.go
var sources embed.FS

// all are the texts by name. They are read once.
var all = sync.OnceValue(func() map[string]Func {
	funcs := map[string]Func{}
	entries, err := sources.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("generic: list sources: %v", err))
	}
	for _, e := range entries {
		text, err := sources.ReadFile(e.Name())
		if err != nil {
			panic(fmt.Sprintf("generic: read sources: %v", err))
		}
		read(string(text), funcs)
	}
	for name, f := range funcs {
		f.Uses = slices.DeleteFunc(f.Uses, func(used string) bool {
			_, ok := funcs[used]
			return !ok || used == name
		})
		funcs[name] = f
	}
	return funcs
})

// read adds the declarations of one file. The methods of a type join its text.
func read(text string, funcs map[string]Func) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		panic(fmt.Sprintf("generic: parse sources: %v", err))
	}
	imports := map[string]string{}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err == nil && spec.Name != nil {
			imports[spec.Name.Name] = path
		}
	}
	for _, decl := range file.Decls {
		name := declared(decl)
		if name == "" {
			continue
		}
		f := funcs[name]
		f.Name = name
		f.Text += text[fset.Position(decl.Pos()).Offset:fset.Position(decl.End()).Offset] + "\n"
		if f.Imports == nil {
			f.Imports = map[string]string{}
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if path, ok := imports[id.Name]; ok {
					f.Imports[id.Name] = path
				}
				f.Uses = append(f.Uses, id.Name)
			}
			return true
		})
		slices.Sort(f.Uses)
		f.Uses = slices.Compact(f.Uses)
		funcs[name] = f
	}
}

// declared is the name that a declaration belongs to: for a method, its type's.
// Imports have none.
func declared(decl ast.Decl) string {
	switch d := decl.(type) {
	case *ast.GenDecl:
		if spec, ok := d.Specs[0].(*ast.TypeSpec); ok {
			return spec.Name.Name
		}
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name
		}
		star := d.Recv.List[0].Type.(*ast.StarExpr)
		return star.X.(*ast.IndexExpr).X.(*ast.Ident).Name
	}
	return ""
}
