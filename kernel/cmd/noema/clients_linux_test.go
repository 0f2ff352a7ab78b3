package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/internal/test/providertest"
)

// clientProgram is an unmodified program: which client it uses, what serves its model, and what
// the model calls before it answers.
type clientProgram struct {
	client   string // folder of the installed client
	protocol providertest.Protocol
	answer   string
	calls    string // arguments of the tool that it is offered
	memory   int    // MB of a trial, where it is much: a machine without 16 times as many runs fewer at once
}

// clientPrograms are unmodified programs by their file in testdata/clients.
var clientPrograms = map[string]clientProgram{
	"use-openai.py":          {"openai", providertest.Chat, "Answer: yes", `{"a":1}`, 0},
	"use-responses.py":       {"openai", providertest.Responses, "Answer: yes", `{}`, 0},
	"use-anthropic.py":       {"anthropic", providertest.Anthropic, "Answer: yes", `{}`, 0},
	"use-litellm.py":         {"litellm", providertest.Chat, "Answer: yes", "", 0},
	"use-instructor.py":      {"instructor", providertest.Chat, "", `{"a":1}`, 0},
	"use-langgraph.py":       {"langgraph", providertest.Chat, "Answer: yes", `{"a":1}`, 0},
	"use-langgraph-votes.py": {"langgraph", providertest.Chat, "Answer: yes", "", 0},
	"use-dspy.py":            {"dspy", providertest.Chat, "[[ ## reasoning ## ]]\nso\n\n[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]", "", 0},
	"use-smolagents.py":      {"smolagents", providertest.Chat, "", `{"a":1}`, 0},
	"use-openai-agents.py":   {"openai-agents", providertest.Responses, "Answer: yes", `{"a":1}`, 0},
	"use-pydantic-ai.py":     {"pydantic-ai", providertest.Chat, "Answer: yes", `{"a":1}`, 0},
	"use-npm-openai.mjs":     {"npm-openai", providertest.Chat, "Answer: yes", "", 0},
	"use-npm-ai.mjs":         {"npm-ai", providertest.Chat, "Answer: yes", "", 0},
	"use-codex.sh":           {"codex", providertest.Responses, "Answer: yes", "", 0},
	"use-claude.sh":          {"claude", providertest.Anthropic, "Answer: yes", "", 0},
	"use-opencode.sh":        {"opencode", providertest.Chat, "Answer: yes", "", 600},
	"use-aider.py":           {"aider", providertest.Chat, "Answer: yes", "", 0},
}

// clientFolder is where .ci/clients has installed a client, or a reason to skip.
func clientFolder(t *testing.T, name string) string {
	t.Helper()
	all := os.Getenv("NOEMA_TEST_CLIENTS")
	if all == "" {
		t.Skip("NOEMA_TEST_CLIENTS does not name a folder of clients: bash .ci/clients makes one")
	}
	dir := filepath.Join(all, name)
	if _, err := os.Stat(filepath.Join(dir, "installed")); err != nil {
		t.Skipf("%s is not installed in %s", name, all)
	}
	return dir
}

// manifestOf is the plugin.yaml of a client's program.
func manifestOf(file, dir string) string {
	command := map[string]string{
		".py": filepath.Join(dir, "bin", "python"), ".mjs": "node", ".sh": "sh",
	}[filepath.Ext(file)]
	manifest := "name: client\ncommand: [" + command + ", " + file + "]\nanswer: 'pattern:(?s).*'\nread: [" + dir + "]\nstart_limit: 120s\n"
	if filepath.Ext(file) == ".sh" {
		manifest += "env: {PATH: '" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH") + "'}\n"
	}
	return manifest
}

// replies is the model of a client's program.
func (p clientProgram) replies(a providertest.Ask) providertest.Answer {
	if p.calls == "" || len(a.Tools) == 0 || len(a.Results) > 0 && p.answer != "" {
		return providertest.Answer{Text: p.answer}
	}
	if last := a.Tools[len(a.Tools)-1]; last == "final_answer" && len(a.Messages) > 2 {
		return providertest.Answer{Calls: []providertest.Call{{Name: last, Arguments: `{"answer":"yes"}`}}}
	}
	return providertest.Answer{Calls: []providertest.Call{{Name: a.Tools[0], Arguments: p.calls}}}
}

// trials is how many run at once: 16, or as many as the machine has memory for.
func (p clientProgram) trials(t *testing.T) int {
	const most = 16
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil || p.memory == 0 {
		return most
	}
	_, rest, _ := strings.Cut(string(raw), "MemAvailable:")
	var kilobytes int
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil || kilobytes>>10 >= most*p.memory {
		return most
	}
	few := max(2, kilobytes>>10/p.memory)
	t.Logf("%d trials at once and not %d: each takes %d MB, and the machine has %d left", few, most, p.memory, kilobytes>>10)
	return few
}

// model is what the experiment names, by what serves it.
func (p clientProgram) model() string {
	switch p.protocol {
	case providertest.Responses:
		return "openai/m?api=responses"
	case providertest.Anthropic:
		return "anthropic/m"
	}
	return "openai/m"
}

// meeting lets no question be answered before all have been asked, which proves that their trials
// run at once.
type meeting struct {
	mu    sync.Mutex
	seen  map[string]bool
	await int
	all   chan struct{}
}

// identifiers are in each question as people have them in code.
const identifiers = "item_category, run_experiment, call_function, msg_received and work in /tmp"

var questionOf = regexp.MustCompile(`question q\S+ of the quiz`)

func (m *meeting) answers(answer func(providertest.Ask) providertest.Answer) func(providertest.Ask) providertest.Answer {
	return func(a providertest.Ask) providertest.Answer {
		if question := questionOf.FindString(fmt.Sprint(a.Body)); question != "" {
			m.mu.Lock()
			if m.seen[question] = true; len(m.seen) == m.await {
				m.await = 0
				close(m.all)
			}
			m.mu.Unlock()
			<-m.all
		}
		return answer(a)
	}
}

// lay writes a client's program and its task into the folder of c.
func (p clientProgram) lay(c *cli, file, dir string, trials int) {
	c.t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "clients", file))
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("quiz.jsonl", strings.ReplaceAll(quiz(trials), "of the quiz", "of the quiz: "+identifiers))
	c.write("client/"+file, string(raw))
	c.write("client/plugin.yaml", manifestOf(file, dir))
	if filepath.Ext(file) != ".py" {
		if err := os.Symlink(filepath.Join(dir, "node_modules"), filepath.Join(c.dir, "client", "node_modules")); err != nil {
			c.t.Fatal(err)
		}
	}
}

// TestClients: programs with the clients and frameworks that people use, without an edit, 16 trials
// at once. A second run and a replay ask nothing and have the first's root; so has a run in another
// store that was killed in its middle and went on, which asked nothing twice that the store had.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("a framework takes seconds to import, a hundred times over")
	}
	for file, p := range clientPrograms {
		t.Run(file, func(t *testing.T) {
			dir, trials := clientFolder(t, p.client), p.trials(t)
			k, m := newKilling(), &meeting{seen: map[string]bool{}, await: trials, all: make(chan struct{})}
			server := providertest.New(providertest.Config{Protocol: p.protocol, Answer: k.held(m.answers(p.replies)), Arrived: k.arrived})
			defer server.Close()
			c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "ANTHROPIC_BASE_URL="+server.URL(), "ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x")
			p.lay(c, file, dir, trials)
			other := c.at(filepath.Join(c.dir, "other"))
			for _, c := range []*cli{c, other} {
				c.run(0, "plugin", "allow", "./client")
			}
			atOnce := []string{"--max-samples", fmt.Sprint(trials), "--max-connections", "64"}
			args := append([]string{"compare", "--task", "quiz.jsonl", "--model", p.model(), "--methods", "./client"}, atOnce...)
			begun := time.Now()
			took := func() time.Duration {
				defer func() { begun = time.Now() }()
				return time.Since(begun).Round(10 * time.Millisecond)
			}
			first := c.start(c.command(args...))()
			cold, root, requests := took(), rootOf(first.stdout), server.Requests()
			if first.code != 0 || root == "" || !strings.Contains(first.stdout, fmt.Sprint(trials, " answered")) {
				t.Fatalf("exit code %d\n%s\n%.4000s", first.code, first.stdout, first.stderr)
			}
			if strings.Contains(first.stdout, "order-dependent") {
				t.Log("calls without a number:", first.stdout)
			}
			for _, a := range server.Asks() {
				if body := fmt.Sprint(a.Body); questionOf.MatchString(body) && !strings.Contains(body, identifiers) {
					t.Errorf("the question arrived as %.2000s", body)
				}
			}
			again := c.run(0, args...)
			warm := took()
			replayed := c.run(0, append([]string{"replay", "last"}, atOnce[:2]...)...)
			t.Logf("%d trials, %d requests: cold %v, warm %v, replayed %v", trials, requests, cold, warm, took())
			if n := server.Requests() - requests; n != 0 || rootOf(again.stdout) != root || !strings.Contains(replayed.stdout, root) {
				t.Errorf("%d requests, roots %s and %s, replayed:\n%s", n, root, rootOf(again.stdout), replayed.stdout)
			}
			k.killed(other, server, args, (3*requests+3)/4, 4*trials)
			if resumed := other.run(0, args...); rootOf(resumed.stdout) != root {
				t.Errorf("killed and resumed, the root is %s, want %s", rootOf(resumed.stdout), root)
			}
			k.paid(t, server)
		})
	}
}
