package cell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script.go")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRunFile(t *testing.T) {
	path := script(t, `// Script prints its arguments.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	n := flag.Int("n", 1, "how often")
	flag.Parse()
	fmt.Println(*n, flag.Args(), len(os.Args))
	if *n > 2 {
		os.Exit(*n)
	}
	defer fmt.Println("end")
	os.Exit(0)
}
`)
	for _, c := range []struct {
		args   []string
		prints string
		code   int
	}{
		{nil, "1 [] 1\n", 0},
		{[]string{"-n", "2", "a", "b"}, "2 [a b] 5\n", 0},
		{[]string{"-n=3"}, "3 [] 2\n", 3},
		{[]string{"-x"}, "", 2},
	} {
		s := newSession(t, func(o *Options) { o.Args = append([]string{path}, c.args...); o.Imports = nil })
		for range 2 { // the flags can be defined again
			var out recorder
			err := s.RunFile(t.Context(), path, &out)
			if got := out.stdout(); got != c.prints {
				t.Errorf("%q prints %q, want %q", c.args, got, c.prints)
			}
			if e, ok := err.(*Error); c.code != 0 && (!ok || e.Kind != "exit" || e.Code != c.code) || c.code == 0 && err != nil {
				t.Errorf("%q ends with %v, want code %d", c.args, err, c.code)
			}
		}
	}
}

func TestRunFileErrors(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct{ name, text, kind, message string }{
		{"syntax", "package main\n\nfunc main() {\n\tx :=\n}\n", "syntax error", "script.go, line"},
		{"type", "package main\n\nfunc main() {\n\tvar x int = \"a\"\n\t_ = x\n}\n", "type error", "script.go, line 4"},
		{"panic", "package main\n\nfunc main() {\n\tpanic(\"boom\")\n}\n", "panic", "boom"},
	} {
		err := s.RunFile(t.Context(), script(t, c.text), &recorder{})
		e, ok := err.(*Error)
		if !ok || e.Kind != c.kind || !strings.Contains(e.Error(), c.message) {
			t.Errorf("%s: ends with %v, want %s with %q", c.name, err, c.kind, c.message)
		}
	}
	if err := s.RunFile(t.Context(), filepath.Join(t.TempDir(), "none.go"), &recorder{}); err == nil {
		t.Error("a file that does not exist runs")
	}
}
