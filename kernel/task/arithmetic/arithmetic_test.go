package arithmetic_test

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/methods"
)

func generate(t testing.TB, o arithmetic.Options) *task.Task {
	t.Helper()
	made, err := arithmetic.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// The reader, which sees the text alone and shares no arithmetic with the
// generator, comes to the right answer of every problem, over many seeds, in
// as many operations as the generator counted.
func TestReaderFindsEveryAnswer(t *testing.T) {
	limits := map[string][2]int{"L1": {1, 2}, "L2": {2, 3}, "L3": {3, 5}, "L4": {4, 6}, "L5": {6, 8}}
	for seed := range 3000 {
		for _, s := range generate(t, arithmetic.Options{N: 1, Level: seed%5 + 1, Seed: uint64(seed)}).Samples {
			story, err := arithmetic.ReadStory(s.Problem.Query)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, s.ID, err)
			}
			answer, err := story.Answer()
			if err != nil || answer != string(s.Target) {
				t.Fatalf("seed %d, %s: read %s, %v, want %s: %s", seed, s.ID, answer, err, s.Target, s.Problem.Query)
			}
			n := len(story.Steps)
			if l := limits[s.Group]; n < l[0] || n > l[1] || strconv.Itoa(n) != s.Metadata["operations"] {
				t.Fatalf("seed %d, %s: %d operations, %s counted: %s", seed, s.ID, n, s.Metadata["operations"], s.Problem.Query)
			}
		}
	}
}

// From level 3 on, whoever divides by the wrong number of the text can meet a
// division by zero.
func TestDivisionByZeroIsReachable(t *testing.T) {
	divides := 0
	for _, s := range generate(t, arithmetic.Options{N: 500}).Samples {
		story, err := arithmetic.ReadStory(s.Problem.Query)
		if err != nil {
			t.Fatal(err)
		}
		for i, step := range story.Steps {
			if step.Op != arithmetic.Divide || s.Group < "L3" {
				continue
			}
			divides++
			wrong := story
			wrong.Steps = append([]arithmetic.Step(nil), story.Steps...)
			for _, n := range story.Numbers {
				if n == "0" {
					wrong.Steps[i].B = arithmetic.Operand{Value: n}
				}
			}
			if _, err := wrong.Value(); err == nil || !strings.Contains(err.Error(), "division by zero") {
				t.Errorf("%s: no 0 to divide by in %v: %v", s.ID, story.Numbers, err)
			}
		}
	}
	if divides < 30 {
		t.Errorf("only %d divisions", divides)
	}
}

func TestTaskIsSound(t *testing.T) {
	made := generate(t, arithmetic.Options{})
	if len(made.Samples) != 100 || made.Config != "level=0&n=100&seed=0" || made.Environment == nil {
		t.Errorf("%d samples, config %s", len(made.Samples), made.Config)
	}
	groups, queries, pronouns, zeros := map[string]int{}, map[string]bool{}, 0, 0
	for _, s := range made.Samples {
		groups[s.Group]++
		queries[s.Problem.Query] = true
		if strings.Contains(s.Problem.Query, " she ") || strings.Contains(s.Problem.Query, "He ") {
			pronouns++
		}
		if strings.Contains(s.Problem.Query, " 0 ") {
			zeros++
		}
		x, ok := new(big.Rat).SetString(string(s.Target))
		if !ok || x.Sign() <= 0 || !json.Valid(s.Target) {
			t.Errorf("%s: target %s", s.ID, s.Target)
		}
		spec := s.Problem.Answer
		sc, err := score.For(spec).Score(spec, methods.Answer{Value: s.Target, Outcome: methods.Answered}, s.Target)
		if v, _ := sc.Get(score.Accuracy); err != nil || v != 1 {
			t.Errorf("%s: the right answer scores %v, %v", s.ID, sc, err)
		}
	}
	if want := map[string]int{"L1": 20, "L2": 20, "L3": 20, "L4": 20, "L5": 20}; !reflect.DeepEqual(groups, want) {
		t.Errorf("groups %v", groups)
	}
	if len(queries) != 100 || pronouns < 10 || zeros < 10 {
		t.Errorf("%d different texts, %d with pronouns, %d with a zero", len(queries), pronouns, zeros)
	}
}

func TestSameOptionsSameTask(t *testing.T) {
	digest := func(o arithmetic.Options) string {
		d, err := generate(t, o).Digest()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	first := digest(arithmetic.Options{N: 40, Seed: 4})
	if again := digest(arithmetic.Options{N: 40, Seed: 4}); again != first {
		t.Error("the same options gave two tasks")
	}
	if other := digest(arithmetic.Options{N: 40, Seed: 5}); other == first {
		t.Error("two seeds gave the same task")
	}
	few, many := generate(t, arithmetic.Options{N: 7, Seed: 4}), generate(t, arithmetic.Options{N: 70, Seed: 4})
	if !reflect.DeepEqual(few.Samples, many.Samples[:7]) {
		t.Error("a larger n changes the problems of a smaller one")
	}
	for _, s := range generate(t, arithmetic.Options{N: 6, Level: 4}).Samples {
		if s.Group != "L4" {
			t.Errorf("%s in a task of level 4", s.ID)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []arithmetic.Options{{N: -1}, {N: 10_001}, {Level: 6}} {
		if _, err := arithmetic.New(o); err == nil {
			t.Errorf("New(%+v) worked", o)
		}
	}
}
