package score

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"noema/methods"
	"noema/methods/reply"
)

// TestTarget is the target of a problem whose answer is a program in Python: it is right if
// it passes tests.
type TestTarget struct {
	Before string   `json:"before,omitempty"` // what the question gives of the program, which the answer goes on with or defines again
	Names  []string `json:"names"`            // what of the program the tests use
	Tests  string   `json:"tests"`            // asserts
}

// testsScorer judges programs. It makes no verdict on an answer: who runs trials runs the
// tests, and gives the accuracy, 1 or 0.
type testsScorer struct{}

// Score implements [Scorer].
func (testsScorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	if _, err := ParseTests(target); err != nil {
		return Score{}, err
	}
	if err := spec.Check(answer); err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	if !hasValue(answer) || answer.Outcome != methods.Answered {
		return Score{Values: map[string]float64{Accuracy: 0}}, nil
	}
	return Score{}, nil
}

// ParseTests reads the target of a problem that asks for a program.
func ParseTests(target json.RawMessage) (t TestTarget, err error) {
	if err := json.Unmarshal(target, &t); err != nil || t.Tests == "" || len(t.Names) == 0 {
		return t, fmt.Errorf(`score: the target of tests %.80q must be {"names": […], "tests": "…"}`, target)
	}
	return t, nil
}

// Program is the program that an answer is: its last block of code, or all of it, behind
// what the question gives. A body alone may have lost the indentation of its first line.
func (t TestTarget) Program(answer string) string {
	code := reply.Program(answer)
	body := regexp.MustCompile(`^(?:[ \t]*\r?\n)*[ \t]+\S`).MatchString(answer)
	switch {
	case t.Before == "":
		return code
	case body && !strings.Contains(answer, "```"):
		return t.Before + answer
	case regexp.MustCompile(`(?m)^(?:async )?(?:def|class) ` + regexp.QuoteMeta(t.Names[0]) + `\b`).MatchString(code):
		return t.Before + "\n" + code
	}
	return t.Before + "    " + code
}
