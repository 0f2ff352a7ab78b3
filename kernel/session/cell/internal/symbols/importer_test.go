package symbols

import (
	"context"
	"go/constant"
	"go/token"
	"go/types"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traefik/yaegi/interp"

	"noema/methods"

	"noema/kernel/session/cell/internal/source"
)

func TestEveryPackageImports(t *testing.T) {
	m := NewImporter()
	paths := m.Paths()
	for _, want := range []string{"fmt", "math/rand/v2", "iter", "noema/kernel/lab", "noema/methods", "noema/kernel/result/compare", "gonum.org/v1/gonum/stat"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%q is not in the tables", want)
		}
	}
	for _, not := range []string{"os/exec", "syscall", "unsafe", "plugin", "", "."} {
		if slices.Contains(paths, not) {
			t.Errorf("%q is in the tables", not)
		}
	}
	for _, path := range paths {
		pkg, err := m.Import(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !pkg.Complete() || pkg.Path() != path {
			t.Errorf("import %q gives %v", path, pkg)
		}
		again, err := m.Import(path)
		if err != nil || again != pkg {
			t.Errorf("a second import of %q gives another package, error %v", path, err)
		}
	}
}

// wrapped are the names that yaegi has replaced by versions that spare the
// process.
var wrapped = []string{"log.Logger", "log.New"}

// What the interpreter has and what the checker believes must be one type, for
// each entry of each table. It says at once that the reflect types find the
// same named types in all packages.
func TestTablesAgreeWithTypes(t *testing.T) {
	m := NewImporter()
	for key, table := range Exports() {
		path := pathOf(key)
		if path == "" {
			continue
		}
		pkg, err := m.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range table {
			if !token.IsExported(name) || slices.Contains(wrapped, pkg.Name()+"."+name) {
				continue
			}
			obj := pkg.Scope().Lookup(name)
			if obj == nil {
				t.Errorf("%s.%s is in the table and not in the package", path, name)
				continue
			}
			sameType(t, m, path, obj, v)
		}
	}
}

func sameType(t *testing.T, m *Importer, path string, obj types.Object, v reflect.Value) {
	t.Helper()
	compiled := v.Type()
	switch obj := obj.(type) {
	case *types.TypeName:
		compiled = compiled.Elem()
	case *types.Const:
		if v.Type().Implements(reflect.TypeFor[constant.Value]()) {
			exact := v.Interface().(constant.Value)
			if !isUntyped(obj.Type()) || !sameConstant(exact, obj.Val()) {
				t.Errorf("%s.%s is %v in the table and %v in the package", path, obj.Name(), exact, obj.Val())
			}
			return
		}
		if isUntyped(obj.Type()) {
			return // a rune or a bool, in the table by its default type
		}
	}
	got, err := m.TypeOf(compiled)
	if err != nil {
		return // an unnamed struct, an unexported type, an instance of a generic type
	}
	if !types.Identical(got, obj.Type()) {
		t.Errorf("%s.%s is a %v in the table and a %v in the package", path, obj.Name(), got, obj.Type())
	}
}

func isUntyped(t types.Type) bool {
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&types.IsUntyped != 0
}

// sameConstant compares exactly, but for floats, which yaegi's own tables hold
// with many digits and not as fractions.
func sameConstant(a, b constant.Value) bool {
	if a.Kind() == constant.Float {
		x, _ := constant.Float64Val(a)
		y, _ := constant.Float64Val(b)
		return x == y
	}
	return a.ExactString() == b.ExactString()
}

func TestNamesThatTablesLackAreKnown(t *testing.T) {
	m := NewImporter()
	missing := 0
	exports := Exports()
	whole := []string{"slices", "maps", "cmp", "sync", "sync/atomic", "math/rand/v2", "errors", "strings", "noema/kernel/lab"}
	for _, path := range m.Paths() {
		pkg, err := m.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		table := exports[path+"/"+pkg.Name()]
		for _, name := range pkg.Scope().Names() {
			if !token.IsExported(name) {
				continue
			}
			hint, miss := m.Missing(path, name)
			if _, ok := table[name]; ok && miss && compiler[path] == "" {
				t.Errorf("%s.%s is in the table, and missing: %s", path, name, hint)
			}
			if miss {
				if !strings.HasPrefix(path, "noema/") {
					missing++
				}
				if slices.Contains(whole, path) {
					t.Errorf("%s.%s has no source", path, name)
				}
				if !strings.Contains(hint, pkg.Name()+"."+name) || !strings.Contains(hint, ": ") {
					t.Errorf("%s.%s: hint %q names no cure", path, name, hint)
				}
			}
		}
	}
	if missing == 0 || missing > 30 {
		t.Errorf("%d names are missing: too many for generic leftovers, or none at all", missing)
	}
	for _, there := range []string{"Sort", "SortFunc", "Nowhere", "min"} {
		if hint, miss := m.Missing("slices", there); miss {
			t.Errorf("slices.%s is missing: %s", there, hint)
		}
	}
	for _, vanishing := range [][2]string{{"cmp", "Ordered"}, {"iter", "Seq"}, {"iter", "Seq2"}, {"no/such", "X"}} {
		if hint, miss := m.Missing(vanishing[0], vanishing[1]); miss {
			t.Errorf("%s.%s is missing: %s", vanishing[0], vanishing[1], hint)
		}
	}
	hint, miss := m.Missing("noema/kernel/run/runner", "FindRun")
	if want := "runner.FindRun is not for cells: the variable lab has what it does"; !miss || hint != want {
		t.Errorf("runner.FindRun: %q, want %q", hint, want)
	}
	hint, miss = m.Missing("iter", "Pull")
	if want := "iter.Pull is generic and not available in cells: range over the sequence"; !miss || hint != want {
		t.Errorf("iter.Pull: %q, want %q", hint, want)
	}
}

func TestUnknownImports(t *testing.T) {
	m := NewImporter()
	for path, want := range map[string]string{
		"string":                  `did you mean "strings"`,
		"noema/kernel/labs":       `did you mean "noema/kernel/lab"`,
		"noema/kernel/scores":     `"noema/kernel/base/score"`,
		"golang.org/x/exp/rand":   `"math/rand"`,
		"maths":                   `"math"`,
		"os/exec":                 `run commands with !command`,
		"unsafe":                  `compile the script`,
		"C":                       `compile the script`,
		"github.com/nobody/none":  `noema build --with github.com/nobody/none@latest`,
		"nobody/none":             `the standard library, noema's packages and those of the module`,
		"":                        `not available`,
		"\x00\xff":                `not available`,
		strings.Repeat("a/", 1e5): `not available`,
	} {
		_, err := m.Import(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("import %.40q: error %.300v, want %q in it", path, err, want)
		}
	}
}

func TestTypeOf(t *testing.T) {
	m := NewImporter()
	for _, tt := range []struct {
		v    any
		want string
	}{
		{1, "int"}, {'a', "int32"}, {"", "string"}, {[]byte{}, "[]uint8"},
		{map[string][]time.Duration{}, "map[string][]time.Duration"},
		{(*http.Client)(nil), "*net/http.Client"},
		{(<-chan error)(nil), "<-chan error"},
		{[3]any{}, "[3]any"},
		{func(context.Context, ...string) (int, error) { return 0, nil }, "func(context.Context, ...string) (int, error)"},
		{methods.Problem{}, "noema/methods.Problem"},
	} {
		if got, err := m.TypeOf(reflect.TypeOf(tt.v)); err != nil || got.String() != tt.want {
			t.Errorf("%T is a %v, %v, want %s", tt.v, got, err, tt.want)
		}
	}
	for _, v := range []any{struct{ A int }{}, slices.Values([]int{}), []Level{}, func(*source.Scope) {}, map[*source.Unit]int{}} {
		if got, err := m.TypeOf(reflect.TypeOf(v)); err == nil {
			t.Errorf("%T is a %v, want an error", v, got)
		}
	}
	pkg, err := m.Import("context")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.TypeOf(reflect.TypeFor[context.Context]()); got != pkg.Scope().Lookup("Context").Type() {
		t.Errorf("context.Context is another type: %v, %v", got, err)
	}
}

// Level is a type of a package that cells cannot import.
type Level int

func TestAdd(t *testing.T) {
	m := NewImporter()
	const path = "example.org/more"
	m.Add(interp.Exports{path + "/more": {
		"Ask": reflect.ValueOf(func(ctx context.Context, of ...string) (*methods.Answer, error) { return nil, nil }),
	}})
	if !slices.Contains(m.Paths(), path) {
		t.Errorf("%q is not among the paths", path)
	}
	checkSource(t, m, `
		import "context"
		import "example.org/more"
		import "noema/methods"
		var answer *methods.Answer
		func f() (err error) { answer, err = more.Ask(context.Background(), "a", "b"); return err }
	`, "")
	checkSource(t, m, `
		import "example.org/more"
		var _, _ = more.Ask()
	`, "not enough arguments")
	m.Add(interp.Exports{"fmt/fmt": {"Ask": reflect.ValueOf(func() {})}})
	if pkg := mustImport(t, m, "fmt"); pkg.Scope().Lookup("Ask") != nil || pkg.Scope().Lookup("Println") == nil {
		t.Error("a table has replaced package fmt")
	}
	for name, v := range map[string]any{"Level": 1, "Raise": func(Level) {}} {
		m.Add(interp.Exports{"example.org/" + name + "/x": {name: reflect.ValueOf(v)}})
		if _, err := m.Import("example.org/" + name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("import of %s: %v", name, err)
		}
	}
}

func TestCheckerKnowsThePackages(t *testing.T) {
	m := NewImporter()
	checkSource(t, m, `
		import ("errors"; "fmt"; "iter"; "maps"; "math"; "net/http"; "os"; "slices"; "sync/atomic"; . "noema/kernel/lab"; "noema/methods"; "context")
		type mine struct{}
		func (mine) Error() string { return "" }
		var _ fmt.Stringer = os.ModeDir
		var _ error = &os.PathError{Err: errors.Join(mine{}, http.ErrServerClosed)}
		var sorted []string = slices.Sorted(maps.Keys(map[string]int{}))
		var pointer atomic.Pointer[mine]
		var seq iter.Seq2[int, string] = slices.All(sorted)
		const big = math.MaxUint64
		var x float32 = math.Pi
		func solve(ctx context.Context, e Experiment, p methods.Problem, l *Lab) { _, _ = l.Run(e) }
	`, "")
	checkSource(t, m, `
		import "math"
		var x int = math.MaxUint64
	`, "overflows")
	checkSource(t, m, `
		import "strings"
		var _, _ = strings.Cut("a", "b")
	`, "strings.Cut")
}

func TestImporterIsSafeForConcurrentUse(t *testing.T) {
	m := NewImporter()
	var wg sync.WaitGroup
	for _, path := range []string{"net/http", "noema/kernel/lab", "fmt", "os", "context", "noema/methods", "net/http", "fmt"} {
		wg.Go(func() {
			pkg, err := m.Import(path)
			if err != nil {
				t.Error(err)
				return
			}
			for _, name := range pkg.Scope().Names() {
				m.Missing(path, name)
				m.Doc(path, name)
			}
			if _, err := m.TypeOf(reflect.TypeFor[http.Request]()); err != nil {
				t.Error(err)
			}
			m.Complete("import p \""+path+"\"\np.", len(path)+13, source.Scope{})
		})
	}
	wg.Wait()
}

func TestDoc(t *testing.T) {
	m := NewImporter()
	for _, tt := range []struct{ path, name, want string }{
		{"strings", "", "Package strings implements"},
		{"strings", "Cut", "Cut slices s around"},
		{"strings", "Reader.Read", "Read implements"},
		{"net/http", "Client.Timeout", "Timeout specifies a time limit"},
		{"net/http", "StatusOK", "RFC 9110"},
		{"noema/kernel/lab", "", "Package lab is the face"},
		{"noema/kernel/lab", "Lab.Run", "Run "},
		{"noema/methods", "Graph.Kind", "what it is"},
		{"noema/methods/reply", "", "Package reply"},
		{"builtin", "append", "The append built-in function"},
	} {
		if got := m.Doc(tt.path, tt.name); !strings.HasPrefix(strings.TrimSpace(got), tt.want) {
			t.Errorf("%s.%s: %.80q, want %q", tt.path, tt.name, got, tt.want)
		}
	}
	if got := m.Doc("no/such", "Thing"); got != "" {
		t.Errorf("doc of nothing: %q", got)
	}
}

// A first cell imports a handful of packages, while somebody waits.
func BenchmarkImport(b *testing.B) {
	for b.Loop() {
		m := NewImporter()
		for _, path := range []string{"fmt", "strings", "noema/kernel/lab"} {
			if _, err := m.Import(path); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkComplete(b *testing.B) {
	m := NewImporter()
	scope := source.Scope{Imports: map[string]string{"strings": "strings"}, Dot: []string{"noema/kernel/lab"}}
	for b.Loop() {
		if _, _, items := m.Complete("x := strings.Cu", 15, scope); len(items) == 0 {
			b.Fatal("no completion")
		}
	}
}
