package generalanot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
	"noema/methods/methodtest"
)

const reviewed = `{"restaurant": {"name": "Alba", "city": "Rome"}, "reviews": [{"author": "Bo", "text": "The tiramisu!"}, {"author": "Cy", "text": "Loud."}]}`

func choice(context, options string) methods.Problem {
	return methods.Problem{
		ID: "C1", Query: "Is there tiramisu in Rome?", Context: json.RawMessage(context), Seed: 7,
		Answer: methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"no", "yes"}}, Options: json.RawMessage(options),
	}
}

// verdicts compiles to a verdict by the formula and says yes to every text.
func verdicts(t testing.TB, formula string) methods.Model {
	seed := text(t, request(t, "verdict", "verdict: "+formula))
	return saying(func(r methods.Request) string {
		if strings.HasPrefix(r.Path, "extract") {
			return `{"sweet": true}`
		}
		return seed
	})
}

// Texts are the reviews of all items, the reviews, the paragraphs, all texts of
// the context, or the question itself.
func TestChoices(t *testing.T) {
	for name, c := range map[string]struct {
		context, formula string
		calls            []string
	}{
		"reviews":    {reviewed, "'yes' if any(e['sweet'] for e in extractions) and context['restaurant']['city'] == 'Rome' and len(reviews) == 2 else 'no'", []string{"compile", "extract/r1"}},
		"items":      {places, "'yes' if [e['item']['name'] for e in extractions] == ['One', 'Two'] and context['items'][0]['attributes']['WiFi'] == 'free' else 'no'", []string{"compile", "extract/r1", "extract/r3"}},
		"paragraphs": {`{"paragraphs": [{"title": "Rome", "text": "Tiramisu everywhere"}, "Milan"]}`, "'yes' if extractions[0]['title'] == 'Rome' and reviews[1]['text'] == 'Milan' else 'no'", []string{"compile", "extract/r1"}},
		"a text":     {`{"passage": {"body": "In Rome one eats cake."}}`, "'yes' if extractions[0]['text'] == 'passage.body: In Rome one eats cake.\\n' else 'no'", []string{"compile", "extract/r1"}},
		"no context": {"", "'yes' if extractions[0]['text'] == 'Is there tiramisu in Rome?' else 'no'", []string{"compile", "extract/r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, log := solve(t, choice(c.context, ""), verdicts(t, c.formula))
			if string(a.Value) != `"yes"` || a.Outcome != methods.Answered {
				t.Errorf("answer %s %s %s", a.Value, a.Outcome, a.Reason)
			}
			got := paths(log)
			slices.Sort(got)
			if !slices.Equal(got, c.calls) {
				t.Errorf("calls %v, want %v", got, c.calls)
			}
		})
	}
}

func TestChoicesAreRefusedInPlainWords(t *testing.T) {
	for name, c := range map[string]struct {
		problem methods.Problem
		formula string
		outcome methods.Outcome
		reason  string
	}{
		"not an object": {choice("[1]", ""), "'yes'", methods.Refused, "read problem: read context: json: cannot unmarshal array"},
		"another label": {choice(reviewed, ""), "'maybe'", methods.Failed, `"maybe" is not among the verdicts no, yes`},
		"undefined":     {choice(reviewed, ""), "context['x']", methods.Failed, "KeyError"},
	} {
		a, _ := solve(t, c.problem, verdicts(t, c.formula))
		if a.Outcome != c.outcome || a.Value != nil || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s: answer %s %s %s, want %q", name, a.Value, a.Outcome, a.Reason, c.reason)
		}
	}
	p := choice(reviewed, "")
	p.Answer.Labels = []string{"yes"}
	if a, _ := solve(t, p, verdicts(t, "'yes'")); a.Outcome != methods.Refused || !strings.Contains(a.Reason, "a choice needs two labels or more, not 1") {
		t.Errorf("answer %s %s", a.Outcome, a.Reason)
	}
}

// Compiling a choice shows paths and no values, so that one seed serves all
// contexts of a form.
func TestChoicesShareASeed(t *testing.T) {
	h := methodtest.NewHost(verdicts(t, "'no'"))
	for _, city := range []string{"Rome", "Oslo"} {
		if _, err := generalanot.New().Solve(t.Context(), choice(strings.Replace(reviewed, "Rome", city, 1), ""), h); err != nil {
			t.Fatal(err)
		}
	}
	log := h.Transcript()
	if n := strings.Count(strings.Join(paths(log), " "), "compile"); n != 1 {
		t.Errorf("compiled %d times", n)
	}
	prompt := log.Calls[slices.Index(paths(log), "compile")].Request.Messages[0].Content
	if !strings.Contains(prompt, "context['restaurant']['city']: str\n") || strings.Contains(prompt, "Oslo") || strings.Contains(prompt, "Alba") {
		t.Errorf("prompt\n%s", prompt)
	}
}

func TestChoiceContract(t *testing.T) {
	methodtest.Run(t, generalanot.New(), methodtest.Case{Name: "choice", Problem: choice(reviewed, ""), Model: verdicts(t, "'yes' if extractions else 'no'")})
}
