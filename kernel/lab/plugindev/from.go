package plugindev

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/lab"
	"noema/plugins"
)

// Origin is a built-in method from which one of the user's own is made.
type Origin struct {
	Name    string // as written after --methods
	Package string // import path of the package that declares it
}

// originLine names the method that a plugin was made from, on a line of its own.
const originLine = "//noema:from "

// parsed is a file of Go.
type parsed struct {
	path string // of its package
	name string // of the file
	text string
	ast  *ast.File
}

// FileFrom writes a built-in method to one file of Go, with all that it needs of its
// package and of packages that only noema's own methods can import. noema interprets
// the file as it is.
func FileFrom(from Origin, file, checkout string) error {
	if _, err := fileValues(file); err != nil {
		return err
	}
	fset := token.NewFileSet()
	files, err := from.sources(fset, checkout)
	if err != nil {
		return err
	}
	entry, err := from.entry(fset, files, plugins.FileMethod(file))
	if err != nil {
		return err
	}
	merged, err := merge(fset, files)
	if err != nil {
		return fmt.Errorf("new plugin: %q cannot be one file: %w: give a name without .go, which makes a folder", from.Name, err)
	}
	again, err := parser.ParseFile(fset, "merged.go", merged, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("new plugin: %w", err)
	}
	body, err := needed(fset, again, merged, entry)
	if err != nil {
		return err
	}
	imports, decls, _ := strings.Cut(body, "\n\n")
	main := fmt.Sprintf("func main() { plugins.Serve(%s()) }\n\n", entry)
	text, err := format.Source([]byte(from.head(plugins.FileMethod(file)) + importBlock(imports) + main + decls))
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("new plugin: %w", err)
	}
	return nil
}

// importBlock joins lines of imports, and that of what serves a plugin, noema's last.
func importBlock(lines string) string {
	var others, own []string
	for line := range strings.Lines(lines + "\nimport \"noema/plugins\"\n") {
		switch spec := strings.TrimSpace(strings.TrimPrefix(line, "import")); {
		case strings.Contains(spec, "\"noema/"):
			own = append(own, spec)
		case spec != "":
			others = append(others, spec)
		}
	}
	slices.Sort(others)
	slices.Sort(own)
	return "import (\n" + strings.Join(others, "\n") + "\n\n" + strings.Join(own, "\n") + "\n)\n\n"
}

// FolderFrom makes the folder of a plugin from a built-in method: its package, and those
// that none but noema's own methods can import, as they are, and what serves it.
func FolderFrom(from Origin, o Options) (string, error) {
	v, err := o.values()
	if err != nil {
		return "", err
	}
	fset := token.NewFileSet()
	files, err := from.sources(fset, v.Checkout)
	if err != nil {
		return "", err
	}
	entry, err := from.entry(fset, files, o.Name)
	if err != nil {
		return "", err
	}
	dir, err := o.write(v, "module")
	if err != nil {
		return "", err
	}
	own := path.Base(from.Package)
	main := from.head(o.Name) + fmt.Sprintf("import (\n\t%q\n\n\t\"noema/plugins\"\n)\n\nfunc main() { plugins.Serve(%s.%s()) }\n", v.Module+"/"+own, own, entry)
	copies := map[string]string{"main.go": main}
	for _, f := range files {
		copies[path.Join(within(f.path), filepath.Base(f.name))] = strings.NewReplacer(moved(files, v.Module)...).Replace(f.text)
	}
	for name, text := range copies {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			return "", errors.Join(fmt.Errorf("new plugin: %w", err), os.RemoveAll(dir))
		}
	}
	return dir, nil
}

// within is where a package of noema's methods lies in a plugin's folder.
func within(pkg string) string { return strings.TrimPrefix(pkg, "noema/methods/") }

// moved are the import paths of the files' packages, each followed by its new one.
func moved(files []parsed, module string) (pairs []string) {
	for _, f := range files {
		pairs = append(pairs, strconv.Quote(f.path), strconv.Quote(module+"/"+within(f.path)))
	}
	return pairs
}

// head is how the main file of a method that is made of another begins.
func (from Origin) head(name string) string {
	return fmt.Sprintf(`// Command %s began as noema's method %s, to be changed: until then it makes the
// same calls, as "noema plugin check" shows.
//
%s%s
package main

`, name, from.Name, originLine, from.Name)
}

// sources parses the method's package and those that none but noema's own methods can
// import.
func (from Origin) sources(fset *token.FileSet, checkout string) (files []parsed, err error) {
	if checkout, err = FindCheckout(checkout); err != nil {
		return nil, err
	}
	pending := []string{from.Package}
	for i := 0; i < len(pending); i++ {
		names, err := filepath.Glob(filepath.Join(checkout, filepath.FromSlash(strings.TrimPrefix(pending[i], "noema/")), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("new plugin: %w", err)
			}
			file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
			if err != nil {
				return nil, fmt.Errorf("new plugin: %w", err)
			}
			files = append(files, parsed{pending[i], name, string(text), file})
			for _, spec := range file.Imports {
				if p := importPath(spec); internal(p) && !slices.Contains(pending, p) {
					pending = append(pending, p)
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, lab.Misused(fmt.Errorf("new plugin: %s has no source of %s", checkout, from.Package))
	}
	return files, nil
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // it was parsed
	return p
}

// internal reports whether a package is one that plugins cannot import.
func internal(p string) bool {
	return strings.HasPrefix(p, "noema/") && strings.Contains(p+"/", "/internal/")
}

// entry finds the function that makes the method, which holds its name or is New, and
// gives the method its new name there and where it describes itself.
func (from Origin) entry(fset *token.FileSet, files []parsed, name string) (entry string, err error) {
	for i := range files {
		f := &files[i]
		if f.path != from.Package {
			continue
		}
		edits := map[int]string{}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil && fn.Name.Name != "Describe" {
				continue
			}
			held := false
			ast.Inspect(fn, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Value == strconv.Quote(from.Name) {
					edits[fset.Position(lit.Pos()).Offset], held = lit.Value, true
				}
				return true
			})
			if fn.Recv == nil && (held || fn.Name.Name == "New") && fn.Type.Params.NumFields() == 0 {
				entry = fn.Name.Name
			}
		}
		for _, at := range slices.Backward(slices.Sorted(maps.Keys(edits))) {
			f.text = f.text[:at] + strconv.Quote(name) + f.text[at+len(edits[at]):]
		}
		if f.ast, err = parser.ParseFile(fset, f.path+"/renamed.go", f.text, parser.ParseComments); err != nil {
			return "", fmt.Errorf("new plugin: %w", err)
		}
	}
	if entry == "" {
		return "", fmt.Errorf("new plugin: %s has no function that makes %q", from.Package, from.Name)
	}
	return entry, nil
}

// merge joins files of several packages into one of package main.
func merge(fset *token.FileSet, files []parsed) (string, error) {
	imports, owners := map[string]string{}, map[string]string{}
	var decls strings.Builder
	for _, f := range files {
		own := map[string]bool{}
		for _, spec := range f.ast.Imports {
			p, name := importPath(spec), importName(spec)
			if internal(p) {
				own[name] = true
			} else if at, ok := imports[name]; ok && at != p {
				return "", fmt.Errorf("%s and %s are both imported as %s", at, p, name)
			} else {
				imports[name] = p
			}
		}
		for _, d := range f.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				continue
			}
			if fn, ok := d.(*ast.FuncDecl); !ok || fn.Recv == nil {
				for _, name := range declared(d) {
					if at, ok := owners[name]; ok && at != f.path && name != "_" {
						return "", fmt.Errorf("%s and %s both declare %s", path.Base(at), path.Base(f.path), name)
					}
					owners[name] = f.path
				}
			}
			decls.WriteString(unqualified(fset, d, f.text, own) + "\n\n")
		}
	}
	var head strings.Builder
	head.WriteString("package main\n\n")
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&head, "import %s %q\n", strings.TrimPrefix(name, path.Base(imports[name])), imports[name])
	}
	return head.String() + "\n" + decls.String(), nil
}

// unqualified is a declaration with its doc comment, without the names of packages in
// front of what they declare.
func unqualified(fset *token.FileSet, d ast.Decl, text string, packages map[string]bool) string {
	var cuts [][2]int
	ast.Inspect(d, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && packages[x.Name] {
				cuts = append(cuts, [2]int{fset.Position(x.Pos()).Offset, fset.Position(sel.Sel.Pos()).Offset})
			}
		}
		return true
	})
	slices.SortFunc(cuts, func(a, b [2]int) int { return a[0] - b[0] })
	whole, start := declText(fset, d, text), fset.Position(declStart(d)).Offset
	for _, c := range slices.Backward(cuts) {
		whole = whole[:c[0]-start] + whole[c[1]-start:]
	}
	return whole
}
