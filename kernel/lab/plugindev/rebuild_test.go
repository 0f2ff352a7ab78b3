package plugindev

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"noema/plugins"
)

// TestRebuilder compiles source that others wrote, some of which looks beyond its folder. What
// stands for noema's source needs no module, so that it does not matter which were fetched.
func TestRebuilder(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain")
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	base := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(base, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("noema/go.mod", "module noema\n\ngo 1.26\n")
	write("noema/methods/text.go", "package methods\n\nconst Text = \"text\"\n")
	r, err := NewRebuilder(t.Context(), filepath.Join(base, "noema"))
	if err != nil {
		t.Fatal(err)
	}
	write("private/go.mod", "module private\n\ngo 1.26\n")
	write("private/key.go", "package private\n\nconst Key = \"secret\"\n")
	const head, plain = "module x\n\ngo 1.26\n", "package main\n\nfunc main() {}\n"
	_, isolated := plugins.Isolated()
	for what, c := range map[string]struct{ mod, text, missing, wrong string }{
		"plain":           {head, plain, "", ""},
		"no module":       {head + "\nrequire example.com/none v1.0.0\n", "package main\n\nimport _ \"example.com/none\"\n\nfunc main() {}\n", "go mod download", ""},
		"a private one":   {head + "\nrequire private v0.0.0\n\nreplace private => ../private\n", "package main\n\nimport \"private\"\n\nfunc main() { println(private.Key) }\n", "", "permission denied"},
		"a method":        {head, "package main\n\nimport \"noema/methods\"\n\nfunc main() { println(methods.Text) }\n", "", ""},
		"another Go":      {"module x\n\ngo 1.999\n", plain, "", "1.999"},
		"a C compiler":    {head, "package main\n\n// #cgo CFLAGS: -I/etc\nimport \"C\"\n\nfunc main() {}\n", "", "does not compile"},
		"a syntax error":  {head, "package main\n\nfunc main() {\n", "", "main.go:"},
		"what Go forbids": {head, "package main\n\nimport _ \"embed\"\n\n//go:embed ../private/key.go\nvar key string\n\nfunc main() { println(key) }\n", "", "invalid pattern"},
	} {
		dir := strings.ReplaceAll(what, " ", "-")
		write(dir+"/go.mod", c.mod)
		write(dir+"/main.go", c.text)
		binary := filepath.Join(base, dir+".bin")
		missing, err := r.Build(t.Context(), filepath.Join(base, dir), ".", binary)
		_, made := os.Stat(binary)
		switch {
		case !isolated && what == "a private one":
		case c.missing == "" && c.wrong == "":
			if err != nil || missing != "" || made != nil {
				t.Errorf("%s: missing %q, %v", what, missing, err)
			}
		case made == nil, !strings.Contains(missing, c.missing), c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: missing %q, %v", what, missing, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Build(ctx, filepath.Join(base, "plain"), ".", filepath.Join(base, "never")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
