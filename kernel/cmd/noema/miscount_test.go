package main

import (
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestMiscount: token counts that cannot be are refused with the provider's name,
// in the table, in JSON and in what is shown later; the answer is kept and not
// paid for again, and limits on tokens stop the run.
func TestMiscount(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		model, variable string
		protocol        providertest.Protocol
	}{
		{"openai/m", "OPENAI_BASE_URL", providertest.Chat},
		{"openai/m?api=responses", "OPENAI_BASE_URL", providertest.Responses},
		{"anthropic/m", "ANTHROPIC_BASE_URL", providertest.Anthropic},
		{"gemini/m", "GEMINI_BASE_URL", providertest.Gemini},
		{"ollama/m", "OLLAMA_HOST", providertest.Ollama},
	} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			miscount(t, c.model, c.variable, c.protocol)
		})
	}
}

func miscount(t *testing.T, model, variable string, protocol providertest.Protocol) {
	server := providertest.New(providertest.Config{Protocol: protocol, Answer: func(a providertest.Ask) providertest.Answer {
		answer := yes(a)
		answer.Input, answer.Output = 10, 2
		if strings.Contains(a.Prompt, "question q1 ") {
			answer.Input = -5
		}
		return answer
	}})
	defer server.Close()
	c := newCLI(t, variable+"="+server.URL(), "OPENAI_API_KEY=k", "ANTHROPIC_API_KEY=k", "GEMINI_API_KEY=k")
	c.write("quiz.jsonl", quiz(4))
	args := []string{"compare", "--task", "quiz.jsonl", "--model", model, "--methods", "direct"}
	kind, _, _ := strings.Cut(model, "/")
	note := kind + " reports -5 input tokens, which cannot be: such token counts of 1 reply are refused"

	first := c.run(0, args...)
	want(t, unwrapped(first.stdout), note)
	want(t, first.stdout, "4 answered")
	want(t, unwrapped(c.run(0, "runs", "show", "last").stdout), note)
	want(t, c.run(0, "runs", "show", "last", "--trial", "direct/q1").stdout, "token counts refused: "+kind+" reports -5 input tokens")
	requests := server.Requests()
	again := c.summary(args...)
	if !strings.Contains(strings.Join(again.Remarks, "\n"), note) || again.RootHash != rootOf(first.stdout) || server.Requests() != requests {
		t.Errorf("again: remarks %q, root %s, %d new requests", again.Remarks, again.RootHash, server.Requests()-requests)
	}
	want(t, c.run(0, "replay", "last").stdout, rootOf(first.stdout))
}

// unwrapped is text without its line breaks.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }
