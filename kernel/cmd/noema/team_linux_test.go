package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestProgramOfTwoModels: the names of a program mean the experiment's models as its manifest
// says; equal requests to two of them are two calls; a replay has the same root, and a model
// that the experiment lacks is refused by its name.
func TestProgramOfTwoModels(t *testing.T) {
	if testing.Short() {
		t.Skip("four runs")
	}
	needPython(t)
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(3))
	c.write("p/agent.py", asking+`
def by(model):
    return post("/chat/completions", {"model": model, "messages": [{"role": "user", "content": question}]})["choices"][0]["message"]["content"]
print("Answer:", by("cheap"), by("gpt-4o"), by("gpt-4o"))`)
	c.write("p/plugin.yaml", "command: [python3, agent.py]\nproblem: stdin\nmodels: {gpt-4o: strong}\n")
	args := []string{"compare", "--task", "quiz.jsonl", "--methods", filepath.Join(c.dir, "p"), "--model", "openai/small?with.strong=openai/large"}
	first := c.run(0, args...)
	asked := map[string]int{}
	for _, a := range server.Asks() {
		for _, model := range []string{"small", "large"} {
			if strings.Contains(fmt.Sprint(a.Body), "model:"+model) {
				asked[model]++
			}
		}
	}
	if asked["small"] != 3 || asked["large"] != 6 {
		t.Errorf("asked %v, want 3 small and 6 large", asked)
	}
	before := server.Requests()
	again, replayed := c.run(0, args...), c.run(0, "replay", "last")
	if rootOf(again.stdout) != rootOf(first.stdout) || server.Requests() != before {
		t.Errorf("root %s, want %s; %d requests more", rootOf(again.stdout), rootOf(first.stdout), server.Requests()-before)
	}
	want(t, replayed.stdout, rootOf(first.stdout))
	alone := c.start(c.command("compare", "--task", "quiz.jsonl", "--methods", filepath.Join(c.dir, "p"), "--model", "openai/small"))()
	want(t, alone.stdout+alone.stderr, `the experiment has no model called "strong"`)
	other := c.start(c.command("compare", "--task", "quiz.jsonl", "--methods", "direct", "--model", "openai/small?with.strong=opnai/large"))()
	want(t, other.stdout+other.stderr, `called "strong"`, `did you mean "openai"`)
}

// TestJudgeOfAnotherModel: each method that judges asks the model that judged_by names for its
// judgements and the first for all else, a replay has the same root, and a model that the
// experiment lacks is refused with its cure.
func TestJudgeOfAnotherModel(t *testing.T) {
	if testing.Short() {
		t.Skip("four runs")
	}
	replies := func(model string) string { // of one that answers, or judges
		return "model: " + model + "\nrules:\n" + strings.Join(map[string][]string{
			"answers": {`  - {match: '{"next": ', reply: {next: ["Answer: 5", "Answer: 4"]}}`, `  - {match: '"lessons"', reply: {lessons: ["add again"]}}`, `  - {match: "<lessons>", reply: "Answer: 4"}`, `  - {match: "<faults>", reply: "Answer: 4"}`, `  - {match: "step by step", replies: ["Answer: 5", "Answer: 4"]}`},
			"judges":  {`  - {match: "Answer: 5", regex: '\{"value": ', reply: {value: impossible}}`, `  - {regex: '\{"value": ', reply: {value: sure}}`, `  - {match: "Answer: 5", regex: '\{"faults": ', reply: {faults: ["2 and 2 are 4"]}}`, `  - {regex: '\{"faults": ', reply: {faults: []}}`},
		}[model], "\n") + "\n"
	}
	c := newCLI(t)
	c.write("quiz.jsonl", `{"id":"a","question":"What is 2 plus 2?","answer":4}`+"\n")
	c.write("answers.yaml", replies("answers"))
	c.write("judges.yaml", replies("judges"))
	args := []string{"compare", "--task", "quiz.jsonl", "--methods", "best-of-n,tot,mcts,self-refine,reflexion", "-M", "judged_by=judge", "-M", "retries=0", "--model", "scripted/answers.yaml?with.judge=scripted/judges.yaml"}
	first := c.run(0, args...)
	if rows := regexp.MustCompile(`(?m)^(\S+) +1 +1\.00`).FindAllString(first.stdout, -1); len(rows) != 5 {
		t.Errorf("not every method answers what the judge says: %s", first.stdout)
	}
	want(t, c.run(0, "replay", "last").stdout, rootOf(first.stdout))
	if again := c.run(0, args...); rootOf(again.stdout) != rootOf(first.stdout) {
		t.Errorf("again: root %s, want %s", rootOf(again.stdout), rootOf(first.stdout))
	}
	runs := c.run(0, "runs", "list").stdout
	for _, method := range strings.Split(args[4], ",") { // it is told before a call is paid, of each method and each name
		for name, models := range map[string]string{"judge": "scripted/answers.yaml", "jugde": args[len(args)-1], "strong": "scripted/answers.yaml?with.judge=scripted/judges.yaml&with.weak=scripted/answers.yaml"} {
			alone := c.run(2, "compare", "--task", "quiz.jsonl", "--methods", "direct,"+method, "-M", "judged_by="+name, "--model", models)
			want(t, alone.stderr, `option "judged_by": provider rejected: the experiment has no model called "`+name+`"`, "?with.NAME=")
		}
	}
	if now := c.run(0, "runs", "list").stdout; now != runs {
		t.Errorf("a refused comparison is a run:\n%s", now)
	}
}
