package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/internal/test/providertest"
)

// besides lists private files that often lie beside a program.
var besides = []string{".env", ".ssh/id_rsa", ".netrc", ".aws/credentials", "secrets.yaml", "server.pem", "notes.md", "dump.sql", "run.log", "results.jsonl", "mine/.env", "ignored/x.py"}

// reader is a program that prints all that it can read of where it is and of where it came from.
const reader = asking + `
for top in (os.getcwd(), os.path.dirname(os.path.abspath(__file__)), "HERE"):
    for folder, _, names in os.walk(top, followlinks=True):
        for name in names:
            try: print(open(os.path.join(folder, name), errors="replace").read(), file=sys.stderr)
            except OSError: pass
print("Answer:", "yes" if "yes" in ask(question) else "no")
`

// TestNothingPrivateLeaves: what lies beside a program is neither read by it, nor in a pack, a
// page, a worker's home or what is printed; and what is written there meanwhile changes no root.
func TestNothingPrivateLeaves(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	const secret = "hush-hush-4711"
	here := filepath.Join(c.dir, "p")
	c.write("p/quiz.jsonl", strings.ReplaceAll(quiz(4), `"target"`, `"about": "`+secret+`", "target"`))
	c.write("p/copy.txt", strings.ReplaceAll(quiz(4), `"target"`, `"about": "`+secret+`", "target"`))
	c.write("p/agent.py", strings.ReplaceAll(reader, "HERE", here)+"# copy.txt quiz.jsonl\n")
	c.write("p/.gitignore", "ignored/\n")
	for _, name := range besides {
		c.write("p/"+name, secret+"\n")
	}
	args := []string{"compare", "--task", "p/quiz.jsonl?input=input&target=target", "--model", "openai/tiny", "--methods", "exec:python3 p/agent.py", "--max-samples", "4"}
	first := c.run(0, args...)
	want(t, first.stdout, "4 answered", "agent was not given", "copy.txt", "quiz.jsonl")
	c.write("p/run.log", secret+" again\n")
	c.write("p/out/results.json", secret+"\n")
	again := c.at(filepath.Join(c.dir, "fresh")).run(0, args...)
	if rootOf(again.stdout) != rootOf(first.stdout) {
		t.Error("what was written beside the program changes the root")
	}
	free := func(where, text string) {
		t.Helper()
		if strings.Contains(text, secret) {
			t.Errorf("%s has a private file", where)
		}
	}
	raw, err := json.Marshal(c.trials())
	if err != nil {
		t.Fatal(err)
	}
	free("the trials", string(raw))
	free("what was printed", first.stdout+first.stderr+c.run(0, "runs", "show", "last").stdout)
	want(t, c.run(0, "runs", "show", "last").stdout, "code        agent: 1 file", ".env", "its name begins with a dot")
	for _, redact := range []string{"", "prompts,replies"} {
		file := filepath.Join(c.dir, "x"+redact+".noema")
		pack := []string{"pack", "last", "-o", file}
		if redact != "" {
			pack = append(pack, "--redact", redact)
		}
		c.run(0, pack...)
		p, err := packfile.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Entries() {
			raw, err := p.Read(e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(e.Name, "code/") {
				free(e.Name, string(raw))
			}
			for _, name := range besides {
				if strings.Contains(string(raw), filepath.Base(name)) && strings.HasSuffix(e.Name, "run.json") {
					t.Errorf("%s names %s", e.Name, name)
				}
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c.run(0, "view", "--bundle", filepath.Join(c.dir, "page"), "last")
	workers := c.at(filepath.Join(c.dir, "cluster"))
	spread := workers.run(0, append(args, "--listen", "127.0.0.1:0", "--local-workers", "1")...)
	if rootOf(spread.stdout) != rootOf(first.stdout) {
		t.Errorf("with a worker the root is another: %s", spread.stdout)
	}
	for _, dir := range []string{filepath.Join(c.dir, "page"), filepath.Join(c.home, "code"), filepath.Join(c.home, "programs"), filepath.Join(c.dir, "cluster", "code"), filepath.Join(c.dir, "cluster", "programs")} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			raw, err := os.ReadFile(path)
			free(path, string(raw))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	c.write("p/agent.py", strings.ReplaceAll(reader, "HERE", here)+"# key sk-proj-9sD8fJq2LmZx7Kp4Rt6Vb1Nc3Hy5Gw0Ae\n")
	c.run(0, args...)
	r := c.run(1, "pack", "last", "-o", filepath.Join(c.dir, "key.noema"))
	want(t, r.stderr, "agent.py", "the shape of a key")
}
