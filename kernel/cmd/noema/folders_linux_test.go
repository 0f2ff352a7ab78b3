package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// hostileFolders are folders of methods that name, or link to, what is not theirs: SECRET is a
// folder elsewhere, with a file "key", and HERE their own. Each has the attack below as a file.
var hostileFolders = map[string]struct {
	attack  string // the file's name
	first   string // its first line
	command string // of the manifest
	links   map[string]string
	files   map[string]string
	refused bool // before anything runs
}{
	"a link beside its programs":          {attack: "bin/run", command: "./bin/run", links: map[string]string{"lib": "SECRET"}},
	"another":                             {attack: "bin/run", command: "./bin/run", links: map[string]string{"lib64": "SECRET", "libexec": "SECRET"}},
	"a link to a file":                    {attack: "run", command: "./run", links: map[string]string{"mine": "SECRET/key"}},
	"a deeper link to a file":             {attack: "run", command: "./run", links: map[string]string{"a/b/mine": "../../../../secret/.x/key"}},
	"a link to a file as code":            {attack: "run", command: "./run", links: map[string]string{"mine.py": "SECRET/key"}, refused: true},
	"a file where a program should be":    {attack: "run", first: "#!/usr/bin/env -S -u SECRET/key sh", command: "./run"},
	"a folder where a program should be":  {attack: "run", first: "#!/usr/bin/env -S -C SECRET sh", command: "./run"},
	"a file called as Python":             {attack: "run", first: "#!/usr/bin/env -S -u SECRET/python-key sh", command: "./run"},
	"a folder called as Python":           {attack: "run", first: "#!/usr/bin/env -S -C SECRET/python sh", command: "./run"},
	"a Python of its own":                 {attack: "python3", command: "./python3, x.py"},
	"a Python of another name":            {attack: "tools/python3.12", command: "tools/python3.12"},
	"a Python by its whole path":          {attack: "python", command: "HERE/python"},
	"a script for a Python of its own":    {attack: "python3", command: "./run", files: map[string]string{"run": "#!HERE/python3\n"}},
	"an environment with links":           {attack: ".venv/bin/python", command: ".venv/bin/python", links: map[string]string{".venv/lib/python3.9/site-packages": "SECRET"}, files: map[string]string{".venv/pyvenv.cfg": "home = SECRET\nversion = 3.9\n"}},
	"an environment with linked settings": {attack: "venv/bin/python", command: "venv/bin/python", links: map[string]string{"venv/pyvenv.cfg": "SECRET/key"}},
	"an installation with links":          {attack: "py/bin/python3", command: "py/bin/python3", links: map[string]string{"py/lib/python3.9": "SECRET"}},
	"libraries with links":                {attack: "py/bin/python3", command: "py/bin/python3", links: map[string]string{"py/lib/libx.so": "SECRET"}, files: map[string]string{"py/lib/python3.9/os.py": ""}},
	"packages with links":                 {attack: "run", command: "./run", links: map[string]string{"node_modules": "SECRET", ".venv": "SECRET"}},
	"a Python by env":                     {attack: "python3", command: "env, -i, HERE/python3"},
	"code of another folder":              {attack: "run", command: "../secret/.x/python3"},
	"a command that is a file of another": {attack: "run", command: "SECRET/key"},
}

// TestHostileFolders: what a folder names or links to is neither run outside of its isolation
// nor given to it.
func TestHostileFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("a run for each")
	}
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	for name, f := range hostileFolders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
			here, secret := filepath.Join(c.dir, "p", "method"), filepath.Join(c.dir, "secret", ".x")
			placed := strings.NewReplacer("SECRET", secret, "HERE", here).Replace
			c.write("quiz.jsonl", quiz(1))
			for _, file := range []string{"key", "python-key", "python/key"} {
				c.write("secret/.x/"+file, "hush-hush\n")
			}
			attack := fmt.Sprintf(`%s
for file in %[2]s/key %[2]s/python-key %[2]s/python/key key lib/key lib64/key libexec/key mine mine.py a/b/mine .venv/key node_modules/key .venv/lib/python3.9/site-packages/key venv/pyvenv.cfg py/lib/python3.9/key py/lib/libx.so/key python/key; do
	cat "$file" >&2 && touch %[2]s/read
done
touch %[2]s/ran
echo "Answer: yes"
`, placed(cmp.Or(f.first, "#!/bin/sh")), secret)
			c.write("secret/.x/python3", attack)
			executable := []string{filepath.Join(secret, "python3")}
			for file, text := range f.files {
				c.write("p/method/"+file, placed(text))
				executable = append(executable, filepath.Join(here, file))
			}
			c.write("p/method/"+f.attack, attack)
			c.write("p/method/plugin.yaml", "command: ["+placed(f.command)+"]\nproblem: stdin\nstart_limit: 60s\n")
			for _, file := range append(executable, filepath.Join(here, f.attack)) {
				if err := os.Chmod(file, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for at, to := range f.links {
				at = filepath.Join(here, at)
				if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(placed(to), at); err != nil {
					t.Fatal(err)
				}
			}
			r := c.start(c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", here))()
			if f.refused {
				want(t, r.stderr, "copy the file")
			} else if !strings.Contains(r.stdout, "answered") && !strings.Contains(r.stdout+r.stderr, "the program") {
				t.Errorf("it did not run: %s%s", r.stdout, r.stderr)
			}
			for _, left := range []string{"ran", "read"} {
				if _, err := os.Stat(filepath.Join(secret, left)); err == nil {
					t.Errorf("it has %s outside of its isolation", left)
				}
			}
			if !f.refused {
				for _, trial := range c.trials() {
					if strings.Contains(trial.Printed, "hush-hush") {
						t.Errorf("it read what is not its own: %s", trial.Printed)
					}
				}
			}
		})
	}
}
