package symbols

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/traefik/yaegi/interp"

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
