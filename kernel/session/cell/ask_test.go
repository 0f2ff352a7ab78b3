package cell

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestIsComplete(t *testing.T) {
	s := newSession(t)
	for text, want := range map[string]Completeness{
		"":                        {Status: "complete"},
		"x := 1":                  {Status: "complete"},
		"x++":                     {Status: "complete"},
		"for {":                   {"incomplete", "\t"},
		"for {\n\tif x {":         {"incomplete", "\t\t"},
		"f(1,":                    {"incomplete", "\t"},
		"f(1)":                    {Status: "complete"},
		"x := 1 +":                {"incomplete", "\t"},
		"x :=":                    {"incomplete", "\t"},
		"strings.":                {"incomplete", "\t"},
		"`raw":                    {Status: "incomplete"},
		"/* comment":              {Status: "incomplete"},
		"x // comment {":          {Status: "complete"},
		"\"{\"":                   {Status: "complete"},
		"\"open":                  {Status: "invalid"},
		"}":                       {Status: "invalid"},
		"f(1]":                    {Status: "invalid"},
		"if x {\n} else":          {"incomplete", "\t"},
		"import (\n\t\"fmt\"":     {"incomplete", "\t"},
		"type T struct {\n}":      {Status: "complete"},
		"x = []int{1, 2}[1:]":     {Status: "complete"},
		"\x00":                    {Status: "invalid"},
		"for i := range 3 {\n}\n": {Status: "complete"},
	} {
		if got := s.IsComplete(text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

func TestComplete(t *testing.T) {
	s := declared(t, newSession(t, func(o *Options) { o.Imports = []string{"fmt", "strings"} }), "lab", &strings.Builder{})
	run(t, s, "counter := 1\ntype Point struct{ Xval, Yval int }\nfunc double(n int) int { return n * 2 }\np := Point{}")
	for text, want := range map[string]string{
		"fmt.Prin|":                     "Println",
		"cou|":                          "counter",
		"dou|":                          "double",
		"p.|":                           "Xval",
		"lab.Write|":                    "WriteString",
		"import \"stri|":                "strings",
		"for i := 0; i < 3; i++ { str|": "strings",
	} {
		before, _, _ := strings.Cut(text, "|")
		c := s.Complete(before, len(before))
		if !slices.ContainsFunc(c.Items, func(i Completion) bool { return i.Text == want }) {
			t.Errorf("%q: %v does not hold %s", text, c.Items, want)
		}
		if c.Start > c.End || c.End != len(before) {
			t.Errorf("%q: the place is %d to %d", text, c.Start, c.End)
		}
	}
}

func TestInspect(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"fmt", "strings"} })
	source := "// double is twice n.\nfunc double(n int) int { return n * 2 }"
	run(t, s, source)
	d, ok := s.Inspect("strings.Cut", 11)
	if !ok || d.Name != "strings.Cut" || !strings.Contains(d.Comment, "Cut slices s around") {
		t.Errorf("strings.Cut is %+v, %v", d, ok)
	}
	d, ok = s.Inspect("double(", 7)
	if !ok || !strings.Contains(d.Signature, "double(n int) int") || !strings.Contains(d.Source, "return n * 2") {
		t.Errorf("double is %+v, %v", d, ok)
	}
	if d, ok := s.Inspect("nothere", 3); ok {
		t.Errorf("nothere is %+v", d)
	}
}

func TestVariables(t *testing.T) {
	s := declared(t, newSession(t), "lab", &strings.Builder{})
	run(t, s, "const limit = 3\nx := 1")
	run(t, s, "type P struct{ A int }\nfunc (p P) Get() int { return p.A }\nfunc f(p P) string { return \"\" }")
	want := []Variable{
		{"P", "type", "struct{A int}", 2},
		{"f", "func", "func(p P) string", 2},
		{"lab", "var", "*strings.Builder", 0},
		{"limit", "const", "untyped int", 1},
		{"x", "var", "int", 1},
	}
	if got := s.Variables(); !slices.Equal(got, want) {
		t.Errorf("variables are\n%v, want\n%v", got, want)
	}
}

// TestAskWhileACellRuns asks all that may be asked at any time.
func TestAskWhileACellRuns(t *testing.T) {
	s := newSession(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				s.Complete("fmt.Pr", 6)
				s.Inspect("fmt.Println", 8)
				s.Variables()
				s.IsComplete("x := 1")
				_ = s.Context().Err()
				s.Count()
			}
		})
	}
	for i := range 30 {
		run(t, s, "x := 0\nfor i := 0; i < 100; i++ { x += i }\nfunc f() int { return x }")
		if i == 15 {
			if err := s.Reset(); err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
}
