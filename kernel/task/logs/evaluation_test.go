package logs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/engineplanner"
	"noema/methods/methodtest"
)

// toolbox is the environment as a method reaches it.
type toolbox struct{ Environment }

func (b toolbox) CallTool(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	return b.Call(ctx, c)
}

// TestEvaluationsOfTheSeed gives Engine Planner every evaluation that seed 004 shows, each
// with every choice of its facts left out. All run but those without a fact that their
// type cannot do without, and what a count counts is what the facts say.
func TestEvaluationsOfTheSeed(t *testing.T) {
	rows := generate(Options{Rows: 600})
	e := environment(t, string(encode(rows)))
	about := contextOf(Domain(), encode(rows))
	raw, err := os.ReadFile("testdata/seed004.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for line := range strings.Lines(string(raw)) {
		for less := range 1 << 5 {
			var given map[string]any
			if err := json.Unmarshal([]byte(line), &given); err != nil {
				t.Fatal(err)
			}
			keys := slices.DeleteFunc(slices.Sorted(maps.Keys(given)), func(k string) bool { return k == "query_type" })
			if less >= 1<<len(keys) {
				break
			}
			for i, key := range keys {
				if less&(1<<i) != 0 {
					delete(given, key)
				}
			}
			tried++
			reply, _ := json.Marshal(given)
			host := methodtest.NewHost(methodtest.Reply(string(reply)), methodtest.WithTools(toolbox{e}))
			a, err := engineplanner.New().Solve(t.Context(), methods.Problem{
				ID: "1", Query: "which?", Context: about, Answer: methods.AnswerSpec{Kind: methods.Number}, Tools: e.Tools(),
			}, host)
			if err != nil {
				t.Fatal(err)
			}
			kind := given["query_type"]
			if given["entity_types"] == nil && kind == "find_relationship" || given["filters"] == nil && kind == "filter" {
				if !strings.Contains(a.Reason, "needs") {
					t.Errorf("%s: %s (%s), want a fact that is missing", reply, a.Outcome, a.Reason)
				}
				continue
			}
			if a.Outcome != methods.Answered {
				t.Errorf("%s: %s (%s)", reply, a.Outcome, a.Reason)
			}
			if want := counted(rows, given); want >= 0 && string(a.Value) != fmt.Sprint(want) {
				t.Errorf("%s: %s, want %d", reply, a.Value, want)
			}
		}
	}
	if tried != 4*32+16+1+2 {
		t.Errorf("%d evaluations were tried", tried)
	}
}

// counted is how many records an evaluation of a type that counts or filters them means;
// -1 for the others.
func counted(rows []row, given map[string]any) (n int) {
	kind := given["query_type"]
	if kind == "find_relationship" {
		return -1
	}
	for _, r := range rows {
		hit := given["search_value"] == nil || r.rpd == given["search_value"]
		if given["filters"] != nil && (kind == "count" || kind == "filter") {
			hit = hit && r.severity == "ERROR"
		}
		if hit {
			n++
		}
	}
	return n
}
