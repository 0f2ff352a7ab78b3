package source

import (
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"strings"
	"testing"
	"time"
)

func readText(text string, objects map[string]types.Object) (*Unit, error) {
	fset := token.NewFileSet()
	w := Environment{Importer: importer.ForCompiler(fset, "source", nil), Scope: Scope{Objects: objects, Imports: map[string]string{"strings": "strings"}}}
	return Read(fset, text, w, Hooks(), Options{Source: "cell 7"})
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"syntax", "x := 1\ny := (2", "cell 7:2:8: expected ')'"},
		{"first line", "x := := 1", "cell 7:1:6: expected operand"},
		{"type", "\n\tvar n int = \"a\"", "cell 7:2:14: cannot use"},
		{"in a function", "func f() int {\n\treturn \"a\"\n}", "cell 7:2:9: cannot use"},
		{"undefined", "nothere", "cell 7:1:1: undefined: nothere"},
		{"before its declaration", "println(x)\nx := 1", "cell 7:1:9: undefined: x"},
		{"by itself", "x := x + 1", "cell 7:1:6: undefined: x"},
		{"closing too much", "x := 1\n}\n", "cell 7"},
		{"new variables", "x := 1\nx := 2", "cell 7:2:3: no new variables on left side of :="},
		{"init", "func init() {}", "a cell cannot have a function named init"},
		{"deep", strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500), "brackets nest 500 deep"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readText(c.text, nil)
			var e *Errors
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("gives %v, want %q", err, c.want)
			}
		})
	}
}

// TestNamesOfEarlierCells reads x := x + 1, in which the second x is another
// cell's.
func TestNamesOfEarlierCells(t *testing.T) {
	old := types.NewVar(token.NoPos, types.NewPackage("main", "main"), "x", types.Typ[types.Int])
	u, err := readText("println(x)\nx := float64(x) / 2", map[string]types.Object{"x": old})
	if err != nil {
		t.Fatal(err)
	}
	if len(u.Defines) != 1 || u.Defines[0].Object.Type() != types.Typ[types.Float64] {
		t.Errorf("it defines %v", u.Defines)
	}
	if len(u.Earlier) != 1 || u.Earlier[0][1] != types.Object(old) {
		t.Errorf("the earlier x is %v", u.Earlier)
	}
}

func TestDefinitionsHaveTheirSource(t *testing.T) {
	text := "import \"fmt\"\n\ntype T struct{ n int }\nx, y := 1, \"é\"\nfunc (t *T) M() string {\n\treturn fmt.Sprint(t.n, x)\n}\nconst (\n\tA = iota\n\tB\n)"
	u, err := readText(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range u.Defines {
		got[d.Name] = fmt.Sprintf("%d %s", d.Line, d.Source)
	}
	for name, want := range map[string]string{
		"T": "3 type T struct{ n int }", "T.M": "5 func (t *T) M() string {\n\treturn fmt.Sprint(t.n, x)\n}",
		"A": "8 const (\n\tA = iota\n\tB\n)", "B": "8 const (\n\tA = iota\n\tB\n)",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if got["x"] == "" || got["y"] == "" || len(got) != 6 {
		t.Errorf("it defines %v", got)
	}
}

// FuzzRead demands that any text gives a unit or an error of its own kind.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"x := 1", "func(){}()", "import \"fmt\"", "type T[P any] struct{}", "}", "x, y := 1", "var (\na = b\nb = 1)", "for {", "L: goto L"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		over := make(chan error, 1)
		go func() {
			_, err := Read(token.NewFileSet(), text, Environment{Importer: nothing{}}, Hooks(), Options{Source: "cell 1"})
			over <- err
		}()
		var err error
		select {
		case err = <-over:
		case <-time.After(2 * time.Minute):
			t.Fatal("it does not end")
		}
		var e *Errors
		if err != nil && !errors.As(err, &e) {
			t.Errorf("gives %T: %v", err, err)
		}
	})
}

type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	return nil, fmt.Errorf("package %q is not here", path)
}
