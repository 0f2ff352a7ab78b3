package plugindev

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/lab"
)

// Promotion is a function of a script that became a plugin.
type Promotion struct {
	Name     string // of the method
	Function string // in the script
	Dir      string // the plugin's folder
	// Declarations is the script's text without main: what the function is made
	// of, as a cell.
	Declarations string
	Kinds        string // of answers, as AddMethod was given them
}

// Promote makes a plugin of a function that a script or notebook hands to
// AddMethod. With several, o.Name says which; the plugin's folder is made in
// o.Dir.
func Promote(file string, o Options) (Promotion, error) {
	text, err := scriptText(file)
	if err != nil {
		return Promotion{}, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.ParseComments)
	if err != nil {
		return Promotion{}, lab.Misused(fmt.Errorf("promote: %w", err))
	}
	added, err := findAdded(fset, parsed, o.Name)
	if err != nil {
		return Promotion{}, err
	}
	p := Promotion{Name: added.name, Function: added.function, Kinds: strings.Join(added.kinds, ", ")}
	if p.Declarations, err = needed(fset, parsed, text, added.function); err != nil {
		return Promotion{}, err
	}
	name, version, _ := strings.Cut(added.name, "@")
	o.Name = name
	v, err := o.values()
	if err != nil {
		return Promotion{}, err
	}
	v.Body, v.Function, v.Kinds, v.Version, v.File = p.Declarations, added.function, p.Kinds, strconv.Quote(cmp.Or(version, "1")), filepath.Base(file)
	if p.Dir, err = o.write(v, "module", "promoted"); err != nil {
		return Promotion{}, err
	}
	return p, nil
}

// scriptText reads a script, or the code cells of a notebook as one.
func scriptText(file string) (string, error) {
	raw, err := files.Read(file, files.MaxText)
	if err != nil {
		return "", lab.Misused(fmt.Errorf("promote: %w", err))
	}
	if !strings.HasSuffix(file, ".ipynb") {
		return string(raw), nil
	}
	return notebookScript(raw)
}

// notebookScript makes a script of a notebook: its declarations, and its
// statements in main.
func notebookScript(raw []byte) (string, error) {
	var book struct {
		Cells []struct {
			Type   string          `json:"cell_type"`
			Source json.RawMessage `json:"source"`
		} `json:"cells"`
	}
	if err := json.Unmarshal(raw, &book); err != nil {
		return "", lab.Misused(fmt.Errorf("promote: the notebook is not JSON: %w", err))
	}
	var decls, body strings.Builder
	imports := map[string]bool{`"fmt"`: true, `. "noema/kernel/lab"`: true}
	for _, c := range book.Cells {
		if c.Type != "code" {
			continue
		}
		var lines []string
		if json.Unmarshal(c.Source, &lines) != nil {
			lines = []string{""}
			_ = json.Unmarshal(c.Source, &lines[0]) // one string instead of a list; anything else is not code
		}
		splitCell(strings.Join(lines, ""), imports, &decls, &body)
	}
	var head strings.Builder
	for _, spec := range slices.Sorted(maps.Keys(imports)) {
		fmt.Fprintf(&head, "import %s\n", spec)
	}
	return fmt.Sprintf("package main\n\n%s\n%s\nfunc main() {\n%s}\n", &head, &decls, &body), nil
}

// splitCell takes the parts of a cell that begin at a line's first column.
func splitCell(text string, imports map[string]bool, decls, body *strings.Builder) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package main\n"+text, parser.SkipObjectResolution)
	if err == nil { // declarations alone
		for _, spec := range file.Imports {
			name := ""
			if spec.Name != nil {
				name = spec.Name.Name + " "
			}
			imports[name+spec.Path.Value] = true
		}
		for _, line := range strings.SplitAfter(text, "\n") {
			if !strings.HasPrefix(line, "import ") {
				decls.WriteString(line)
			}
		}
		decls.WriteString("\n")
		return
	}
	for _, line := range strings.SplitAfter(text, "\n") {
		if !strings.HasPrefix(line, "%") && !strings.HasPrefix(line, "!") {
			body.WriteString(line)
		}
	}
	body.WriteString("\n")
}

// addedMethod is a call of AddMethod.
type addedMethod struct {
	name, function string
	kinds          []string
}

// findAdded finds the call of AddMethod with that name, or the only one.
func findAdded(fset *token.FileSet, file *ast.File, name string) (addedMethod, error) {
	var all []addedMethod
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 3 {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "AddMethod" {
			return true
		}
		lit, isLit := call.Args[0].(*ast.BasicLit)
		fn, isName := call.Args[1].(*ast.Ident)
		if !isLit || !isName {
			return true
		}
		m := addedMethod{function: fn.Name}
		m.name, _ = strconv.Unquote(lit.Value)
		for _, k := range call.Args[2:] {
			m.kinds = append(m.kinds, source(fset, k))
		}
		all = append(all, m)
		names = append(names, m.name)
		return true
	})
	if name != "" {
		i := slices.IndexFunc(all, func(m addedMethod) bool { return m.name == name || strings.HasPrefix(m.name, name+"@") })
		if i < 0 {
			return addedMethod{}, lab.Misused(fmt.Errorf("promote: no method %q is added in the file: it adds %s", name, strings.Join(names, ", ")))
		}
		return all[i], nil
	}
	switch len(all) {
	case 0:
		return addedMethod{}, lab.Misused(errors.New("promote: no method found: add one with a call such as lab.AddMethod(\"name\", Function, Number)"))
	case 1:
		return all[0], nil
	}
	return addedMethod{}, lab.Misused(fmt.Errorf("promote: the file adds several methods: choose one with --name: %s", strings.Join(names, ", ")))
}

func source(fset *token.FileSet, n ast.Node) string {
	var b bytes.Buffer
	if format.Node(&b, fset, n) != nil {
		return ""
	}
	return b.String()
}

// needed is the text of a function and of all that it needs of its file:
// imports and declarations.
func needed(fset *token.FileSet, file *ast.File, text, function string) (string, error) {
	n := needs{declares: map[string][]ast.Decl{}, want: map[ast.Decl]bool{}, used: map[string]bool{}}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !f.Name.IsExported() {
			n.methods = append(n.methods, f)
			continue
		}
		for _, name := range declared(d) {
			n.declares[name] = append(n.declares[name], d)
		}
	}
	if n.declares[function] == nil {
		return "", lab.Misused(fmt.Errorf("promote: the file declares no function %s: declare it at the top level", function))
	}
	n.follow(function)
	n.followMethods()
	var imports, decls strings.Builder
	for _, spec := range file.Imports {
		if i := importName(spec); i == "." || n.used[i] {
			fmt.Fprintf(&imports, "import %s\n", source(fset, spec))
		}
	}
	for _, d := range file.Decls {
		if n.want[d] {
			decls.WriteString(declText(fset, d, text) + "\n\n")
		}
	}
	return imports.String() + "\n" + decls.String(), nil
}

// needs are the declarations that a function needs, found by the names that stand in
// them, whatever these mean there: one too many does no harm.
type needs struct {
	declares map[string][]ast.Decl // by name; exported methods by their type's
	methods  []*ast.FuncDecl       // which no other file or interface can ask for
	want     map[ast.Decl]bool
	used     map[string]bool
}

func (n *needs) follow(name string) {
	if n.used[name] || name == "main" {
		return
	}
	n.used[name] = true
	for _, d := range n.declares[name] {
		n.include(d)
	}
}

func (n *needs) include(d ast.Decl) {
	n.want[d] = true
	ast.Inspect(d, func(node ast.Node) bool {
		if id, ok := node.(*ast.Ident); ok {
			n.follow(id.Name)
		}
		return true
	})
}

// followMethods includes the methods of which both the type and the name are used.
func (n *needs) followMethods() {
	for more := true; more; {
		more = false
		for _, m := range n.methods {
			if !n.want[m] && n.used[m.Name.Name] && n.used[declared(m)[0]] {
				n.include(m)
				more = true
			}
		}
	}
}

// majorVersion ends an import path without being its name.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// importName is the name that a file calls an import by.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(majorVersion.ReplaceAllString(importPath(spec), ""))
}

// declText is a declaration with its doc comment.
func declText(fset *token.FileSet, d ast.Decl, text string) string {
	return text[fset.Position(declStart(d)).Offset:fset.Position(d.End()).Offset]
}

// declStart is where a declaration begins, with its doc comment.
func declStart(d ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return d.Pos()
}

// declared are the names that a declaration gives meaning to; a method's is its
// type's.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		t := d.Recv.List[0].Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		if id, ok := t.(*ast.Ident); ok {
			return []string{id.Name}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}
