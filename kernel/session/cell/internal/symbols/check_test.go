package symbols

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// checkSource type-checks declarations against the importer. The error must
// have want in it, or be none if want is empty.
func checkSource(t *testing.T, m types.Importer, text, want string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", "package main\n"+text, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := types.Config{Importer: m, GoVersion: "go1.26"}
	_, err = config.Check("main", fset, []*ast.File{file}, nil)
	switch {
	case want == "" && err != nil:
		t.Error(err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want %q in it", err, want)
	}
}

func mustImport(t *testing.T, m *Importer, path string) *types.Package {
	t.Helper()
	pkg, err := m.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}
