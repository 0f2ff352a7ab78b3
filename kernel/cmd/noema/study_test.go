package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestPaperWithAChangedDigit changes a digit of a file that a paper reads.
func TestPaperWithAChangedDigit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	user := newCLI(t)
	user.run(0, "compare", "--task", "cafes", "--methods", "direct,anot", "--limit", "3", "--name", "first")
	user.run(0, "pack", "last", "-o", "first.noema")
	user.run(0, "cite", "first.noema", "--latex", "numbers.tex", "--json", "numbers.json")
	for _, file := range []string{"numbers.tex", "numbers.json"} {
		want(t, user.run(0, "pack", "verify", "first.noema", "--tex", file).stdout, "cited numbers are those of the tables")
	}
	raw, err := os.ReadFile(filepath.Join(user.dir, "numbers.tex"))
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(raw), "noema@first/samples}{3}")
	if !found {
		t.Fatalf("numbers %s", raw)
	}
	user.write("numbers.tex", before+"noema@first/samples}{8}"+after)
	r := user.run(exitDiverged, "pack", "verify", "first.noema", "--tex", "numbers.tex")
	want(t, r.stderr, fmt.Sprintf("line %d: first/samples is 8, and computed again 3", 1+strings.Count(before, "\n")))
}

// TestEffortIsADimension: a study over efforts asks each sample once an effort, with the
// effort on the wire, tells thoughts apart from other tokens, and answers a replay from the store.
func TestEffortIsADimension(t *testing.T) {
	t.Parallel()
	thoughts := map[string]int64{"low": 2, "high": 5}
	server := providertest.New(providertest.Config{Protocol: providertest.Anthropic, Answer: func(a providertest.Ask) providertest.Answer {
		config, _ := a.Body["output_config"].(map[string]any)
		effort, _ := config["effort"].(string)
		return providertest.Answer{Text: `{"answer": "yes"}`, Input: 10, Output: 9, Reasoning: thoughts[effort]}
	}})
	defer server.Close()
	c := newCLI(t, "ANTHROPIC_BASE_URL="+server.URL())
	c.write("quiz.jsonl", quiz(3))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", "anthropic/m", "--methods", "direct", "--effort", "low,high"}
	r := c.run(0, args...)
	want(t, r.stdout, "study of 1 task with 2 models", "anthropic/m?effort=low", "anthropic/m?effort=high", "tokens    direct: 21 out spent on reasoning")
	if server.Requests() != 6 {
		t.Errorf("%d requests for 3 samples at 2 efforts", server.Requests())
	}
	want(t, c.run(0, "replay", "last").stdout, "the same root hash")
	want(t, c.run(0, append(args[:len(args)-1:len(args)-1], "high")...).stdout, "anthropic/m?effort=high", "15 out spent on reasoning")
	if server.Requests() != 6 {
		t.Error("one effort alone was asked again, though the study has its answers")
	}
	want(t, c.run(exitUsage, "compare", "--task", "cafes", "--effort", "low").stderr, `unknown option "effort"`)
}
