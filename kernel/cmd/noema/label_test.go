package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// gradedUser has questions, a grader that is too kind to answers of one digit, and a
// rubric.
func gradedUser(t *testing.T) *cli {
	user := newCLI(t)
	var questions strings.Builder
	for i := range 30 {
		fmt.Fprintf(&questions, `{"id":"q%d","input":"Ana has %d pencils. Ana finds %d more pencils. How many pencils does Ana have now?","target":%d}`+"\n", i, 2+i, 3+i%4, 5+i+i%4)
	}
	user.write("q.jsonl", questions.String())
	user.write("rubric.txt", "Numbers must be equal.\n")
	user.write("grader.yaml", `
rules:
  - {regex: "(?s)answer [0-9a-f]+>\\n\\d\\n", reply: "Fine.\nAnswer: CORRECT"}
default: {reply: "Answer: INCORRECT"}
`)
	return user
}

// TestLabel goes the way of a user: models grade, nobody wins by their word, a person
// labels without seeing methods or verdicts, and labels correct the graders.
func TestLabel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	user := gradedUser(t)
	compare := []string{"compare", "--task", "q.jsonl", "--methods", "direct,cot", "--model", "sim?error=0.5", "--scorer", "graded?model=scripted/grader.yaml&rubric=@rubric.txt"}
	want(t, user.run(0, compare...).stdout, "uncalibrated: models graded", "grading cost")
	want(t, user.run(0, "replay", "last").stdout, "the root hash is that of run")
	want(t, user.run(0, "runs", "show", "last", "--trial", "direct/q1").stdout, "GRADING", "Numbers must be equal.")
	want(t, user.run(0, "compare", "last").stdout, "uncalibrated between direct and cot")

	label := func(keys string) result {
		cmd := user.command("label", "last")
		cmd.Stdin = strings.NewReader(keys)
		return user.start(cmd)()
	}
	first := label("y\nNO\nwhat\ns\nq\n")
	want(t, first.stdout, "question   Ana has", "reference  ", "answer     ", "3 answers are labelled or skipped")
	for _, secret := range []string{"direct", "cot", "CORRECT", "graded"} {
		if strings.Contains(strings.TrimSuffix(first.stdout, user.home), secret) {
			t.Errorf("who labels sees %q:\n%s", secret, first.stdout)
		}
	}
	want(t, label("").stdout, "4 of ", "3 answers are labelled or skipped")

	user.run(0, "runs", "export", "last", "--format", "jsonl", "--rows", "trials", "--out", "trials.jsonl")
	user.write("labels.jsonl", labelsOf(t, filepath.Join(user.dir, "trials.jsonl"))+`{"sample":"nothere","answer":1,"label":"right"}`+"\n")
	var known, all int // each answer once
	imported := user.run(0, "label", "last", "--import", "labels.jsonl").stdout
	if _, err := fmt.Sscanf(imported, "%d of %d labels are about answers of this run", &known, &all); err != nil || all != known+1 || known < 30 {
		t.Errorf("all labels but one are about the run: %s", imported)
	}
	calibrated := user.run(0, "compare", "last").stdout
	want(t, calibrated, "calibration: of 60 labelled answers people find", "30 labelled", "kappa")
	if strings.Contains(calibrated, "uncalibrated") {
		t.Errorf("with all labels:\n%s", calibrated)
	}
	want(t, label("").stdout, ", 0 are left")

	file := strings.TrimSpace(regexp.MustCompile(`/\S+\.jsonl`).FindString(imported))
	want(t, user.run(0, "runs", "rm", "last").stdout, "kept its labels, which people made: "+file)
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	user.run(0, compare...)
	again := user.command("label", "last")
	again.Stdin = strings.NewReader("y\n")
	user.start(again)()
	want(t, user.run(0, "runs", "rm", "--labels", "last").stdout, "removed its labels")
}

// TestPairwiseCommand: preferences have a table of their own, their cost is the
// graders', a replay proves them, and the note on who chose the scorer is true.
func TestPairwiseCommand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	user := gradedUser(t)
	user.write("pairs.yaml", `
rules:
  - {match: "You grade", reply: "Answer: CORRECT"}
default: {reply: "Answer: FIRST"}
`)
	out := user.run(0, "compare", "--task", "q.jsonl?scorer=exact", "--limit", "10", "--methods", "direct,self-consistency", "--model", "sim?error=0.5", "--scorer", "graded?model=scripted/pairs.yaml&pairwise").stdout
	want(t, out, "pairwise, by graders", "order decided", "they name no winner", "verdicts the order of the answers decided")
	want(t, user.run(0, "replay", "last").stdout, "the root hash is that of run")
	want(t, user.run(0, "runs", "show", "last").stdout, "as --scorer says; the task names exact")
	user.run(0, "compare", "--task", "q.jsonl?scorer=exact", "--limit", "2", "--methods", "direct", "--model", "sim")
	want(t, user.run(0, "runs", "show", "last").stdout, "scored by exact, as the task names")
	want(t, user.run(exitUsage, "compare", "--task", "q.jsonl?scorer=nonsense", "--methods", "direct", "--model", "sim").stderr, "there is no such scorer")
}

// labelsOf makes a label of each trial, by what is right.
func labelsOf(t *testing.T, trials string) string {
	t.Helper()
	raw, err := os.ReadFile(trials)
	if err != nil {
		t.Fatal(err)
	}
	var labels strings.Builder
	for line := range strings.Lines(string(raw)) {
		var row struct {
			Sample, Answer, Target string // the latter two in JSON
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		verdict := "wrong"
		if row.Answer == row.Target {
			verdict = "right"
		}
		fmt.Fprintf(&labels, `{"sample":%q,"answer":%s,"label":%q}`+"\n", row.Sample, row.Answer, verdict)
	}
	return labels.String()
}

// TestGradedRefused: each refusal names what to change.
func TestGradedRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	user := gradedUser(t)
	one := func(model, scorer string) []string {
		return []string{"compare", "--task", "q.jsonl", "--limit", "2", "--methods", "direct", "--model", model, "--scorer", scorer}
	}
	want(t, user.run(exitUsage, one("scripted/grader.yaml", "graded?model=scripted/grader.yaml")...).stderr, "would grade its own answers", "&self=true")
	want(t, user.run(exitUsage, one("sim", "graded?model=scripted/grader.yaml&rubric=@nothere.txt")...).stderr, "read the rubric: open nothere.txt")
	want(t, user.run(exitUsage, one("sim", "graded")...).stderr, "no model grades")
	user.run(0, one("sim", "exact")...)
	want(t, user.run(exitUsage, "label", "last").stderr, "no model graded it", "--scorer")
	user.run(0, one("sim", "graded?model=scripted/grader.yaml")...)
	user.write("labels.jsonl", `{"sample":"q1","answer":3,"label":"maybe"}`)
	want(t, user.run(exitError, "label", "last", "--import", "labels.jsonl").stderr, "line 1", `"maybe"`)
	user.write("labels.jsonl", `{"sample":"q1","answer":"another","label":"right"}`)
	want(t, user.run(exitError, "label", "last", "--import", "labels.jsonl").stderr, "none of 1 labels is about an answer of this run")
}
