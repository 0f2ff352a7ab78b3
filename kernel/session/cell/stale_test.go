package cell

import (
	"fmt"
	"strings"
	"testing"
)

// TestStale runs cells one after the other and names those that are stale in the
// end, with the cell that made them so.
func TestStale(t *testing.T) {
	for _, test := range []struct {
		name, want string
		cells      []string
	}{
		{"nothing set again", "", []string{"x := 1", "y := x + 1", "y"}},
		{"assigned again", "2 x by 3", []string{"x := 1", "y := x + 1", "x = 5"}},
		{"declared again, with another type", "2 x by 3", []string{"x := 1", "fmt.Sprint(x)", `x := "a"`}},
		{"from one to the next", "2 x by 4, 3 y by 4", []string{"x := 1", "y := x + 1", "y * 2", "x = 5"}},
		{"run again", "", []string{"x := 1", "y := x + 1", "x = 5", "y := x + 1"}},
		{"run again, and then what follows", "3 y by 5", []string{"x := 1", "y := x + 1", "y * 2", "x = 5", " y := x + 1\n"}},
		{"what it set is set by another", "", []string{"x := 1", "y := x + 1", "x = 5", "y = 0"}},
		{"sets what it reads", "", []string{"x := 1", "x = x + 1", "x++", "x"}},
		{"set before it is read", "", []string{"x := 1", "x = 2\nfmt.Sprint(x)", "x = 3"}},
		{"reads the value before its own", "2 x by 3", []string{"x := 1", "x, z := x+1, 0", "x = 3"}},
		{"an element, a field, an address", "4 a by 6, 4 m by 6, 4 n by 6", []string{
			"m, n := map[string]int{}, 0", "type T struct{ F int }", "a := T{}", "fmt.Sprint(m, n, a)", "", "m[\"k\"] = 1; a.F = 2; fmt.Sscan(\"3\", &n)"}},
		{"through functions and methods", "5 x by 6", []string{
			"x := 1", "func f() int { return x }", "type T int\nfunc (t T) M() int { return f() }", "T(0)", "T(0).M()", "func set() { x = 2 }\nset()"}},
		{"a function of another body", "2 f by 3", []string{"func f() int { return 1 }", "f()", "func f() int { return 2 }"}},
		{"a function of the same body", "", []string{"func f() int { return 1 }", "f()", "func f() int { return 1 }\nx := 1"}},
		{"local names", "", []string{"x := 1", "func() int { x := 2; return x }()", "x = 3"}},
		{"a cell that panics", "2 x by 3", []string{"x := 1", "y := 1 / (x - 1)", "x = 2"}},
		{"a cell that does not compile", "", []string{"x := 1", "y := x + nothing", "x = 2"}},
	} {
		for _, engine := range Engines() {
			t.Run(test.name+" "+engine, func(t *testing.T) {
				s := newSession(t, func(o *Options) { o.Engine = engine })
				for _, text := range test.cells {
					_, _ = s.Run(t.Context(), text, &recorder{}) // two of them fail
				}
				if got := staleOf(s); got != test.want {
					t.Errorf("stale: %q, want %q", got, test.want)
				}
			})
		}
	}
}

func staleOf(s *Session) string {
	var out []string
	for _, c := range s.Stale() {
		for _, name := range c.Names {
			out = append(out, fmt.Sprintf("%d %s by %d", c.Number, name, c.By))
		}
	}
	return strings.Join(out, ", ")
}
