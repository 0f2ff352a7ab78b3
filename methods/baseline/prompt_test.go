package baseline_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/baseline"
	"noema/methods/methodtest"
)

// prompted are the baselines whose prompt can be given.
func prompted() map[string]methods.Method {
	all := baseline.All()
	return map[string]methods.Method{
		"direct": all["direct"], "cot": all["cot"], "self-consistency": all["self-consistency"], "plan-and-solve": all["plan-and-solve"],
	}
}

func withOptions(t *testing.T, kind methods.AnswerKind, options map[string]any) methods.Problem {
	t.Helper()
	raw, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	return problem(kind, string(raw))
}

// A method that is given the prompt that it shows as its own makes the same calls, for
// every kind of answer.
func TestItsOwnPromptGiven(t *testing.T) {
	for name, m := range prompted() {
		own := ""
		for _, o := range m.(methods.Describer).Describe().Options {
			if o.Name == "prompt" {
				own = o.Default
			}
		}
		if !strings.Contains(own, "{question}") || !strings.Contains(own, "{form}") {
			t.Fatalf("%s shows the prompt %q", name, own)
		}
		for kind := range specs() {
			_, plain := solve(t, m, problem(kind, ""), methodtest.Reply("Answer: 1"))
			_, given := solve(t, m, withOptions(t, kind, map[string]any{"prompt": own}), methodtest.Reply("Answer: 1"))
			if d := plain.Diff(given); d != "" {
				t.Errorf("%s of a %s: %s", name, kind, d)
			}
		}
	}
}

// Whatever the prompt says, every request holds the question and the prompt's own
// words, unchanged, and what is put in a place is not searched for places.
func TestAnyPrompt(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"{question}", "{form}", "{\"answer\": ", "}", "{Question}", "{ form }", "ä…\n", "%s %d", "$1", "Reply.", "{{", "\\n"}
	for range 2000 {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		prompt := b.String() + "end"
		p := withOptions(t, methods.Text, map[string]any{"prompt": prompt, "example": false})
		p.Context, p.Query = nil, "which {form} of {question} {other}?"
		_, done := solve(t, prompted()["cot"], p, methodtest.Reply("Answer: x"))
		question := p.Query + "\n\n"
		want := prompt
		if !strings.Contains(prompt, "{question}") {
			want = "{question}" + prompt
		}
		var filled strings.Builder
		for i, part := range strings.Split(want, "{question}") {
			if i > 0 {
				filled.WriteString(question)
			}
			filled.WriteString(strings.ReplaceAll(part, "{form}", "short text"))
		}
		messages := done.Calls[0].Request.Messages
		if len(messages) != 1 || messages[0].Content != filled.String() {
			t.Fatalf("prompt %q asks %q, want %q", prompt, messages, filled.String())
		}
	}
}

// A place that nothing is put in is a mistake in writing, and is refused before a call.
func TestUnknownPlaces(t *testing.T) {
	for name, m := range prompted() {
		for _, o := range m.(methods.Describer).Describe().Options {
			if o.Name != "prompt" {
				continue
			}
			for _, text := range []string{"{qestion} Reply.", "{question}{answer_form}", "{question}{form}{x}"} {
				if _, err := o.Parse(text); err == nil || !strings.Contains(err.Error(), "nothing is put in the place of {") {
					t.Errorf("%s takes the prompt %q: %v", name, text, err)
				}
			}
			for _, text := range []string{"", "Reply.", "{question}", "{form}{question}", `{"answer": 1}`, "{Question}", "{ form }"} {
				if _, err := o.Parse(text); err != nil {
					t.Errorf("%s refuses the prompt %q: %v", name, text, err)
				}
			}
		}
	}
	_, err := prompted()["direct"].Solve(t.Context(), withOptions(t, methods.Choice, map[string]any{"prompt": "Reply.", "by": "likelihood"}), methodtest.NewHost(methodtest.Reply("")))
	if err == nil || !strings.Contains(err.Error(), `leave out the option "prompt"`) {
		t.Errorf("by=likelihood with a prompt: %v", err)
	}
}

// Without its example, a prompt is asked alone.
func TestExample(t *testing.T) {
	for name, m := range prompted() {
		if name == "direct" {
			continue
		}
		_, shown := solve(t, m, problem(methods.Number, ""), methodtest.Reply("Answer: 1"))
		_, alone := solve(t, m, problem(methods.Number, `{"example":false}`), methodtest.Reply("Answer: 1"))
		with, without := shown.Calls[0].Request.Messages, alone.Calls[0].Request.Messages
		if len(with) != 3 || len(without) != 1 || with[2].Content != without[0].Content {
			t.Errorf("%s asks %d turns with its example and %d without", name, len(with), len(without))
		}
	}
}
