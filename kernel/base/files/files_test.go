package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/methods/methodtest"
)

// bombs are documents that stand for far more than they are.
func bombs() map[string]string {
	rep := strings.Repeat
	aliases := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 10 {
		aliases += fmt.Sprintf("a%d: &a%[1]d [%s*a%d]\n", i+1, rep(fmt.Sprintf("*a%d,", i), 8), i)
	}
	merges := "a0: &a0 {x: 1}\n"
	for i := range 40 {
		merges += fmt.Sprintf("a%d: &a%[1]d {p: *a%d, q: *a%[2]d}\n", i+1, i)
	}
	steps := ""
	for i := range 1500 {
		steps += rep(" ", i) + "a:\n"
	}
	return map[string]string{
		"aliases": aliases, "merges": merges, "steps": steps,
		"a list in itself": "a: &a [*a]\n",
		"brackets":         rep("[", 100_000), "braces": rep("{a: ", 50_000), "closed": rep("[", 50_000) + rep("]", 50_000),
		"dashes": rep("- ", 50_000), "questions": rep("? ", 50_000), "tags": rep("!!str ", 50_000), "tags below each other": rep("!!str\n", 50_000),
		"anchors": rep("&a ", 50_000), "words": rep("- 1\n", 150_000), "colons": rep("[:", 5_000),
		"large": rep("#", MaxConfig+1), "keys": numbered("k%d: 1\n"), "keys in braces": "a: {" + numbered("k%d: 1, ") + "}", "keys of a list's map": "- " + numbered("k%d: 1\n  "),
	}
}

// numbered is more lines than a map may have keys.
func numbered(format string) string {
	var b strings.Builder
	for i := range 2 * maxKeys {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestYAMLBombs(t *testing.T) {
	for name, text := range bombs() {
		t.Run(name, func(t *testing.T) {
			var into any
			var err error
			took := methodtest.CPU(func() { err = YAML([]byte(text), &into) })
			if err == nil {
				t.Fatal("it was read")
			}
			if _, err := ParseYAML([]byte(text)); err == nil {
				t.Error("it was parsed")
			}
			if took > 5*time.Second {
				t.Errorf("refused only after %v: %v", took, err)
			}
		})
	}
}

func TestYAMLThatPeopleWrite(t *testing.T) {
	var into struct{ A, B, C any }
	text := "a: &x {k: [1, 2]}\nb: *x\nc:\n- - 1\n  - <<: *x\n    z: {y: \"[[[\"}\n"
	if err := YAML([]byte(text), &into); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(into); got != "{map[k:[1 2]] map[k:[1 2]] [[1 map[k:[1 2] z:map[y:[[[]]]]}" {
		t.Error(got)
	}
	many := "rules:\n" + strings.Repeat("- match: a\n  reply: {b: c}\n", maxKeys+maxKeys/2)
	if err := YAML([]byte(many), new(any)); err != nil {
		t.Errorf("a long list of small maps: %v", err)
	}
	deep := strings.Repeat("[", 90) + strings.Repeat("]", 90)
	if err := YAML([]byte("a: "+deep), &into); err != nil {
		t.Error(err)
	}
	for _, empty := range []string{"", "\n", "# nothing\n", "---\n"} {
		if err := YAML([]byte(empty), &into); err != nil {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

func FuzzYAML(f *testing.F) {
	for _, text := range bombs() {
		f.Add([]byte(text[:min(len(text), 2000)]))
	}
	f.Add([]byte("a: &x {k: [1, 2]}\n<<: *x\nb: |\n  text\n? c\n: !!str 'd'\n--- # more\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var into map[string]any
		var err error
		if took := methodtest.CPU(func() { err = YAML(raw, &into) }); took > 5*time.Second {
			t.Fatalf("%d bytes took %v: %v", len(raw), took, err)
		}
	})
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := os.WriteFile(path, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := Read(path, 5); err != nil || string(raw) != "hello" {
		t.Errorf("got %q, %v", raw, err)
	}
	for path, want := range map[string]string{path: "larger", dir: "directory", filepath.Join(dir, "b"): "no such file"} {
		if _, err := Read(path, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if _, err := ReadAll(strings.NewReader("hello"), "it", 4); err == nil {
		t.Error("ReadAll has no limit")
	}
	if _, err := ReadAll(Limit(strings.NewReader("hello"), "it", 4), "it", 100); err == nil {
		t.Error("Limit has no limit")
	}
}

func TestWriteReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	for _, text := range []string{"old", "new"} {
		if err := Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	failed := Replace(path, func(temporary string) error {
		if err := os.WriteFile(temporary, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		return os.ErrInvalid
	})
	raw, err := os.ReadFile(path)
	left, _ := os.ReadDir(dir)
	if failed == nil || err != nil || string(raw) != "new" || len(left) != 1 {
		t.Errorf("after a failure (%v) the file holds %q, beside %d others", failed, raw, len(left)-1)
	}
}
