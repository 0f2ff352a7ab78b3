package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"noema/plugins"
)

// TestProgramsAreTested: answers that are programs pass or fail their tests, live and imported;
// a replay, a pack and its check need no Python, and a run that needs one says so before a call.
func TestProgramsAreTested(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs programs of Python")
	}
	if _, err := plugins.FindPython(); err != nil {
		t.Skip(err)
	}
	user := newCLI(t)
	var tasks, rules, done strings.Builder
	for i, reply := range []string{
		"Answer:\n```python\ndef f0(a, b):\n    return a + b\n```", "Answer: ```python\ndef f1(a, b):\n    return a + b\n```",
		`{"answer": "def f2(a, b):\n    return a - b\n"}`, "Answer: import sys; sys.exit(0)", "Answer: return a + b",
	} {
		prompt := fmt.Sprintf("base = 1\n\ndef f%d(a, b):\n    \"\"\"Adds.\"\"\"\n", i)
		test := "def check(f):\n    assert f(1, 2) == 3 and f('a', 'b') == 'ab' and base == 1\n"
		for to, v := range map[*strings.Builder]any{
			&tasks: map[string]any{"task_id": fmt.Sprint("H/", i), "prompt": prompt, "entry_point": fmt.Sprint("f", i), "test": test},
			&rules: map[string]any{"match": fmt.Sprintf("def f%d(", i), "reply": reply},
			&done:  map[string]any{"task_id": fmt.Sprint("H/", i), "completion": "    return a " + []string{"+", "-"}[i%2] + " b\n"},
		} {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			to.WriteString(string(raw) + "\n")
		}
	}
	user.write("human.jsonl", tasks.String())
	user.write("model.yaml", "model: stand-in\nrules:\n- "+strings.Join(strings.Split(strings.TrimSpace(rules.String()), "\n"), "\n- ")+"\n")
	user.write("samples.jsonl", done.String())

	ask := []string{"compare", "--task", "human.jsonl", "--methods", "cot", "--model", "scripted/model.yaml"}
	blind := user.command(ask...)
	blind.Env = append(blind.Env, "PATH=/nothing")
	if r := user.start(blind)(); r.code != exitUsage || !strings.Contains(r.stderr, "scored by running programs: no python3") {
		t.Errorf("without Python: %d, %s", r.code, r.stderr)
	}
	want(t, user.run(0, ask...).stdout, "cot     5  0.60", "5 answered")
	replay := user.command("replay", "last")
	replay.Env = append(replay.Env, "PATH=/nothing")
	if r := user.start(replay)(); r.code != 0 || !strings.Contains(r.stdout, "the root hash is that of run") {
		t.Errorf("a replay without Python: %d, %s%s", r.code, r.stdout, r.stderr)
	}
	user.run(0, "pack", "last", "-o", "programs.noema")
	check := newCLI(t).command("pack", "verify", filepath.Join(user.dir, "programs.noema"))
	check.Env = append(check.Env, "PATH=/nothing")
	if r := user.start(check)(); r.code != 0 {
		t.Errorf("a pack without Python: %d, %s%s", r.code, r.stdout, r.stderr)
	}
	want(t, user.run(0, "score", "samples.jsonl", "--task", "human.jsonl", "--method", "theirs").stdout, "theirs  5  0.60")
}
