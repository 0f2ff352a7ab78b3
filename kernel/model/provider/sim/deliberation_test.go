package sim_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/model/provider/sim"
	"noema/kernel/task/arithmetic"
	"noema/methods"
	"noema/methods/deliberate"
	"noema/methods/methodtest"
)

// puzzleProblem is a Game of 24 as its task words it.
func puzzleProblem(numbers []int) methods.Problem {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
	at := strings.LastIndex(list, ", ")
	return methods.Problem{
		ID: "p", Seed: 1, Answer: methods.AnswerSpec{Kind: methods.Text},
		Query: "Make 24 from the numbers " + list[:at] + " and " + list[at+2:] + ". Use each of them exactly once, with +, -, *, / and parentheses. " +
			"The answer is the expression alone, in the form of (1 + 2) * 8.",
	}
}

// withoutTools are the methods that work without tools.
func withoutTools() map[string]methods.Method {
	all := deliberate.All()
	maps.DeleteFunc(all, func(_ string, m methods.Method) bool { return len(m.(methods.Describer).Describe().Tools) > 0 })
	return all
}

// TestPuzzlesAreFound: where no method errs, every puzzle of a list has an answer that
// the task's scorer takes, by every method.
func TestPuzzlesAreFound(t *testing.T) {
	model, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, numbers := range [][]int{{1, 1, 4, 6}, {3, 3, 8, 8}, {1, 5, 5, 5}, {4, 9, 10, 13}, {2, 3, 4}} {
		for name, m := range withoutTools() {
			a, err := m.Solve(t.Context(), puzzleProblem(numbers), &host{Provider: model})
			if err != nil {
				t.Fatal(err)
			}
			text, err := a.Text()
			if err == nil {
				err = score.Game24(text, numbers)
			}
			if err != nil {
				t.Errorf("%s of %v: %v", name, numbers, err)
			}
		}
	}
}

// TestStoriesAreFound: the same for stories of all levels.
func TestStoriesAreFound(t *testing.T) {
	made, err := arithmetic.New(arithmetic.Options{N: 20})
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range withoutTools() {
		for _, s := range made.Samples {
			a, target, h := attempt(t, m, model, nil, s, 1, "")
			if string(a.Value) != string(target) {
				t.Errorf("%s on %s: %s, want %s", name, s.ID, a.Value, target)
			}
			smooth(t, s.ID, a, h)
		}
	}
}

// reply is what the model says to a prompt.
func replied(t *testing.T, m sim.Provider, prompt string) string {
	t.Helper()
	c, err := m.Complete(t.Context(), methods.Request{Messages: methods.Ask(prompt)})
	if err != nil {
		t.Fatal(err)
	}
	return c.Text
}

// TestJudges: a judge without errors tells right work from wrong, in a puzzle by whether
// 24 can be reached; one that always errs says the opposite.
func TestJudges(t *testing.T) {
	always := 1.0
	right, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := sim.New(sim.Options{Judge: &always})
	if err != nil {
		t.Fatal(err)
	}
	made, err := arithmetic.New(arithmetic.Options{N: 1})
	if err != nil {
		t.Fatal(err)
	}
	story := made.Samples[0]
	for _, c := range []struct {
		query, work string
		ok          bool
	}{
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "", true},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "4 * 6 = 24 (left: 1 1 24)", true},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "1 - 1 = 0 (left: 4 6 0)", true},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "4 - 6 = 2 (left: 1 1 2)", false}, // -2
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "1 / 6 = 1/6 (left: 1 4 1/6)", true},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "1 - 4 = -3\n-3 - 6 = -9", false},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "Answer: (6 * 4) + 1 - 1", true},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, "Answer: 6 * 4", false},
		{puzzleProblem([]int{1, 1, 4, 6}).Query, `{"answer": "6 * 4 + 1 - 1"}`, true},
		{story.Problem.Query, "So it is.\nAnswer: " + string(story.Target), true},
		{story.Problem.Query, `{"answer": ` + string(story.Target) + `}`, true},
		{story.Problem.Query, "So it is.\nAnswer: -1", false},
	} {
		value := c.query + "\n\n<steps>\n" + c.work + "\n</steps>\nReply with one JSON object only: {\"value\": \"sure\"}\n"
		faults := c.query + "\n\n<solution>\n" + c.work + "\n</solution>\nReply with one JSON object only: {\"faults\": [\"what\"]}\n"
		for m, ok := range map[sim.Provider]bool{right: c.ok, wrong: !c.ok} {
			want := map[bool]string{true: `{"value":"sure"}`, false: `{"value":"impossible"}`}[ok]
			if got := replied(t, m, value); got != want {
				t.Errorf("%q of %q: %s", c.work, c.query, got)
			}
			if got := replied(t, m, faults); (got == `{"faults":[]}`) != ok {
				t.Errorf("%q of %q: %s", c.work, c.query, got)
			}
		}
	}
}

// TestPuzzlesOfAnySize: whatever numbers and moves a prompt shows, a reply comes soon.
func TestPuzzlesOfAnySize(t *testing.T) {
	m, err := sim.New(sim.Options{Error: 0.3})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	var longest time.Duration
	for range 300 {
		numbers := make([]int, 2+r.IntN(8))
		for i := range numbers {
			numbers[i] = r.IntN([]int{14, 10000}[r.IntN(2)])
		}
		steps := []string{"", "1 + 1 = 2", "99 / 0 = 1", "x", "1 * 1 = 1 (left: )", "= = ="}[r.IntN(6)]
		ends := []string{`{"next": ["step"]}`, `{"value": "sure"}`, "Answer: short text"}[r.IntN(3)]
		var text string
		longest = max(longest, methodtest.CPU(func() {
			text = replied(t, m, puzzleProblem(numbers).Query+"\n\n<steps>\n"+steps+"\n</steps>\nPropose up to 3 steps: "+ends+"\n")
		}))
		if strings.HasPrefix(ends, "{") && len(numbers) < 5 && !json.Valid([]byte(text)) {
			t.Errorf("%v, %q: %s", numbers, steps, text)
		}
	}
	if longest > 5*time.Second {
		t.Errorf("a reply took %v", longest)
	}
	t.Log(longest)
}
