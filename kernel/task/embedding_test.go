package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// letters embeds a text by how often it has a, b and c.
type letters struct{ fail error }

func (letters) ID() string { return "letters" }

func (l letters) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float64, 3)
		var square float64
		for j := range v {
			v[j] = float64(strings.Count(text, "abc"[j:j+1]))
			square += v[j] * v[j]
		}
		for _, x := range v {
			vectors[i] = append(vectors[i], float32(x/max(1e-9, math.Sqrt(square))))
		}
	}
	return vectors, l.fail
}

// clock is an environment with a tool of its own.
type clock struct{ tool string }

func (c clock) Tools() []methods.ToolSpec { return []methods.ToolSpec{{Name: c.tool}} }

func (c clock) Call(_ context.Context, call methods.ToolCall) (methods.ToolResult, error) {
	return methods.ToolResult{Content: "noon by " + call.Name}, nil
}

func embedded(t *testing.T, env task.Environment, e task.Embedder) *task.Task {
	t.Helper()
	tk, err := task.WithEmbedder(&task.Task{Name: "t", Version: "1", Environment: env}, e, false)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func TestSimilarity(t *testing.T) {
	for name, env := range map[string]task.Environment{"alone": nil, "beside others": clock{"time"}} {
		tk := embedded(t, env, letters{})
		specs := tk.Environment.Tools()
		if last := specs[len(specs)-1]; last.Name != task.SimilarityTool || !last.Pure || !json.Valid(last.Parameters) || !json.Valid(last.Result) {
			t.Errorf("%s: tools %+v", name, specs)
		}
		r, err := tk.Environment.Call(t.Context(), methods.ToolCall{Name: task.SimilarityTool, Arguments: json.RawMessage(`{"queries":["a","ab"],"texts":["aa","b","c",""]}`)})
		if want := `{"similarity":[[1,0,0,0],[0.707107,0.707107,0,0]]}`; err != nil || r.IsError || r.Content != want {
			t.Errorf("%s: %+v, %v, want %s", name, r, err, want)
		}
		r, err = tk.Environment.Call(t.Context(), methods.ToolCall{Name: "time"})
		if env == nil && !errors.Is(err, methods.ErrUnknownTool) || env != nil && r.Content != "noon by time" {
			t.Errorf("%s: another tool gives %+v, %v", name, r, err)
		}
	}
}

func TestSimilarityRefuses(t *testing.T) {
	tk := embedded(t, nil, letters{})
	many := strings.Repeat(`"x",`, 1000) + `"x"`
	for args, want := range map[string]string{
		`{}`:                "0 queries and 0 texts: want 1 to 100 and 1 to 1000",
		`{"queries":["a"]}`: "1 queries and 0 texts",
		`{"queries":"a"}`:   "read arguments",
		`{"query":["a"]}`:   "unknown field",
		``:                  "read arguments",
		`{"queries":["a"],"texts":[` + many + `]}`: "1001 texts",
	} {
		r, err := tk.Environment.Call(t.Context(), methods.ToolCall{Name: task.SimilarityTool, Arguments: json.RawMessage(args)})
		if err != nil || !r.IsError || !strings.Contains(r.Content, want) {
			t.Errorf("%.40s: %+v, %v, want %q", args, r, err, want)
		}
	}
	fail := errors.New("no memory")
	tk = embedded(t, nil, letters{fail})
	if _, err := tk.Environment.Call(t.Context(), methods.ToolCall{Name: task.SimilarityTool, Arguments: json.RawMessage(`{"queries":["a"],"texts":["b"]}`)}); !errors.Is(err, fail) {
		t.Errorf("a failing model gives %v", err)
	}
}

func TestWithEmbedder(t *testing.T) {
	plain := &task.Task{Name: "t", Version: "1", Environment: clock{"time"}}
	with := embedded(t, clock{"time"}, letters{})
	if plain.Version != "1" || !strings.HasPrefix(with.Version, "1+embeddings=") {
		t.Errorf("versions %q and %q", plain.Version, with.Version)
	}
	if len(plain.Notes) != 0 || len(with.Notes) != 1 || !strings.Contains(with.Notes[0], "compares texts by meaning (embedding model ") {
		t.Errorf("notes %q and %q", plain.Notes, with.Notes)
	}
	a, errA := plain.Digest()
	b, errB := with.Digest()
	if errA != nil || errB != nil || a == b {
		t.Errorf("digests %s and %s (%v, %v)", a, b, errA, errB)
	}
	if _, err := task.WithEmbedder(plain, letters{}, true); err == nil || !strings.Contains(err.Error(), "leave search=hybrid out") {
		t.Errorf("a hybrid search without a search: %v", err)
	}
	if _, err := task.WithEmbedder(&task.Task{Environment: clock{task.SimilarityTool}}, letters{}, false); err == nil || !strings.Contains(err.Error(), "of its own") {
		t.Errorf("two tools of one name: %v", err)
	}
}
