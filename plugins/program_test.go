package plugins

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExecReadsVariables: what stands before a command is its program's environment and clock,
// also once it is promoted; a word with "=" that is no name, or comes later, is a word.
func TestExecReadsVariables(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	put(t, dir, 0o600, map[string]string{"code/a.py": ""})
	for line, want := range map[string]struct {
		starts []string
		env    string
		clock  string
	}{
		"python code/a.py":                                      {[]string{"python", "a.py"}, "", ""},
		"A=1 B='x y' python code/a.py":                          {[]string{"python", "a.py"}, "A=1 B=x y", ""},
		"python code/a.py A=1":                                  {[]string{"python", "a.py", "A=1"}, "", ""},
		"A= python code/a.py --k=v":                             {[]string{"python", "a.py", "--k=v"}, "A=", ""},
		"NOEMA_CLOCK=2026-01-01T00:00:00Z B=2 python code/a.py": {[]string{"python", "a.py"}, "B=2", "2026-01-01T00:00:00Z"},
		"a-b=1 x": {[]string{"a-b=1", "x"}, "", ""},
	} {
		made := filepath.Join(dir, "made")
		if err := Promote(line, made); err != nil {
			t.Fatal(err)
		}
		promoted, err := At(made)
		if err != nil {
			t.Fatal(err)
		}
		src, err := Exec(filepath.Join(t.TempDir(), "keep"), line, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []Source{src, promoted} {
			var env []string
			for _, name := range []string{"A", "B"} {
				if value, ok := s.Program.Env[name]; ok {
					env = append(env, name+"="+value)
				}
			}
			if !slices.Equal(s.Starts, want.starts) || strings.Join(env, " ") != want.env || s.Program.Clock != want.clock || len(env) != len(s.Program.Env) {
				t.Errorf("%s: %q, %q, clock %q", line, s.Starts, s.Program.Env, s.Program.Clock)
			}
		}
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"A=1", "NOEMA_CLOCK=noon python code/a.py", ""} {
		if _, err := Exec(filepath.Join(t.TempDir(), "keep"), line, nil); err == nil {
			t.Errorf("%q was taken", line)
		}
	}
}
