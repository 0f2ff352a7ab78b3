package score

import (
	"encoding/json"
	"fmt"

	"noema/methods"
)

// scorers is the table of scorers that tasks name.
func scorers() map[string]Scorer {
	return map[string]Scorer{"game24": game24Scorer{}, "research": researchScorer{}, "booking": bookingScorer{}}
}

// ByName returns the scorer that a task names, for tasks whose answers need
// more than a comparison with the target; an empty name is [For], and a name of
// [Choose] the scorers that a user chose.
func ByName(name string, spec methods.AnswerSpec) (Scorer, error) {
	if name == "" {
		return For(spec), nil
	}
	if s, ok := scorers()[name]; ok {
		return s, nil
	}
	return parseChosen(name)
}

// game24Scorer checks expressions by Game24. The target is {"numbers": […]}.
type game24Scorer struct{}

func (game24Scorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	var puzzle struct{ Numbers []int }
	if err := json.Unmarshal(target, &puzzle); err != nil || len(puzzle.Numbers) == 0 {
		return Score{}, fmt.Errorf("score: game24 target %.80q names no numbers", target)
	}
	if err := spec.Check(answer); err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	if !hasValue(answer) {
		return Score{Values: map[string]float64{Accuracy: 0}}, nil
	}
	expression, err := answer.Text()
	if err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	values := map[string]float64{Accuracy: oneIf(Game24(expression, puzzle.Numbers) == nil)}
	if answer.Outcome != methods.Answered {
		return Score{Values: map[string]float64{Accuracy: 0}, Given: values}, nil
	}
	return Score{Values: values}, nil
}
