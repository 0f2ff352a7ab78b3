package python_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
	"noema/methods/methodtest"
	"noema/plugins"
)

// example opens the tree of thoughts as a user's plugin folder.
func example(t *testing.T) *plugins.Plugin {
	t.Helper()
	src, err := plugins.At("testdata/tree_of_thoughts")
	if err != nil {
		t.Fatal(err)
	}
	if src.Name != "tree-of-thoughts" || src.Command[0] != "python3" {
		t.Fatalf("manifest = %+v", src)
	}
	p, err := openHost(t).Open(t.Context(), withPython(t, src))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// player is a model that lists every move of Game of 24 and judges states by
// nothing more than their size.
func player(_ context.Context, r methods.Request) (methods.Completion, error) {
	prompt := strings.TrimSpace(r.Messages[0].Content)
	left := strings.Fields(prompt[strings.LastIndex(prompt, ":")+1:])
	var reply strings.Builder
	if strings.HasPrefix(prompt, "Game of 24: list next moves.") {
		for i, a := range left {
			for k, b := range left {
				for _, sign := range []string{"+", "-", "*", "/"} {
					if i != k {
						fmt.Fprintf(&reply, "%s %s %s = …\n", a, sign, b)
					}
				}
			}
		}
	} else {
		sum := new(big.Rat)
		for _, n := range left {
			v, ok := new(big.Rat).SetString(n)
			if !ok {
				return methods.Completion{}, fmt.Errorf("the prompt shows %q as a number", n)
			}
			sum.Add(sum, v)
		}
		reply.WriteString("They add up to " + sum.RatString() + ".\n" + map[bool]string{true: "likely", false: "impossible"}[sum.Sign() > 0])
	}
	return methods.Completion{Text: reply.String(), Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1}}, nil
}

func game24Case() methodtest.Case {
	return methodtest.Case{
		Name: "game24",
		Problem: methods.Problem{
			ID: "game24-0001", Query: "Make 24 from the numbers 1, 4 and 6. Use each of them exactly once, with +, -, *, / and parentheses.",
			Answer: methods.AnswerSpec{Kind: methods.Text}, Seed: 20260401, Options: []byte(`{"breadth":30,"width":30}`),
		},
		Model: methodtest.ModelFunc(player),
	}
}

func TestTreeOfThoughtsKeepsTheContract(t *testing.T) {
	t.Parallel()
	p := example(t)
	cases := []methodtest.Case{game24Case()}
	for _, c := range methodtest.Cases(p.Describe()) { // which are word problems to it
		if c.Problem.Answer.Kind == methods.Number {
			cases = append(cases, c)
		}
	}
	methodtest.Run(t, p, cases...)
}

func TestTreeOfThoughtsPlays(t *testing.T) {
	t.Parallel()
	p, c := example(t), game24Case()
	c.Problem.Query = "Make 24 from the numbers 1, 1, 4 and 6. Use each of them exactly once, with +, -, *, / and parentheses."
	c.Problem.Options = []byte(`{"breadth":200,"width":100}`)
	h := methodtest.NewHost(c.Model)
	a, err := p.Solve(t.Context(), c.Problem, h)
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.Text()
	if err != nil || a.Outcome != methods.Answered {
		t.Fatalf("answer = %+v, %v", a, err)
	}
	if err := score.Game24(text, []int{1, 1, 4, 6}); err != nil {
		t.Error(err)
	}
	if len(a.Evidence) != 3 {
		t.Errorf("evidence = %+v, want the three moves", a.Evidence)
	}
	calls := h.Transcript().Calls
	if first := calls[0].Request; first.Path != "D1/propose/1" || first.Sampling.Seed != c.Problem.Seed {
		t.Errorf("first call = %+v", first)
	}
}
