package symbols

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/traefik/yaegi/interp"

	"noema/kernel/cell/symbols/generic"
	"noema/methods"
)

// interpret runs a whole program and returns what it printed.
func interpret(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	i := interp.New(interp.Options{Stdout: &out, Stderr: &out})
	describe := func(m methods.Method) string {
		if d, ok := m.(methods.Describer); ok {
			return d.Describe().Name
		}
		return "no name"
	}
	for _, tables := range []interp.Exports{Exports(), {"test/test": {"Describe": reflect.ValueOf(describe)}}} {
		if err := i.Use(tables); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := i.Eval(text); err != nil {
		t.Fatalf("%v\n%s%s", err, out.String(), text)
	}
	return strings.TrimSpace(out.String())
}

func TestInterpreterUsesTheTables(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"names newer than yaegi's tables", `
			import ("fmt"; "strings")
			func main() { strings.SplitSeq("a,b", ",")(func(s string) bool { fmt.Print(s, ";"); return true }) }
		`, "a;b;"},
		{"exact constants", `
			import ("fmt"; "noema/kernel/score")
			func main() { var x float32 = score.AbsTolerance; var y float64 = score.RelTolerance * 2; fmt.Println(x, y) }
		`, "1e-09 2e-06"},
		{"an interpreted type is a compiled interface", `
			import ("context"; "fmt"; "noema/methods")
			type twice struct{ word string }
			func (m twice) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
				return methods.Answer{}, fmt.Errorf("%s: %s", m.word, p.Query)
			}
			func main() {
				var m methods.Method = twice{"no"}
				_, err := m.Solve(context.Background(), methods.Problem{Query: "why"}, nil)
				fmt.Println(err)
			}
		`, "no: why"},
		{"an optional second interface", `
			import ("context"; "fmt"; "noema/methods"; "test")
			type plain struct{}
			func (*plain) Solve(context.Context, methods.Problem, methods.Host) (methods.Answer, error) { return methods.Answer{}, nil }
			type named struct{ name string }
			func (n *named) Solve(context.Context, methods.Problem, methods.Host) (methods.Answer, error) { return methods.Answer{}, nil }
			func (n *named) Describe() methods.Description { return methods.Description{Name: n.name} }
			func main() { fmt.Println(test.Describe(&plain{}), test.Describe(&named{"mine"})) }
		`, "no name mine"},
		{"gonum", `
			import ("fmt"; "gonum.org/v1/gonum/stat"; "gonum.org/v1/gonum/floats")
			func main() { x := []float64{1, 2, 3}; floats.Scale(2, x); fmt.Println(stat.Mean(x, nil)) }
		`, "4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := interpret(t, "package main\n"+tt.text); got != tt.want {
				t.Errorf("prints %q, want %q", got, tt.want)
			}
		})
	}
}

// instance writes one concrete copy of a generic text, as package lower does
// with the generics of a cell.
func instance(t *testing.T, f generic.Func, args map[string]string) string {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", "package p\n"+f.Text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			n.Type.TypeParams = nil
			if n.Recv != nil {
				star := n.Recv.List[0].Type.(*ast.StarExpr)
				star.X = star.X.(*ast.IndexExpr).X
			}
		case *ast.TypeSpec:
			n.TypeParams = nil
		case *ast.Ident:
			if to, ok := args[n.Name]; ok {
				n.Name = to
			}
		}
		return true
	})
	var b strings.Builder
	if err := printer.Fprint(&b, fset, file.Decls); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInterpreterRunsTheTexts(t *testing.T) {
	ints := map[string]string{"S": "[]int", "E": "int", "T": "int"}
	words := map[string]string{"S": "[]string", "E": "string", "T": "string", "M": "map[string]int", "K": "string", "V": "int"}
	pairs := map[string]string{"S": "[]pair", "E": "pair", "T": "pair"}
	for _, tt := range []struct {
		body  string
		types map[string]string
		funcs []string
		want  string
	}{
		{`x := []int{3, 1, 2}; slices_Sort(x); fmt.Println(x)`, ints, []string{"slices_Sort", "cmp_Less"}, "[1 2 3]"},
		{`x := []string{"b", "a"}; slices_Sort(x); fmt.Println(x)`, words, []string{"slices_Sort", "cmp_Less"}, "[a b]"},
		{`x := ages{3, 1, 2}; slices_Sort(x); fmt.Println(x)`, map[string]string{"S": "ages", "E": "age", "T": "age"}, []string{"slices_Sort", "cmp_Less"}, "[1 2 3]"},
		{`x := []pair{{"b", 2}, {"a", 1}}; slices_SortFunc(x, func(a, b pair) int { return a.n - b.n }); fmt.Println(x)`, pairs, []string{"slices_SortFunc"}, "[{a 1} {b 2}]"},
		{`x := []pair{{"b", 2}, {"a", 2}, {"c", 1}}; slices_SortStableFunc(x, func(a, b pair) int { return a.n - b.n }); fmt.Println(x)`, pairs, []string{"slices_SortStableFunc"}, "[{c 1} {b 2} {a 2}]"},
		{`x := []pair{{"b", 2}, {"a", 1}}; slices_Reverse(x); fmt.Println(x, slices_Index(x, pair{"b", 2}), slices_Contains(x, pair{}))`, pairs, []string{"slices_Reverse", "slices_Index", "slices_Contains"}, "[{a 1} {b 2}] 1 false"},
		{`fmt.Println(slices_Max([]int{1, 3, 2}), slices_Min([]int{3, 1}), slices_Compact([]int{1, 1, 2}))`, ints, []string{"slices_Max", "slices_Min", "cmp_Less", "slices_Compact", "slices_CompactFunc"}, "3 1 [1 2]"},
		{`fmt.Println(slices_Insert([]int{1, 2}, 1, 8, 9), slices_Delete([]int{1, 2, 3}, 0, 2), slices_Concat([]int{1}, []int{2}))`, ints, []string{"slices_Insert", "slices_Delete", "slices_Concat", "slices_Grow"}, "[1 8 9 2] [3] [1 2]"},
		{`i, ok := slices_BinarySearch([]int{1, 3, 5}, 3); fmt.Println(i, ok, cmp_Compare(1, 2), cmp_Or(0, 7))`, ints, []string{"slices_BinarySearch", "cmp_Less", "cmp_Compare", "cmp_Or"}, "1 true -1 7"},
		{`fmt.Println(slices_Sorted(maps_Keys(map[string]int{"b": 1, "a": 2})), maps_Clone(map[string]int{"x": 1}))`, words, []string{"slices_Sorted", "slices_Sort", "slices_Collect", "maps_Keys", "maps_Clone", "cmp_Less"}, "[a b] map[x:1]"},
		{`n := 0; slices_All([]int{4, 5})(func(i, v int) bool { n += i * v; return true }); fmt.Println(n)`, ints, []string{"slices_All"}, "5"},
		{`n := 0; f := sync_OnceValue(func() int { n++; return n }); f(); fmt.Println(f())`, ints, []string{"sync_OnceValue"}, "1"},
		{`var p sync_atomic_Pointer; v := 3; fmt.Println(p.Load() == nil); p.Store(&v); fmt.Println(*p.Load(), p.CompareAndSwap(nil, &v))`, ints, []string{"sync_atomic_Pointer"}, "true\n3 false"},
		{`fmt.Println(math_rand_v2_N(1), reflect_TypeFor())`, map[string]string{"Int": "int", "T": "string"}, []string{"math_rand_v2_N", "reflect_TypeFor"}, "0 string"},
	} {
		t.Run(tt.body, func(t *testing.T) {
			imports := map[string]string{"fmt": "fmt"}
			var decls strings.Builder
			for _, name := range tt.funcs {
				f, ok := generic.ByName(name)
				if !ok {
					t.Fatalf("no text of %s", name)
				}
				maps.Copy(imports, f.Imports)
				decls.WriteString(instance(t, f, tt.types) + "\n")
			}
			delete(imports, "std_cmp")
			var text strings.Builder
			text.WriteString("package main\n")
			for _, name := range slices.Sorted(maps.Keys(imports)) {
				fmt.Fprintf(&text, "import %s %q\n", name, imports[name])
			}
			fmt.Fprintf(&text, "type pair struct { s string; n int }\ntype age int\ntype ages []age\n%s\nfunc main() { %s }\n", &decls, tt.body)
			if got := interpret(t, text.String()); got != tt.want {
				t.Errorf("prints %q, want %q", got, tt.want)
			}
		})
	}
}

// A text and what it uses must check by themselves, as they are put into cells.
func TestTextsCheck(t *testing.T) {
	m := NewImporter()
	for _, name := range generic.Names() {
		imports, decls := map[string]string{}, map[string]string{}
		collect(name, imports, decls)
		var text strings.Builder
		for _, name := range slices.Sorted(maps.Keys(imports)) {
			fmt.Fprintf(&text, "import %s %q\n", name, imports[name])
		}
		for _, name := range slices.Sorted(maps.Keys(decls)) {
			text.WriteString(decls[name])
		}
		t.Run(name, func(t *testing.T) { checkSource(t, m, text.String(), "") })
	}
}

// collect gathers a text and those that it uses.
func collect(name string, imports, decls map[string]string) {
	if decls[name] != "" {
		return
	}
	f, _ := generic.ByName(name)
	decls[name] = f.Text
	maps.Copy(imports, f.Imports)
	for _, used := range f.Uses {
		collect(used, imports, decls)
	}
}
