package battery

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"strings"
	"testing"
)

// TestCompilerErrors checks that what the battery calls an error of Go is one:
// Go's own type checker must give the same message.
func TestCompilerErrors(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool here: the packages' sources cannot be found")
	}
	set := token.NewFileSet()
	imports := importer.ForCompiler(set, "source", nil)
	for _, s := range all(loadThemes(t)) {
		if s.Error == "" {
			continue
		}
		var got []string
		file, err := parser.ParseFile(set, s.Name+".go", s.program("p"), 0)
		if err != nil {
			t.Errorf("%s: does not parse: %v", s.Name, err)
			continue
		}
		config := types.Config{
			GoVersion: "go1.26", Importer: imports,
			Error: func(err error) { got = append(got, err.Error()) },
		}
		_, _ = config.Check("p", set, []*ast.File{file}, nil) // the errors came by Error
		if !strings.Contains(strings.Join(got, "\n"), s.Error) {
			t.Errorf("%s: the compiler says %q, want %q in it", s.Name, got, s.Error)
		}
	}
}
