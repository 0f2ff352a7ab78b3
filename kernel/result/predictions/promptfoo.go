package predictions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
	"noema/methods"
	"noema/methods/reply"
)

// promptfooHead is how the JSON output of promptfoo begins.
var promptfooHead = regexp.MustCompile(`^(\x{feff})?\s*\{\s*"evalId"\s*:`)

// promptfooResult is what is read of one result: a test of a prompt with a provider.
type promptfooResult struct {
	Test      int `json:"testIdx"`
	Vars      map[string]json.RawMessage
	Prompt    struct{ Raw, Label string }
	Provider  struct{ ID string }
	Success   bool
	Score     float64
	Named     map[string]float64 `json:"namedScores"`
	Failure   int                `json:"failureReason"` // 2 where the provider failed, and not an assertion
	Error     string
	Cost      *float64
	LatencyMs float64
	Response  struct {
		Output json.RawMessage
		Tokens *struct{ Prompt, Completion int64 } `json:"tokenUsage"`
	}
}

// eachPromptfoo reads the results of an output of promptfoo, in order.
func eachPromptfoo(path string, each func(promptfooResult, Prediction) error) error {
	raw, err := files.Read(path, files.MaxJSON)
	if err != nil {
		return err
	}
	var out struct {
		Results struct{ Results []json.RawMessage }
	}
	if err := json.Unmarshal(raw, &out); err != nil {
		if json.Valid(raw) {
			err = errors.New("results.results is not a list: promptfoo writes one by --output NAME.json")
		}
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	for i, one := range out.Results.Results {
		row, _ := table.Object(filepath.Base(path), one)
		row.Number, row.Unit = i+1, "result"
		var x promptfooResult
		if err := row.Decode(&x); err != nil {
			return err
		}
		p := Prediction{Place: fmt.Sprintf("%s:%d", row.File, row.Number), ID: strconv.Itoa(x.Test), Usage: unknown}
		if x.Failure == 2 {
			p.Failure = reply.OneLine(x.Error, 300)
		}
		if x.Response.Tokens != nil {
			p.Usage.InputTokens, p.Usage.OutputTokens, p.Usage.Unmetered = x.Response.Tokens.Prompt, x.Response.Tokens.Completion, 0
		}
		p.Usage.Calls, p.Usage.Latency = 1, time.Duration(x.LatencyMs*float64(time.Millisecond))
		if x.Cost != nil {
			p.Usage.Cost, p.Usage.Unpriced = methods.NanoUSD(*x.Cost*1e9), 0
		}
		if err := each(x, p); err != nil {
			return err
		}
	}
	return nil
}

// readPromptfoo reads what one prompt and provider replied.
func (f *File) readPromptfoo(ctx context.Context, path string) error {
	f.Harness = Promptfoo
	return eachPromptfoo(path, func(x promptfooResult, p Prediction) error {
		f.Model, p.Value, p.Questions = x.Provider.ID, x.Response.Output, []string{x.Prompt.Raw}
		for _, raw := range x.Vars {
			if text, err := scalar(raw); err == nil {
				p.Questions = append(p.Questions, text)
			}
		}
		return f.add(ctx, p)
	})
}

// promptfoo reads scores: whether all assertions of a test held, their mean, and named ones.
func (r *results) promptfoo(path string) error {
	return eachPromptfoo(path, func(x promptfooResult, p Prediction) error {
		p.Scores = map[string]float64{"pass": map[bool]float64{true: 1}[x.Success], "score": x.Score}
		for name, v := range x.Named {
			p.Scores[name] = v
		}
		if vars, err := json.Marshal(x.Vars); err == nil {
			p.Questions = []string{string(vars)}
		}
		return r.add(origin{Promptfoo, reply.OneLine(x.Prompt.Label, 60), x.Provider.ID, ""}, p, false)
	})
}
