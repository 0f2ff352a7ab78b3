package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	cells "noema/kernel/session/cell/internal/source"
)

// replaced are the generic functions whose own source does not work in a cell,
// by package, with a source that does: the original calls the runtime, or, like
// slices.Sort, compiled code is many times faster.
var replaced = map[string]string{
	"maps": `package maps
func Clone[M ~map[K]V, K comparable, V any](m M) M {
	if m == nil {
		return nil
	}
	same := make(M, len(m))
	for k, v := range m {
		same[k] = v
	}
	return same
}`,
	"math/rand/v2": `package rand
func N[Int intType](n Int) Int {
	if n <= 0 {
		panic("invalid argument to N")
	}
	return Int(Uint64N(uint64(n)))
}`,
	"reflect": `package reflect
func TypeFor[T any]() Type { return TypeOf((*T)(nil)).Elem() }`,
	"slices": `package slices
import "sort"
func Sort[S ~[]E, E cmp.Ordered](x S) {
	switch list := any(x).(type) {
	case []int:
		sort.Ints(list)
	case []string:
		sort.Strings(list)
	case []float64:
		sort.Float64s(list)
	default:
		pdqsortOrdered(x, 0, len(x), bits.Len(uint(len(x))))
	}
}`,
}

// sourcesArchive holds the source of generic functions and types, which no
// table of compiled symbols can hold. A package without any has no entry.
func sourcesArchive(world []*source) ([]byte, error) { return archive(world, genericSource) }

// genericSource is a file with the package's generic functions and types and
// all that these need. What depends on the runtime or on internal packages is
// left out.
func genericSource(s *source) ([]byte, error) {
	p := &pruned{source: s, fset: token.NewFileSet(), decls: map[string][]ast.Decl{}, imports: map[string]string{}}
	if err := p.read(); err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(p.decls)) {
		needed := map[string]bool{}
		if p.isRoot(name) && p.take(name, needed) && p.checks(p.file(needed)) {
			maps.Copy(all, needed)
		}
	}
	if len(all) == 0 {
		if replaced[s.PkgPath] != "" {
			return nil, errors.New("the replaced generic functions do not type-check")
		}
		return nil, nil
	}
	return []byte(p.file(all)), nil
}

// pruned is a package's source, of which some declarations are wanted.
type pruned struct {
	*source
	fset    *token.FileSet
	decls   map[string][]ast.Decl // by name; methods under the name of their type
	imports map[string]string     // the name in the files -> path
}

func (p *pruned) read() error {
	for _, name := range p.GoFiles {
		if err := p.readFile(name, nil); err != nil {
			return err
		}
	}
	if text := replaced[p.PkgPath]; text != "" {
		return p.readFile("replaced.go", text)
	}
	return nil
}

// readFile collects the declarations of a file. A text given as src replaces
// functions of the same name.
func (p *pruned) readFile(name string, src any) error {
	file, err := parser.ParseFile(p.fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		local := strings.TrimSuffix(path.Base(importPath), "/v2")
		if spec.Name != nil {
			local = spec.Name.Name
		}
		p.imports[local] = importPath
	}
	for _, d := range file.Decls {
		for _, name := range declaredNames(d) {
			if name == "_" {
				continue
			}
			if src != nil {
				p.decls[name] = nil
			}
			p.decls[name] = append(p.decls[name], d)
		}
	}
	return nil
}

// declaredNames are the names that a declaration belongs to: for a method, its
// type's.
func declaredNames(d ast.Decl) []string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || f.Recv == nil {
		return cells.Declared(d)
	}
	receiver := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && receiver == "" {
			receiver = id.Name
		}
		return true
	})
	return []string{receiver}
}

// isRoot says that a name is an exported generic function, or an exported
// generic type with methods.
func (p *pruned) isRoot(name string) bool {
	if !ast.IsExported(name) {
		return false
	}
	switch o := p.Types.Scope().Lookup(name).(type) {
	case *types.Func:
		return o.Signature().TypeParams().Len() > 0
	case *types.TypeName:
		named, ok := o.Type().(*types.Named)
		return ok && named.TypeParams().Len() > 0 && named.NumMethods() > 0
	}
	return false
}

// take adds a name to needed, with all of the package that it uses, other than
// exported names which compiled code has. It says whether that can be had.
func (p *pruned) take(name string, needed map[string]bool) bool {
	if needed[name] || ast.IsExported(name) && !p.isRoot(name) {
		return true
	}
	needed[name] = true
	possible := true
	for _, d := range p.decls[name] {
		switch d := d.(type) {
		case *ast.FuncDecl:
			possible = possible && d.Body != nil
		case *ast.GenDecl:
			possible = possible && d.Tok != token.VAR
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && possible {
				if p.decls[id.Name] != nil {
					possible = p.take(id.Name, needed)
				}
				possible = possible && !strings.Contains(p.imports[id.Name], "internal/")
			}
			return possible
		})
	}
	return possible
}

// file prints the declarations of the given names as a file.
func (p *pruned) file(names map[string]bool) string {
	var body strings.Builder
	used := map[string]bool{}
	printed := map[ast.Decl]bool{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for _, d := range p.decls[name] {
			if printed[d] {
				continue
			}
			printed[d] = true
			if err := printer.Fprint(&body, p.fset, d); err != nil {
				panic(err) // a strings.Builder takes everything
			}
			body.WriteString("\n\n")
			ast.Inspect(d, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := sel.X.(*ast.Ident); ok && p.imports[id.Name] != "" {
						used[id.Name] = true
					}
				}
				return true
			})
		}
	}
	head := "package " + p.Name + "\n\n"
	for _, name := range slices.Sorted(maps.Keys(used)) {
		head += fmt.Sprintf("import %s %q\n", name, p.imports[name])
	}
	return head + "\n" + body.String()
}

// checks says whether a file type-checks in a package that has, beside it, the
// exported names that compiled code has.
func (p *pruned) checks(text string) bool {
	file, err := parser.ParseFile(p.fset, "generic.go", text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	pkg := types.NewPackage(p.PkgPath, p.Name)
	here := map[string]bool{}
	for _, d := range file.Decls {
		for _, name := range declaredNames(d) {
			here[name] = true
		}
	}
	for _, name := range p.Types.Scope().Names() {
		if ast.IsExported(name) && !here[name] {
			pkg.Scope().Insert(p.Types.Scope().Lookup(name))
		}
	}
	config := types.Config{Importer: p.importer, Error: func(error) {}}
	return types.NewChecker(&config, p.fset, pkg, &types.Info{}).Files([]*ast.File{file}) == nil
}
