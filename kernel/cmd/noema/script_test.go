package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunScript runs scripts as a user does: arguments, input, exit codes, and
// faults with their file and line.
func TestRunScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text     string
		args           []string
		input          string
		code           int
		stdout, stderr string
	}{
		{"arguments", "package main\nimport (\"fmt\"; \"os\")\nfunc main() { fmt.Println(os.Args[1:], len(os.Args)) }\n", []string{"--", "-x", "y"}, "", 0, "[-x y] 3\n", ""},
		{"input", "package main\nimport (\"bufio\"; \"fmt\"; \"os\")\nfunc main() { s := bufio.NewScanner(os.Stdin); for s.Scan() { fmt.Println(\"<\" + s.Text() + \">\") } }\n", nil, "a\nb\n", 0, "<a>\n<b>\n", ""},
		{"exit code", "package main\nimport \"os\"\nfunc main() { defer println(\"no\"); os.Exit(7) }\n", nil, "", 7, "", ""},
		{"panic", "package main\nfunc f(m map[string]int) {\n\tm[\"a\"] = 1\n}\nfunc main() { f(nil) }\n", nil, "", exitError, "", "script.go:3:"},
		{"type error", "package main\n\nfunc main() {\n\tvar x int = \"a\"\n\t_ = x\n}\n", nil, "", exitUsage, "", "script.go:4:14: cannot use \"a\""},
		{"syntax error", "package main\nfunc main() {\n", nil, "", exitUsage, "", "script.go:"},
		{"unused import", "package main\nimport \"fmt\"\nfunc main() {}\n", nil, "", exitUsage, "", "imported and not used"},
		{"cells", "result, err := 1, error(nil)\n", nil, "", exitUsage, "", "script.go:1:1: a script is a file of package main: this one begins without a package clause (to run cells, use noema repl < FILE)"},
		{"no main", "package main\n", nil, "", exitUsage, "", "function main is undeclared"},
		{"goroutine", "package main\nfunc main() {\n\tgo func() { panic(\"boom\") }()\n\tselect {}\n}\n", nil, "", exitError, "", "script.go:3:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			user := newCLI(t)
			user.write("script.go", c.text)
			cmd := user.command(append([]string{"run", "script.go"}, c.args...)...)
			cmd.Stdin = strings.NewReader(c.input)
			r := user.start(cmd)()
			if r.code != c.code || r.stdout != c.stdout || !strings.Contains(r.stderr, c.stderr) {
				t.Errorf("exit code %d, prints %q and %q, want %d, %q and %q", r.code, r.stdout, r.stderr, c.code, c.stdout, c.stderr)
			}
		})
	}
	user := newCLI(t)
	want(t, user.run(exitUsage, "run", "nothere.go").stderr, "nothere.go")
}

// TestPluginFromIdea makes a plugin, builds and compares it, with wrong input
// on the way.
func TestPluginFromIdea(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles a plugin")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	user := newCLI(t, "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"), "XDG_CACHE_HOME="+cache)
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	want(t, user.run(exitUsage, "plugin", "new", "direct", "--source", checkout).stderr, "a built-in method has this name")
	want(t, user.run(exitUsage, "plugin", "new", "Bad_name", "--source", checkout).stderr, "use lower-case letters")
	want(t, user.run(0, "plugin", "new", "my-method", "--source", checkout).stdout, "next: noema plugin build my-method")
	want(t, user.run(0, "plugin", "build", "my-method").stdout, "built")
	r := user.run(0, "compare", "--task", "arithmetic", "--methods", "direct,my-method", "--limit", "20")
	want(t, r.stdout, "my-method  20", "direct − my-method")
	want(t, user.run(0, "replay", "last").stdout, "replayed: the root hash is that of run")
	want(t, user.run(exitUsage, "plugin", "build", "nothere").stderr, "plugin.yaml")
	want(t, user.run(exitUsage, "plugin", "check", "nothere").stderr, "no plugin has this name")
}

// goEnv is a setting of the go tool, without which it would build all anew.
func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Skipf("no go tool here: %v", err)
	}
	return strings.TrimSpace(string(out))
}
