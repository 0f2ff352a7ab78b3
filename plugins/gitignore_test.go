package plugins

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnoredAsGitDoes: over drawn trees with drawn rules, what is ignored is what git itself
// lists as ignored.
func TestIgnoredAsGitDoes(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	r := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b", "ab", "a.log", "b.log", "c.py", "d e", "x[1].py", "#h", "!n", ".h", "lib", "out"}
	parts := []string{"a", "b", "*", "?", "*.log", "ab", "**", "[ab]", "[!a]", "a*", "out", "lib", `\#h`, `\!n`, "d e", ".*", "*.py", "[a-c]*"}
	for round := range 60 {
		top := t.TempDir()
		git := func(args ...string) string {
			cmd := exec.Command("git", append([]string{"-c", "core.excludesFile=/dev/null"}, args...)...)
			cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+top)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		git("init", "-q")
		dirs := []string{top}
		for range 12 {
			dir := filepath.Join(dirs[r.IntN(len(dirs))], names[r.IntN(len(names))])
			if os.Mkdir(dir, 0o700) == nil {
				dirs = append(dirs, dir)
			}
		}
		for range 30 {
			_ = os.WriteFile(filepath.Join(dirs[r.IntN(len(dirs))], names[r.IntN(len(names))]), nil, 0o600) // it may be a folder
		}
		var all []string
		for _, file := range []string{".gitignore", ".gitignore", ".git/info/exclude"} {
			var rules strings.Builder
			for range 1 + r.IntN(4) {
				rule := parts[r.IntN(len(parts))]
				for range r.IntN(3) {
					rule += "/" + parts[r.IntN(len(parts))]
				}
				rule = []string{"", "", "/", "!"}[r.IntN(4)] + rule + []string{"", "", "/", " "}[r.IntN(4)]
				fmt.Fprintln(&rules, rule)
			}
			dir := dirs[r.IntN(len(dirs))]
			if file != ".gitignore" {
				dir = top
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(rules.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			all = append(all, dir+": "+rules.String())
		}
		want := strings.FieldsFunc(git("ls-files", "-z", "--cached", "--others", "--exclude-standard"), func(c rune) bool { return c == 0 })
		slices.Sort(want)
		var got []string
		var rules ignored
		err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(top, path)
			switch {
			case err != nil || name == ".":
				return err
			case name == ".git":
				return filepath.SkipDir
			case rules.has(path, e.IsDir()):
				if e.IsDir() {
					return filepath.SkipDir
				}
			case !e.IsDir():
				got = append(got, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("round %d, rules %q:\ngot  %q\ngit: %q", round, all, got, want)
		}
	}
}
