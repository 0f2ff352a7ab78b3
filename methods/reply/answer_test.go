package reply_test

import (
	"noema/methods/methodtest"
	"strings"
	"testing"
	"time"

	"noema/methods"
	"noema/methods/reply"
)

func answerSpecs() []methods.AnswerSpec {
	return []methods.AnswerSpec{
		{Kind: methods.Number}, {Kind: methods.Text}, {Kind: methods.Set}, {Kind: methods.Set, Labels: []string{"a", "b"}},
		{Kind: methods.Choice, Labels: []string{"High", "Very High", "Low", "no", "A"}},
		{Kind: methods.Ranking, N: 5, K: 3}, {Kind: methods.Fields, Names: []string{"a"}},
	}
}

// The rules of plain text, one by one.
func TestPlainText(t *testing.T) {
	number, choice := answerSpecs()[0], answerSpecs()[4]
	for _, c := range []struct {
		spec       methods.AnswerSpec
		text, want string
	}{
		{choice, "very high", `"Very High"`}, {choice, "It is Very High.", `"Very High"`}, {choice, "Very High, or High", ``},
		{choice, "High. High!", `"High"`}, {choice, "It isn't low.", ``}, {choice, "Not bad. I say Low.", `"Low"`}, {choice, "below", ``},
		{choice, "There is no reason.", ``}, {choice, "No, it has none.", ``}, {choice, "No.", `"no"`}, {choice, "the answer is no", `"no"`},
		{choice, "A good one.", ``}, {choice, "(A)", `"A"`}, {choice, "a", `"A"`}, {choice, "I choose A.", `"A"`},
		{choice, "Answer: High because the risk is high", `"High"`}, {choice, "Answer: High or Low", ``}, {choice, "Answer: High is wrong", ``},
		{number, "1 234", `1234`}, {number, "1 234 567.5 km", `1234567.5`}, {number, "rooms 1 234", ``}, {number, "€ 1 234", `1234`},
		{number, "-1 234", `-1234`}, {number, "2024-05-01", ``}, {number, "10-12", ``}, {number, "12 34", ``}, {number, "Q3 gives 42", `42`},
		{number, "Answer: 5, 6", ``}, {number, "Answer: 5 to 6", ``}, {number, "Answer: 12 (of 30)", `12`}, {number, "Answer: 3 + 4 = 7", `7`},
		{number, "Answer: 3\nAnswer: 4", `4`}, {number, `{"answer": 3} so Answer: 4`, `4`}, {number, "{\"answer\": 3}\nAnswer: 4", `4`},
		{number, "Answer: 3\n{\"answer\": 4}", `4`}, {number, `{"a": {"answer": 3}}`, `3`}, {number, `{"thought": "The answer is 9. Or", "answer": 3}`, `3`},
		{number, `{"Answer": 3, "ANSWER": 4}`, ``}, {number, "The answer is one number.", ``}, {number, "[3]", `3`}, {number, "\\boxed{\\text{42}}", `42`},
	} {
		r, err := reply.ReadAnswer(c.text, c.spec, reply.ObjectForm)
		if string(r.Answer.Value) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %s %v, want %s", c.text, r.Answer.Value, err, c.want)
		}
	}
}

// A hostile reply costs little, whatever is asked for.
func TestHostileReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, unit := range []string{"{", "[", `{"answer":`, "'", "9 ", "High ", "Answer:\n", `\boxed{`, "#### \n", "the answer is 3. ", `{"answer": x}`, "1,", "```"} {
		text := strings.Repeat(unit, 100_000/len(unit))
		for _, spec := range answerSpecs() {
			if took := methodtest.CPU(func() { _, _ = reply.ReadAnswer(text, spec, reply.LineForm) }); took > 5*time.Second {
				t.Errorf("%q for a %s took %v", unit, spec.Kind, took)
			}
		}
	}
}

// Whatever is read passes for an answer.
func FuzzReadAnswer(f *testing.F) {
	for _, s := range []string{`{"answer": "1 234"}`, "Answer: High", "['a', 'b']", "#### 5", `\boxed{[1, 2]}`, "{'a': None}", "The answer is 3.\n{\"Answer\": [2]}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, spec := range answerSpecs() {
			for _, form := range []reply.Form{reply.ObjectForm, reply.TurnForm, reply.LineForm} {
				r, err := reply.ReadAnswer(s, spec, form)
				if err != nil {
					continue
				}
				if err := spec.Check(r.Answer); err != nil {
					t.Errorf("%s of %q: %v", spec.Kind, s, err)
				}
			}
		}
	})
}
