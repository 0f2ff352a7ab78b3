package score

import (
	"encoding/json"
	"fmt"

	"noema/methods"
)

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
