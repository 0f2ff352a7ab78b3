package pack_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
	"noema/plugins"
)

// program is a plugin's folder with a program of Go, which serves nothing, and its source.
func program(t *testing.T) (dir, digest string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no Go toolchain")
	}
	dir = t.TempDir()
	for name, text := range map[string]string{plugins.ManifestName: "name: direct\ncommand: [./direct]\n", "go.mod": "module direct\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "direct", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	digest, err := plugins.CodeDigest(plugins.Source{Name: "direct", Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	return dir, digest
}

// TestRebuild builds the program of a pack again, and asks for what no noema writes.
func TestRebuild(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	dir, digest := program(t)
	file := forged(t, func(_ *testing.T, _ *lab.Lab, run *record.Run, _ []*record.Trial) {
		run.Plugins[0] = record.Plugin{Method: "direct", Path: dir, Digest: digest}
		run.Config.Methods[0].Code = digest
	})
	copied := func(_ context.Context, from, _, binary string) (string, error) {
		raw, err := os.ReadFile(filepath.Join(from, "direct"))
		return "", errors.Join(err, os.WriteFile(binary, raw, 0o700))
	}
	unsafe := func(_ context.Context, _, pkg, _ string) (string, error) {
		t.Errorf("built %q", pkg)
		return "", nil
	}
	for what, c := range map[string]struct {
		source  string
		rebuild func(ctx context.Context, dir, pkg, binary string) (string, error)
		weak    bool // no isolation
		says    string
	}{
		"the same":            {".", copied, false, "is built again from its source, byte by byte"},
		"other bytes":         {".", func(_ context.Context, _, _, b string) (string, error) { return "", os.WriteFile(b, nil, 0o700) }, false, "with an unknown toolchain"},
		"a module is missing": {".", func(context.Context, string, string, string) (string, error) { return "modules", nil }, false, "for want of modules"},
		"wrong source": {".", func(context.Context, string, string, string) (string, error) {
			return "", errors.New("it does not compile")
		}, false, "it does not compile"},
		"no isolation":     {".", unsafe, true, "does not isolate it"},
		"an option":        {"-toolexec=sh", unsafe, false, "is not a package of its folder"},
		"another package":  {"noema/kernel/cmd/noema", unsafe, false, "is not a package of its folder"},
		"a folder above":   {"./../x", unsafe, false, "is not a package of its folder"},
		"a file elsewhere": {"/etc/x.go", unsafe, false, "is not a package of its folder"},
	} {
		t.Run(what, func(t *testing.T) {
			asked := file
			if c.source != "." {
				asked = changed(t, file, func(name string, data []byte) []byte {
					if name != "study.json" {
						return data
					}
					return bytes.Replace(data, []byte(`"source":"."`), []byte(`"source":"`+c.source+`"`), 1)
				})
			}
			p, err := packfile.Open(asked)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			v, err := pack.Verify{Catalog: builtin.Catalog{}, Rebuild: c.rebuild, Isolation: func() (string, bool) { return "", !c.weak }}.Do(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := record.Marshal(v)
			if err != nil || !strings.Contains(string(raw), c.says) {
				t.Errorf("no %q in %s (%v)", c.says, raw, err)
			}
		})
	}
}
