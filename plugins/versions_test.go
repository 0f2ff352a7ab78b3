package plugins

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// put writes files below a folder.
func put(t *testing.T, dir string, mode os.FileMode, all map[string]string) {
	t.Helper()
	for name, content := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVersions: what runs a program is told, and nothing that the program brings is run for it.
func TestVersions(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	put(t, dir, 0o700, map[string]string{"agent/.venv/bin/python": "#!/bin/sh\ntouch " + ran + "\n", "python3": "#!/bin/sh\ntouch " + ran + "\n"})
	put(t, dir, 0o600, map[string]string{
		"agent/.venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.12.4\n",
		"agent/.venv/lib/python3.12/site-packages/openai-2.1.0.dist-info/METADATA":  "",
		"agent/.venv/lib/python3.12/site-packages/anthropic-0.9.dist-info/METADATA": "",
		"agent/node_modules/@a/b/package.json":                                      `{"name": "@a/b", "version": "1.0.0"}`, "agent/node_modules/c/package.json": "hostile",
	})
	of := func(command ...string) Source {
		return Source{Dir: filepath.Join(dir, "agent"), Command: []string{"noema"}, Starts: command, Program: &Program{}}
	}
	if all := of(".venv/bin/python", "a.py").Versions(t.Context()); !slices.Equal(all, []string{"python 3.12.4", "anthropic 0.9", "openai 2.1.0"}) {
		t.Errorf("%q", all)
	}
	of("../python3", "a.py").Versions(t.Context())
	of(filepath.Join(dir, "python3")).Versions(t.Context())
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program of the plugin's was run")
	}
	if of("python-of-nobody").Missing() != "python-of-nobody" || of(".venv/bin/python").Missing() != "" {
		t.Error("an interpreter that is there is missing, or the reverse")
	}
	for name, want := range map[string]string{"python3": "python 3.", "node": "node v"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue // told where it is
		}
		if whole := of(path, "x").Versions(t.Context()); !slices.Equal(whole, of(name, "x").Versions(t.Context())) {
			t.Errorf("%s: %q", path, whole) // which may be a script that chooses a version
		}
		if all := of(name, "x").Versions(t.Context()); len(all) == 0 || !strings.HasPrefix(all[0], want) || name == "node" && !slices.Contains(all, "@a/b 1.0.0") {
			t.Errorf("%s: %q", name, all)
		}
	}
}
