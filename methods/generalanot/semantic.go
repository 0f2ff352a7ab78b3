package generalanot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"noema/methods"
)

// similarityTool compares texts by an embedding model. A task has it if it was
// given one; see task.SimilarityTool for arguments and result.
const similarityTool = "similarity"

// What one call of the tool is asked, at most.
const (
	queriesPerCall = 50
	textsPerCall   = 200
)

func (t *trial) filter(ctx context.Context, p *Program) ([]Review, error) {
	all := t.reviews()
	byMeaning := t.opts.Filter == "semantic" || t.opts.Filter == filterUnion
	if !byMeaning || len(p.Seed.FilterKeywords) == 0 {
		how := t.opts.Filter
		if t.Answer.Kind == methods.Choice && len(all) == 1 {
			how = filterNone // one text is the whole material: no keyword may leave it out
		}
		relevant := p.Relevant(&Context{Reviews: all}, how)
		t.filtered(all, relevant, nil)
		return relevant, nil
	}
	near, err := t.similarities(ctx, p.Seed, all)
	if err != nil {
		return nil, fmt.Errorf("filter by meaning: %w", err)
	}
	words := newMatcher(p.Seed.FilterKeywords, filterWords)
	var relevant []Review
	for i, r := range all {
		if near[i] >= t.opts.Threshold || t.opts.Filter == filterUnion && words.matches(r.Text) {
			relevant = append(relevant, r)
		}
	}
	t.filtered(all, relevant, near)
	return relevant, nil
}

// reviews are the texts of all contexts. Those of rankings and choices are
// without the empty ones, which stand for what is not a text.
func (t *trial) reviews() []Review {
	if t.Answer.Kind == methods.Fields {
		return t.contexts[0].Reviews
	}
	var all []Review
	for _, c := range t.contexts {
		for _, r := range c.Reviews {
			if strings.TrimSpace(r.Text) != "" {
				all = append(all, r)
			}
		}
	}
	return all
}

// filtered tells what the filter phase picked, and by which similarities.
func (t *trial) filtered(all, relevant []Review, near []float64) {
	numbers := make([]any, len(relevant))
	for i, r := range relevant {
		numbers[i] = r.N
		if r.item > 0 {
			numbers[i] = r.label()
		}
	}
	data := map[string]any{"reviews": len(all), "relevant": numbers}
	if near != nil {
		data["similarity"] = near
	}
	t.emit(phaseFilter, methods.PhaseEnd, 1, data, "%d of %d reviews are relevant (%s)", len(relevant), len(all), t.opts.Filter)
}

// similarities says how near each review is to what the seed is about: to its
// name or the nearest of its keywords.
func (t *trial) similarities(ctx context.Context, s *FormulaSeed, all []Review) ([]float64, error) {
	if !slices.ContainsFunc(t.Tools, func(spec methods.ToolSpec) bool { return spec.Name == similarityTool }) {
		return nil, fmt.Errorf("the task has no tool %q: give it an embedding model, as in -T embeddings=local/FOLDER", similarityTool)
	}
	queries := append([]string{strings.ReplaceAll(s.TaskName, "_", " ")}, s.FilterKeywords...)
	near := make([]float64, len(all))
	for i := range near {
		near[i] = -1
	}
	call := 0
	for from := 0; from < len(near); from += textsPerCall {
		part := near[from:min(from+textsPerCall, len(near))]
		texts := make([]string, len(part))
		for i := range part {
			texts[i] = all[from+i].Text
		}
		for some := range slices.Chunk(queries, queriesPerCall) {
			call++
			rows, err := t.compare(ctx, some, texts, fmt.Sprintf("%s/s%d", phaseFilter, call))
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				for i, x := range row {
					part[i] = max(part[i], x)
				}
			}
		}
	}
	return near, nil
}

// compare calls the tool: a row for each query, a number for each text.
func (t *trial) compare(ctx context.Context, queries, texts []string, path string) ([][]float64, error) {
	result, err := t.Host.CallTool(ctx, methods.ToolCall{
		Name: similarityTool, Path: path, Arguments: plainJSON(map[string]any{"queries": queries, "texts": texts}),
	})
	if err != nil {
		return nil, err
	}
	if result.IsError {
		return nil, errors.New(result.Content)
	}
	var out struct{ Similarity [][]float64 }
	if err := json.Unmarshal([]byte(result.Content), &out); err != nil {
		return nil, fmt.Errorf("read the result of tool %q: %w", similarityTool, err)
	}
	bad := func(x float64) bool { return math.Abs(x) > 1.001 }
	if len(out.Similarity) != len(queries) || slices.ContainsFunc(out.Similarity, func(row []float64) bool {
		return len(row) != len(texts) || slices.ContainsFunc(row, bad)
	}) {
		return nil, fmt.Errorf("tool %q: want %d rows of %d numbers from -1 to 1", similarityTool, len(queries), len(texts))
	}
	return out.Similarity, nil
}
