package task

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"noema/methods"
)

// Embedder turns texts into vectors: those of texts of like meaning have a small
// angle between them. It is safe for concurrent use.
type Embedder interface {
	// ID identifies the model by all that changes a vector, its weights
	// included, and by nothing else.
	ID() string
	// Embed returns a vector of length 1 for each text. A text's vector does not
	// depend on the others.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Searcher is an environment whose tools search. WithEmbedder returns one that
// searches by meaning, or, if hybrid is set, by words and meaning together.
type Searcher interface {
	Environment
	WithEmbedder(e Embedder, hybrid bool) (Environment, error)
}

// Preparer is an environment with work to do once before its tools are called,
// which no trial should be charged for. It tells progress as it goes on, if
// that is set.
type Preparer interface {
	Prepare(ctx context.Context, progress func(done, total int)) error
}

// WithEmbedder returns t with an embedding model: where its environment searches,
// it does so by meaning; elsewhere its problems get the tool similarity. The
// model enters the task's version, because other vectors make another task.
func WithEmbedder(t *Task, e Embedder, hybrid bool) (*Task, error) {
	with := *t
	sum := sha256.Sum256([]byte(e.ID()))
	model := hex.EncodeToString(sum[:])[:12]
	with.Version += "+embeddings=" + model
	var note string
	var err error
	s, searches := t.Environment.(Searcher)
	switch {
	case searches && hybrid:
		with.Version += "+hybrid"
		note = "its tools search by words and by meaning"
		with.Environment, err = s.WithEmbedder(e, true)
	case searches:
		note = "its tools search by meaning"
		with.Environment, err = s.WithEmbedder(e, false)
	case hybrid:
		err = errors.New("the tools of the task do not search: leave search=hybrid out")
	default:
		note = "it has a tool that compares texts by meaning"
		with.Environment, err = withTool(t.Environment, similaritySpec(), func(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
			return similar(ctx, e, c)
		})
	}
	if err != nil {
		return nil, fmt.Errorf("give task %q an embedding model: %w", t.Name, err)
	}
	with.Notes = append(slices.Clone(t.Notes), fmt.Sprintf("%s (embedding model %s)", note, model))
	return &with, nil
}

// SimilarityTool is the name of the tool that compares texts by meaning. Its
// arguments are {"queries": […], "texts": […]}, its result is
// {"similarity": [[…], …]}: a row for each query, with the cosine of the angle
// to each text, from -1 to 1.
const SimilarityTool = "similarity"

// What one call may ask.
const (
	maxQueries = 100
	maxTexts   = 1000
)

func similaritySpec() methods.ToolSpec {
	return methods.ToolSpec{
		Name:        SimilarityTool,
		Description: "how alike in meaning texts are to queries: for each query a row with a number for each text, from -1 to 1",
		Parameters: json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{`+
			`"queries":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":%d},`+
			`"texts":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":%d}},`+
			`"required":["queries","texts"],"additionalProperties":false}`, maxQueries, maxTexts)),
		Result: json.RawMessage(`{"type":"object","properties":{"similarity":{"type":"array","items":{"type":"array","items":{"type":"number"}}}},"required":["similarity"]}`),
		Pure:   true,
	}
}

// similar compares texts as the tool similarity does.
func similar(ctx context.Context, e Embedder, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct{ Queries, Texts []string }
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	d.DisallowUnknownFields()
	err := d.Decode(&args)
	switch {
	case err != nil:
		return methods.ToolResult{Content: fmt.Sprintf("%s: read arguments: %v", c.Name, err), IsError: true}, nil
	case len(args.Queries) == 0 || len(args.Queries) > maxQueries || len(args.Texts) == 0 || len(args.Texts) > maxTexts:
		return methods.ToolResult{
			Content: fmt.Sprintf("%s: %d queries and %d texts: want 1 to %d and 1 to %d", c.Name, len(args.Queries), len(args.Texts), maxQueries, maxTexts),
			IsError: true,
		}, nil
	}
	vectors, err := e.Embed(ctx, slices.Concat(args.Queries, args.Texts))
	if err != nil {
		return methods.ToolResult{}, err
	}
	queries, texts := vectors[:len(args.Queries)], vectors[len(args.Queries):]
	rows := make([][]float64, len(queries))
	for i, q := range queries {
		rows[i] = make([]float64, len(texts))
		for j, text := range texts {
			rows[i][j] = math.Round(Cosine(q, text)*1e6) / 1e6
		}
	}
	raw, err := json.Marshal(map[string]any{"similarity": rows})
	return methods.ToolResult{Content: string(raw)}, err
}

// Cosine is the cosine of the angle between two vectors of length 1 and of as
// many numbers. It adds in 64 bits, in order.
func Cosine(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
