package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// warmFolder writes a folder whose program is a function that is loaded once.
func warmFolder(c *cli, program, more string) string {
	c.write("warm/agent.py", strings.Replace(asking, "sys.stdin.read()", "''", 1)+program)
	c.write("warm/plugin.yaml", "command: [python3, agent.py]\nsolve: solve\n"+more)
	return filepath.Join(c.dir, "warm")
}

// TestWarmProgram: a function that is loaded once answers each trial from the same state, in
// whatever order and however many there are at once: what trials change of it, and what they
// draw at random, is theirs alone.
func TestWarmProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("five runs")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(24))
	folder := warmFolder(c, `
import random, uuid
seen = []
started = random.random()
class Trial:
    async def solve(self, question):
        seen.append(question)
        os.environ["LEFT"] = open("left", "a").name
        return ask(f"{question} {len(seen)} {started} {random.random()} {uuid.uuid4().hex[:4]} {os.environ.get('LEFT')} {os.listdir('.')}")
async def solve(question):
    assert "LEFT" not in os.environ
    return await Trial().solve(question)
`, "")
	args := func(atOnce int, more ...string) []string {
		return append([]string{"compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", folder, "--max-samples", fmt.Sprint(atOnce)}, more...)
	}
	first := c.run(0, args(16)...)
	want(t, first.stdout, "24 answered")
	for _, n := range []int{1, 7} {
		if other := c.at(filepath.Join(c.dir, fmt.Sprint("at-once-", n))).run(0, args(n)...); rootOf(other.stdout) != rootOf(first.stdout) {
			t.Errorf("%d at once: root %s, want %s", n, rootOf(other.stdout), rootOf(first.stdout))
		}
	}
	before := server.Requests()
	want(t, c.run(0, "replay", "last").stdout, rootOf(first.stdout))
	if n := server.Requests() - before; n != 0 {
		t.Errorf("a replay made %d requests", n)
	}
}

// hostileFunctions end or hold the process that loaded them, with a word of what is told.
var hostileFunctions = map[string]struct{ program, more, told string }{
	"ends its process":         {"def solve(q): os._exit(3)", "", "it ended with status 3 before its function returned"},
	"ends by exit":             {"def solve(q): sys.exit(3)", "", "SystemExit: 3"},
	"fails":                    {"def solve(q): raise RuntimeError('out of luck')", "", "out of luck"},
	"kills whoever loaded it":  {"def solve(q):\n    os.kill(os.getppid(), 9)\n    import time; time.sleep(600)", "", "run the program: EOF"},
	"never ends":               {"def solve(q):\n    while True: pass", "timeout: 1s\n", "longer than its timeout of 1s"},
	"returns too much":         {"def solve(q): return 'x' * (20 << 20)", "", "it returned more than 16 MiB"},
	"returns what is not JSON": {"def solve(q): return object()", "", "not JSON serializable"},
	"leaves children":          {"def solve(q):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            import time; time.sleep(3600)\n        os._exit(0)\n    return 'Answer: yes'", "", "2 answered"},
	"writes into its pipes":    {"def solve(q):\n    for fd in range(3, 64):\n        try: os.write(fd, b'7\\n')\n        except OSError: pass\n    return 'Answer: yes'", "", "2 answered"},
	"has no such function":     {"def other(q): return 'Answer: yes'", "", "has no attribute"},
	"calls while it loads":     {"ask('early')\ndef solve(q): return 'Answer: yes'", "", "503"},
	"fails while it loads":     {"raise RuntimeError('never ready')", "", "never ready"},
	"answers":                  {"def solve(q): return {'answer': 'yes'}", "answer: json:answer\n", "2 answered"},
	"takes the whole problem":  {"def solve(p): return 'Answer: yes' if 'Query' in p else str(p)", "problem: file\n", "2 answered"},
}

// TestHostileFunctions: each ends its own trial with what it is to blame for, and leaves
// nothing behind.
func TestHostileFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("a run for each")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	for name, h := range hostileFunctions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
			c.write("quiz.jsonl", quiz(2))
			folder := warmFolder(c, h.program, h.more)
			r := c.start(c.command("compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", folder, "--max-samples", "1"))()
			shown := c.start(c.command("runs", "show", "last", "--trial", "warm/q1/1"))()
			want(t, r.stdout+r.stderr+shown.stdout+shown.stderr, h.told)
			left, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range left {
				if raw, _ := os.ReadFile(path); strings.Contains(string(raw), c.dir) { // it may be gone
					t.Errorf("left behind: %q", raw)
				}
			}
		})
	}
}
