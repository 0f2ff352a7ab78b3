package predictions

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	Test      int             `json:"testIdx"`
	Case      json.RawMessage `json:"testCase"`
	Pair      int             `json:"promptIdx"` // of prompt and provider
	Vars      map[string]json.RawMessage
	Prompt    struct{ Raw, Label string }
	Provider  struct{ ID, Label string }
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

	place, same    string // same is what equal tests have in common
	prompt, answer string // names of the prompt, and of the provider
}

// isPromptfoo reports whether a row is a line of promptfoo's JSON Lines.
func isPromptfoo(first table.Row) bool { return first.Has("testIdx", "promptIdx", "failureReason") }

// promptfooJSON gives the results of an output of promptfoo, in order.
func promptfooJSON(path string) func(func(table.Row) error) error {
	return func(each func(table.Row) error) error {
		raw, err := files.Read(path, files.MaxJSON)
		if err != nil {
			return err
		}
		var out struct {
			Results struct{ Results []json.RawMessage }
		}
		if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\ufeff")), &out); err != nil {
			if json.Valid(raw) {
				err = errors.New("results.results is not a list: promptfoo writes one by --output NAME.json")
			}
			return fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		for i, one := range out.Results.Results {
			row, _ := table.Object(filepath.Base(path), one)
			row.Number, row.Unit = i+1, "result"
			if err := each(row); err != nil {
				return err
			}
		}
		return nil
	}
}

// places are the numbers under each key, in order.
type places map[string][]int

func (p places) add(key string, n int) {
	if i, found := slices.BinarySearch(p[key], n); !found {
		p[key] = slices.Insert(p[key], i, n)
	}
}

// eachPromptfoo reads results, in order. Tests that are the same, as --repeat makes them, are
// epochs of the first; pairs of prompt and provider that are called alike are numbered.
func eachPromptfoo(rows func(func(table.Row) error) error, each func(promptfooResult, Prediction) error) error {
	var all []promptfooResult
	tests, pairs := places{}, places{}
	err := rows(func(row table.Row) error {
		var x promptfooResult
		if err := row.Decode(&x); err != nil {
			return err
		}
		x.place, x.same = fmt.Sprintf("%s:%d", row.File, row.Number), cmp.Or(string(x.Case), strconv.Itoa(x.Test))
		x.prompt, x.answer = reply.OneLine(x.Prompt.Label, 60), cmp.Or(x.Provider.Label, x.Provider.ID)
		tests.add(x.same, x.Test)
		pairs.add(x.name(), x.Pair)
		all = append(all, x)
		return nil
	})
	for i := 0; i < len(all) && err == nil; i++ {
		x, p := all[i], all[i].prediction()
		p.ID, p.Epoch = strconv.Itoa(tests[x.same][0]), slices.Index(tests[x.same], x.Test)
		if n := slices.Index(pairs[x.name()], x.Pair); n > 0 {
			x.prompt += fmt.Sprintf(" (%d)", n+1)
		}
		err = each(x, p)
	}
	return err
}

func (x promptfooResult) name() string { return x.prompt + " · " + x.answer }

// prediction is what is read of a result alike for answers and scores.
func (x promptfooResult) prediction() Prediction {
	p := Prediction{Place: x.place, Usage: unknown}
	if x.Failure == 2 {
		p.Failure = reply.OneLine(cmp.Or(x.Error, "the provider failed"), 300)
	}
	if x.Response.Tokens != nil {
		p.Usage.InputTokens, p.Usage.OutputTokens, p.Usage.Unmetered = x.Response.Tokens.Prompt, x.Response.Tokens.Completion, 0
	}
	p.Usage.Calls, p.Usage.Latency = 1, time.Duration(x.LatencyMs*float64(time.Millisecond))
	if x.Cost != nil {
		p.Usage.Cost, p.Usage.Unpriced = methods.NanoUSD(*x.Cost*1e9), 0
	}
	return p
}

// readPromptfoo reads what one prompt and provider replied: that of the filter, if there are several.
func (f *File) readPromptfoo(ctx context.Context, rows func(func(table.Row) error) error, filter string) error {
	f.Harness = Promptfoo
	var has []string
	err := eachPromptfoo(rows, func(x promptfooResult, p Prediction) error {
		name := x.name()
		if !slices.Contains(has, name) {
			has = append(has, name)
		}
		if filter != "" && filter != name || filter == "" && len(has) > 1 {
			return nil // told below, where all are known
		}
		f.Model, p.Value, p.Questions = x.answer, x.Response.Output, []string{x.Prompt.Raw}
		for _, raw := range x.Vars {
			if text, err := scalar(raw); err == nil {
				p.Questions = append(p.Questions, text)
			}
		}
		return f.add(ctx, p)
	})
	switch {
	case err != nil:
	case filter == "" && len(has) > 1:
		err = fmt.Errorf("%s has replies to several prompts or of several providers, %s: name one, as in --filter %s", f.Name, strings.Join(has, " and "), files.Word(has[0]))
	case filter != "" && !slices.Contains(has, filter):
		err = fmt.Errorf("%s has no prompt and provider %q: it has %s", f.Name, filter, strings.Join(has, ", "))
	}
	return err
}

// promptfoo reads scores: whether all assertions of a test held, their mean, and named ones.
func (r *results) promptfoo(rows func(func(table.Row) error) error) error {
	return eachPromptfoo(rows, func(x promptfooResult, p Prediction) error {
		if p.Failure == "" { // what did not reply was not judged
			p.Scores = map[string]float64{"pass": map[bool]float64{true: 1}[x.Success], "score": x.Score}
			maps.Copy(p.Scores, x.Named)
		}
		if vars, err := json.Marshal(x.Vars); err == nil {
			p.Questions = []string{string(vars)}
		}
		return r.add(origin{Promptfoo, x.prompt, x.answer, ""}, p, true)
	})
}
