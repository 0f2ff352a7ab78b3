package repl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reeflective/readline"
)

// TestHistoryKeepsEachCellOnce writes a history and reads it again.
func TestHistoryKeepsEachCellOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	for _, c := range []string{"a", "b\nc", "a", "  "} {
		if _, err := h.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	h.pause(true)
	if _, err := h.Write("a secret"); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("junk\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	again := openHistory(file)
	if got := again.Dump().([]string); strings.Join(got, "|") != "b\nc|a" {
		t.Errorf("the history is %q", got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v, %v", info.Mode(), err)
	}
}

// TestHistoryFileIsBounded opens one that has grown too long.
func TestHistoryFileIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var b strings.Builder
	for i := range 2*maxHistory + 1 {
		fmt.Fprintf(&b, "\"cell %d\"\n", i)
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		h := openHistory(file)
		first, err := h.GetLine(0)
		if h.Len() != maxHistory || first != fmt.Sprintf("cell %d", maxHistory+1) || err != nil {
			t.Errorf("%d cells from %q on, %v", h.Len(), first, err)
		}
	}
	raw, err := os.ReadFile(file)
	if n := strings.Count(string(raw), "\n"); err != nil || n != maxHistory {
		t.Errorf("the file has %d lines, %v", n, err)
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestAccepts(t *testing.T) {
	sh := &shell{session: realSession(t)}
	for text, want := range map[string]bool{
		"": true, "1": true, "func f() {": false, "func f() {\n}": true, "f(1,": false,
		":who": true, "!ls {": true, ":time for {": false, ":time 1": true, ":time ": true, "x := `a": false,
	} {
		if got := sh.accepts(text); got != want {
			t.Errorf("accepts(%q) = %v", text, got)
		}
	}
}

// TestCompletionsCanBeInserted checks what the editor relies on: every value
// begins with the prefix, which stands before the cursor and is ASCII.
func TestCompletionsCanBeInserted(t *testing.T) {
	s := realSession(t)
	if _, err := s.Run(t.Context(), "import \"strings\"\nvar größe, grow int", &screen{}); err != nil {
		t.Fatal(err)
	}
	sh := newShell(s, Options{}, (&repl{}).own())
	for _, c := range []struct {
		text, prefix string // the cursor is at the end
		want         string // becomes the text; "" if there is nothing
	}{
		{"strings.ToU", ".ToU", "strings.ToUpper"},
		{"fmt.Println(strings.ToU", ".ToU", "fmt.Println(strings.ToUpper"},
		{"x := \"é\" + strings.", ".", "x := \"é\" + strings.ToUpper"},
		{"1 +\n\tgro", "\tgro", "1 +\n\tgrow"},
		{"größ", "", ""},
		{":ty", ":ty", ":type"},
		{":doc strings.ToU", ".ToU", ":doc strings.ToUpper"},
		{"strings.Nothere", "", ""},
	} {
		line := []rune(c.text)
		got := sh.completions(line, len(line))
		if got.PREFIX != c.prefix {
			t.Errorf("%q: the prefix is %q, want %q", c.text, got.PREFIX, c.prefix)
		}
		seen := c.want == ""
		for _, v := range values(sh.complete(c.text, len(c.text)), c.text, len(c.text), len(c.text)-len(c.prefix)) {
			if !strings.HasPrefix(v.Value, c.prefix) {
				t.Errorf("%q: %q does not begin with %q", c.text, v.Value, c.prefix)
			}
			seen = seen || strings.TrimSuffix(c.text, c.prefix)+v.Value == c.want
		}
		if !seen {
			t.Errorf("%q: nothing makes it %q", c.text, c.want)
		}
	}
	sh.asking = true
	if got := sh.completions([]rune("strings."), 8); got.PREFIX != "" {
		t.Error("an answer to a cell is completed")
	}
}

func TestMenusFit(t *testing.T) {
	many := func(n int) []readline.Completion {
		all := make([]readline.Completion, n)
		for i := range all {
			all[i] = readline.Completion{Value: "abcdefgh", Display: "abcdefgh", Description: "func()"}
		}
		return all
	}
	for _, c := range []struct {
		candidates, columns, rows int
		want                      int
		described                 bool
	}{
		{5, 80, 5, 5, true},
		{6, 80, 5, 6, false},
		{1000, 80, 5, 40, false},
		{1000, 4, 5, 5, false},
		{1000, 0, 0, 1000, true}, // the size is not known
		{0, 80, 5, 0, false},
	} {
		got := fitting(many(c.candidates), c.columns, c.rows)
		if len(got) != c.want || len(got) > 0 && (got[0].Description != "") != c.described {
			t.Errorf("%v: %d candidates, want %d", c, len(got), c.want)
		}
	}
}
