package cell

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestPanics(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Imports = []string{"fmt", "errors"} })
	run(t, s, "type P struct{ X int }\nvar none *P\nvar m map[string]int\nlist := []int{1, 2}\nzero := 0\nn := 5")
	for text, want := range map[string]string{
		"panic(\"boom\")":                   "boom",
		"panic(errors.New(\"bad\"))":        "bad",
		"panic(fmt.Sprint(1, 2))":           "1 2",
		"panic(42)":                         "42",
		"list[n] = 1":                       "index out of range",
		"n = n / zero":                      "integer divide by zero",
		"m[\"a\"] = 1":                      "assignment to entry in nil map",
		"none.X = 1":                        "invalid memory address or nil pointer dereference",
		"var e error\nfmt.Print(e.Error())": "nil pointer dereference",
	} {
		fails(t, s, text, "panic", want)
	}
	if got := run(t, s, "func() { defer func() { recover() }(); panic(1) }()\nfmt.Print(\"fine\")"); got != "fine" {
		t.Errorf("after a recovered panic prints %q", got)
	}
}

func TestPanicHasItsPlace(t *testing.T) {
	s := newSession(t)
	run(t, s, "\n\nfunc inner(list []int, i int) int {\n\tn := 1\n\treturn list[i] + n\n}\n\nfunc outer(i int) int {\n\treturn inner([]int{1}, i)\n}")
	e := fails(t, s, "x := 1\nx = outer(3)\nx++", "panic", "index out of range")
	if f := e.Faults[0]; f.Source != "cell 1" || f.Line != 5 {
		t.Errorf("the place is %s, line %d, want cell 1, line 5", f.Source, f.Line)
	}
	text := strings.Join(e.Trace, "\n")
	in, out, top := strings.Index(text, "in inner"), strings.Index(text, "in outer"), strings.Index(text, "cell 2")
	if in < 0 || out < in || top < out {
		t.Errorf("the trace is\n%s", text)
	}
}

func TestTraceOfARecoveredPanicIsForgotten(t *testing.T) {
	for _, engine := range Engines() {
		s := newSession(t, func(o *Options) { o.Engine = engine })
		run(t, s, "func first() { panic(1) }\nfunc second() { panic(2) }")
		e := fails(t, s, "func() { defer func() { recover() }(); first() }()\nsecond()", "panic", "2")
		if len(e.Trace) != 2 || slices.ContainsFunc(e.Trace, func(f string) bool { return strings.Contains(f, "first") }) {
			t.Errorf("%s: the trace is %q", engine, e.Trace)
		}
	}
}

// TestPanicHasItsFunction where the engine does not know the line.
func TestPanicHasItsFunction(t *testing.T) {
	s := newSession(t, func(o *Options) { o.Engine, o.Imports = "yaegi", []string{"sort"} })
	run(t, s, "type T struct{}\nfunc (t T) M(n int) int { return 1 / n }\nfunc outer(n int) int { return T{}.M(n) }\nf := func() { panic(1) }")
	run(t, s, "var a any = 1\nfunc deep(n int) int { if n == 0 { panic(n) }; return deep(n-1) }")
	for text, want := range map[string]string{
		"outer(0)": "cell 1, in M: runtime error: integer divide by zero|cell 1, in outer|cell N",
		"f()":      "cell 1: 1|cell N",
		"panic(2)": "cell N: 2",
		"sort.Slice([]int{1, 2}, func(i, j int) bool { panic(3) })": "cell N: 3|cell N",
		"a.(string)": `cell N: a runtime error that yaegi only knows as "interface conversion: interface {} is int, not string"`,
		"done := make(chan int); go func() { outer(0); close(done) }(); <-done": "cell 1, in M: runtime error: integer divide by zero|cell 1, in outer|cell N|cell N",
	} {
		_, err := s.Run(t.Context(), text, &recorder{})
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", text, err)
		}
		got := strings.Join(append([]string{e.Faults[0].String()}, e.Trace[min(1, len(e.Trace)):]...), "|")
		if got = strings.ReplaceAll(got, fmt.Sprint("cell ", s.Count()), "cell N"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if e := fails(t, s, "deep(200)", "panic", "0"); len(e.Trace) != 50 {
		t.Errorf("the trace has %d calls", len(e.Trace))
	}
}

func TestBrokenDefinition(t *testing.T) {
	s := newSession(t)
	run(t, s, "func size() int { return 3 }\nfunc twice() int { return size() * 2 }\nfunc other() int { return 1 }")
	var out recorder
	if _, err := s.Run(t.Context(), "func size() string { return \"big\" }\nfmt.Print(size())", &out); err != nil {
		t.Fatal(err)
	}
	if out.stdout() != "big" || !strings.Contains(out.stderr(), "twice (cell 1, line 2) no longer compiles") {
		t.Errorf("prints %q and %q", out.stdout(), out.stderr())
	}
	e := fails(t, s, "twice()", "type error", "undefined: twice")
	if !strings.Contains(e.Faults[0].Hint, "define it again") {
		t.Errorf("hint %q", e.Faults[0].Hint)
	}
	if got := value(t, s, "other()"); got != "1" {
		t.Errorf("other() is %s", got)
	}
}

func TestFaultsHaveTheLinesOfTheCell(t *testing.T) {
	s := newSession(t)
	run(t, s, "func size() int { return 3 }\n\nfunc twice() int {\n\treturn size() * 2\n}")
	e := fails(t, s, "func size() int { return 4 }\nvar x int = \"a\"", "type error", "cannot use")
	if f := e.Faults[0]; f.Line != 2 || f.Source != "cell 2" {
		t.Errorf("the fault is at %s, line %d", f.Source, f.Line)
	}
	run(t, s, "func size() int { panic(\"here\") }")
	e = fails(t, s, "twice()", "panic", "here")
	if len(e.Trace) < 2 || !strings.HasPrefix(e.Trace[0], "cell 3, line 1") || !strings.HasPrefix(e.Trace[1], "cell 1, line 4") {
		t.Errorf("the trace is %q", e.Trace)
	}
}

func TestMethodsAndTypesOfSeveralCells(t *testing.T) {
	s := newSession(t)
	run(t, s, "type T struct{ n int }\nfunc (t T) Value() int { return t.n }\nfunc use(t T) int { return t.Value() * 10 }")
	run(t, s, "func (t T) More() int { return t.Value() + 1 }")
	if got := value(t, s, "use(T{2}) + T{1}.More()"); got != "22" {
		t.Errorf("with a method more: %s, want 22", got)
	}
	run(t, s, "func (t T) Value() int { return t.n + 100 }")
	if got := value(t, s, "use(T{2}) + T{1}.More()"); got != "1122" {
		t.Errorf("with a method defined again: %s, want 1122", got)
	}
	run(t, s, "type T struct{ n, m int }")
	if got := value(t, s, "use(T{n: 1, m: 2})"); got != "1010" {
		t.Errorf("with the type defined again: %s, want 1010", got)
	}
}
