package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"noema/methods"
	"noema/methods/reply"
)

// The prompts of proposals and judgements; see Version.
const (
	nextPrompt = "The steps above, if any, are the beginning of a solution. Propose up to %d different steps that could come next. " +
		"A step is one line: one small operation or finding, its result, and what is then left to work with. " +
		"If the steps lead to the answer, the one next step is the line \"Answer: %s\".\n" +
		"Reply with one JSON object only: {\"next\": [\"step\", \"another step\"]}\n"
	valuePrompt = "Do not solve this anew. Judge the steps above: are they right, and can they lead to the right answer? " +
		"\"sure\" if they do or must, \"likely\" if they may, \"impossible\" if something is wrong or they lead nowhere.\n" +
		"Reply with one JSON object only: {\"value\": \"sure\"}\n"
	votePrompt = "Compare the numbered solutions above, which may be unfinished. Which is right, or the most likely to become right?\n" +
		"Reply with one JSON object only: {\"best\": number}\n"
	faultsPrompt = "Check the solution above against the question, step by step. List what is wrong in it, each with what it should be. If all is right, the list is empty.\n" +
		"Reply with one JSON object only: {\"faults\": [\"what is wrong\"]}\n"
)

// maxFaults bounds a critique.
const maxFaults = 10

// Verdict counts how a text was judged.
type Verdict struct{ Sure, Likely, Impossible int }

// Value is the sum of the judgements on the scale of Yao et al. 2023: sure 20,
// likely 1, impossible 0.001.
func (v Verdict) Value() float64 {
	return 20*float64(v.Sure) + float64(v.Likely) + 0.001*float64(v.Impossible)
}

// Share is the mean of the judgements on a scale from 0 to 1, where likely is a half;
// 0 without any.
func (v Verdict) Share() float64 {
	if n := v.Sure + v.Likely + v.Impossible; n > 0 {
		return (float64(v.Sure) + float64(v.Likely)/2) / float64(n)
	}
	return 0
}

// Value has the model judge steps or a whole solution, votes times; the first at
// temperature 0 if there is but one. A judgement that cannot be read does not count.
func (t *Trial) Value(ctx context.Context, path, text string, votes int, temperature float64) (v Verdict, err error) {
	said := make([]string, votes)
	err = Each(votes, func(i int) error {
		r := t.judgement(path, i, votes, temperature, valuePrompt, "steps", text)
		r.Schema = &methods.Schema{Name: "value", JSON: Encode(Object(map[string]any{
			"value": map[string]any{"type": "string", "enum": []string{"sure", "likely", "impossible"}},
		}))}
		return t.judge(ctx, r, func(raw json.RawMessage) error {
			var body struct{ Value string }
			err := json.Unmarshal(raw, &body)
			said[i] = body.Value
			return err
		})
	})
	for _, word := range said {
		switch word {
		case "sure":
			v.Sure++
		case "likely":
			v.Likely++
		case "impossible":
			v.Impossible++
		}
	}
	return v, err
}

// Values are the [Verdict.Value] of several texts, judged at the same time; the path of
// text i is path/vI from 1.
func (t *Trial) Values(ctx context.Context, path string, texts []string, votes int, temperature float64) ([]float64, error) {
	all := make([]float64, len(texts))
	err := Each(len(texts), func(i int) error {
		v, err := t.Value(ctx, fmt.Sprintf("%s/v%d", path, i+1), texts[i], votes, temperature)
		all[i] = v.Value()
		return err
	})
	return all, err
}

// Vote has the model choose one of several texts, votes times, and counts the votes of
// each. A vote that cannot be read does not count.
func (t *Trial) Vote(ctx context.Context, path string, texts []string, votes int, temperature float64) ([]float64, error) {
	said, counts := make([]int, votes), make([]float64, len(texts))
	numbers := reply.InOrder(len(texts))
	err := Each(votes, func(i int) error {
		r := t.judgement(path, i, votes, temperature, votePrompt, "solutions", texts...)
		r.Schema = &methods.Schema{Name: "vote", JSON: Encode(Object(map[string]any{"best": map[string]any{"type": "integer", "enum": numbers}}))}
		return t.judge(ctx, r, func(raw json.RawMessage) error {
			var body struct{ Best int }
			err := json.Unmarshal(raw, &body)
			said[i] = body.Best
			return err
		})
	})
	for _, n := range said {
		if slices.Contains(numbers, n) {
			counts[n-1]++
		}
	}
	return counts, err
}

// Wins compares every two of the texts in both orders, by one vote each, and counts the
// wins of each.
func (t *Trial) Wins(ctx context.Context, path string, texts []string) ([]float64, error) {
	n := len(texts)
	won := make([][]float64, n*n)
	err := Each(n*n, func(i int) (err error) {
		if a, b := i/n, i%n; a != b {
			won[i], err = t.Vote(ctx, fmt.Sprintf("%s/%d-%d", path, a+1, b+1), []string{texts[a], texts[b]}, 1, 0)
		}
		return err
	})
	wins := make([]float64, n)
	for i, votes := range won {
		if votes != nil {
			wins[i/n] += votes[0]
			wins[i%n] += votes[1]
		}
	}
	return wins, err
}

// Faults has the model list what is wrong with a solution; none if all is right, or if
// no reply could be read.
func (t *Trial) Faults(ctx context.Context, path, solution string) ([]string, error) {
	r := t.Request(path, methods.Ask(t.Prompt(faultsPrompt, t.Show(path, "solution", solution)))...)
	faults, err := t.list(ctx, t.judging(r), "faults", maxFaults)
	if t.Lost(ctx, path, err) {
		return nil, nil
	}
	if err == nil {
		t.Emit(path, methods.StepResult, 1, faults, "%d faults", len(faults))
	}
	return faults, err
}

// judgement is a request for one of several judgements, each with a path of its own.
func (t *Trial) judgement(path string, i, votes int, temperature float64, instruction, tag string, texts ...string) methods.Request {
	if votes == 1 {
		temperature = 0
	} else {
		path = fmt.Sprintf("%s/n%d", path, i+1)
	}
	return t.judging(t.drawn(t.Request(path, methods.Ask(t.Prompt(instruction, t.Show(path, tag, texts...)))...), i, temperature))
}

// judge asks for a judgement, which the method can go on without.
func (t *Trial) judge(ctx context.Context, r methods.Request, read func(json.RawMessage) error) error {
	_, _, err := reply.JSON(ctx, t.Host, r, read, t.Patience())
	if t.Lost(ctx, r.Path, err) {
		return nil
	}
	return err
}
