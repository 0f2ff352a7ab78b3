package generalanot_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
	"noema/methods/methodtest"
)

// alike is a tool similarity by which a text that has one of the words is near
// to any query but the first, and others are far.
func alike(words ...string) methodtest.ToolFunc {
	return func(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
		var args struct{ Queries, Texts []string }
		if err := json.Unmarshal(c.Arguments, &args); err != nil || c.Name != "similarity" {
			return methods.ToolResult{}, fmt.Errorf("%w %q (%v)", methods.ErrUnknownTool, c.Name, err)
		}
		rows := make([][]float64, len(args.Queries))
		for i := range rows {
			rows[i] = make([]float64, len(args.Texts))
			for j, text := range args.Texts {
				rows[i][j] = -0.25
				if i > 0 && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
					rows[i][j] = 0.5
				}
			}
		}
		raw, err := json.Marshal(map[string]any{"similarity": rows})
		return methods.ToolResult{Content: string(raw)}, err
	}
}

func semantic(options string) methods.Problem {
	p := problem(options)
	p.Tools = []methods.ToolSpec{{Name: "similarity", Pure: true}}
	return p
}

func TestSemanticFilter(t *testing.T) {
	for options, want := range map[string]string{
		`{"filter":"semantic"}`:                   "r4 r8",
		`{"filter":"semantic","threshold":0.5}`:   "r4 r8",
		`{"filter":"semantic","threshold":0.51}`:  "",
		`{"filter":"semantic","threshold":-0.25}`: "r1 r2 r3 r4 r5 r6 r7 r8",
		`{"filter":"union"}`:                      "r1 r3 r4 r5 r6 r7 r8",
		`{"filter":"union","threshold":1}`:        "r1 r3 r4 r5 r6 r7",
		`{"filter":"words"}`:                      "r1 r3 r4 r5 r6 r7",
	} {
		h := methodtest.NewHost(working(t), methodtest.WithTools(alike("hospital", "chairs")))
		if _, err := generalanot.New().Solve(t.Context(), semantic(options), h); err != nil {
			t.Fatal(err)
		}
		log := h.Transcript()
		var picked []string
		for _, path := range paths(log) {
			if number, ok := strings.CutPrefix(path, "extract/"); ok {
				picked = append(picked, number)
			}
		}
		if got := strings.Join(picked, " "); got != want {
			t.Errorf("%s picks %s, want %s", options, got, want)
		}
		if byWords := strings.Contains(options, "words"); byWords != (len(log.Tools) == 0) {
			t.Errorf("%s: %d tool calls", options, len(log.Tools))
		}
	}
}

// Reviews of all items are compared at once.
func TestSemanticFilterOfItems(t *testing.T) {
	p := ranking(places, `{"filter":"semantic"}`)
	p.Tools = []methods.ToolSpec{{Name: "similarity", Pure: true}}
	h := methodtest.NewHost(sweets(text(t, score(t))), methodtest.WithTools(alike("Loud", "sweets")))
	a, err := generalanot.New().Solve(t.Context(), p, h)
	if err != nil || a.Outcome != methods.Answered {
		t.Fatal(err, a)
	}
	log := h.Transcript()
	if got := paths(log); len(log.Tools) != 1 || !slices.Equal(got, []string{"extract/i1/r2", "extract/i4/r1", "compile"}) {
		t.Errorf("calls %v, %d tool calls", got, len(log.Tools))
	}
}

// TestSemanticCalls: many reviews and keywords are asked in parts, each once.
func TestSemanticCalls(t *testing.T) {
	s := seed(t)
	s.FilterKeywords = nil
	for i := range 60 {
		s.FilterKeywords = append(s.FilterKeywords, fmt.Sprint("keyword ", i))
	}
	var list []review
	for i := range 230 {
		list = append(list, review{text: fmt.Sprint("review ", i)})
	}
	list[210].text = "hospital"
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	options, err := json.Marshal(map[string]string{"filter": "semantic", "seed": string(raw)})
	if err != nil {
		t.Fatal(err)
	}
	p := semantic(string(options))
	p.Context = contextOf(list)
	h := methodtest.NewHost(working(t), methodtest.WithTools(alike("hospital")))
	if _, err := generalanot.New().Solve(t.Context(), p, h); err != nil {
		t.Fatal(err)
	}
	log := h.Transcript()
	seen := map[string]int{}
	for _, use := range log.Tools {
		var args struct{ Queries, Texts []string }
		if err := json.Unmarshal(use.Call.Arguments, &args); err != nil {
			t.Fatal(err)
		}
		for _, q := range args.Queries {
			for _, text := range args.Texts {
				seen[q+"/"+text]++
			}
		}
	}
	if len(log.Tools) != 4 || len(seen) != 61*230 {
		t.Errorf("%d calls compare %d pairs, want 4 and %d", len(log.Tools), len(seen), 61*230)
	}
	if got := paths(log); !slices.Equal(got, []string{"extract/r211"}) {
		t.Errorf("calls %v", got)
	}
}

func TestSemanticFaults(t *testing.T) {
	says := func(r methods.ToolResult, err error) methodtest.ToolFunc {
		return func(context.Context, methods.ToolCall) (methods.ToolResult, error) { return r, err }
	}
	for want, c := range map[string]struct {
		p    methods.Problem
		tool methodtest.ToolFunc
	}{
		`no tool "similarity": give it an embedding model`: {problem(`{"filter":"semantic"}`), alike()},
		`too many texts`:                                         {semantic(`{"filter":"union"}`), says(methods.ToolResult{Content: "too many texts", IsError: true}, nil)},
		`read the result of tool "similarity"`:                   {semantic(`{"filter":"union"}`), says(methods.ToolResult{Content: "0.5"}, nil)},
		`rows of 8 numbers from -1 to 1`:                         {semantic(`{"filter":"union"}`), says(methods.ToolResult{Content: `{"similarity":[[0.5]]}`}, nil)},
		`option "threshold": 1.5 is too large: the maximum is 1`: {semantic(`{"filter":"union","threshold":1.5}`), alike()},
		`the disk is gone`:                                       {semantic(`{"filter":"union"}`), says(methods.ToolResult{}, errors.New("the disk is gone"))},
	} {
		h := methodtest.NewHost(working(t), methodtest.WithTools(c.tool))
		if _, err := generalanot.New().Solve(t.Context(), c.p, h); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	h := methodtest.NewHost(working(t), methodtest.WithTools(says(methods.ToolResult{}, methods.ErrBudget)))
	if a, err := generalanot.New().Solve(t.Context(), semantic(`{"filter":"semantic"}`), h); err != nil || a.Outcome != methods.OverBudget {
		t.Errorf("at the budget: %+v, %v", a, err)
	}
}

func TestSemanticContract(t *testing.T) {
	methodtest.Run(t, generalanot.New(), methodtest.Case{
		Name: "semantic", Problem: semantic(`{"filter":"union"}`), Model: working(t), Tools: alike("hospital"),
	})
}
