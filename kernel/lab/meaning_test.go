//go:build !race

// With the race detector comes a check of pointers, which the pure Go backend of
// GoMLX does not pass; see kernel/model/provider/local.

package lab_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/lab"
	"noema/kernel/model/provider/local"
)

// searching asks the tool search for the query, and answers with the titles in
// the order in which they were found.
func searching(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
	args, err := json.Marshal(map[string]string{"query": p.Query})
	if err != nil {
		return lab.Answer{}, err
	}
	r, err := h.CallTool(ctx, lab.ToolCall{Name: "search", Arguments: args, Path: "search"})
	if err != nil {
		return lab.Answer{}, err
	}
	var found struct{ Results []struct{ Title string } }
	if err := json.Unmarshal([]byte(r.Content), &found); err != nil {
		return lab.Answer{}, err
	}
	var titles []string
	for _, f := range found.Results {
		titles = append(titles, f.Title)
	}
	return lab.TextAnswer(strings.Join(titles, " ")), nil
}

// TestSearchIsByTheModelsVectors: what a method finds is in the order that the
// embedding model's own vectors give, and comes again in a replay that has
// neither the model nor the corpus.
func TestSearchIsByTheModelsVectors(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	if err := localtest.Write(dir, localtest.Spec{Arch: "bert", Seed: 5, Context: 128}); err != nil {
		t.Fatal(err)
	}
	model, err := local.NewEmbedder(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	query := "which tree grows by the water"
	asked, err := model.Embed(t.Context(), []string{query})
	if err != nil {
		t.Fatal(err)
	}
	type article struct {
		title string
		near  float64
	}
	var list []article
	for title, text := range map[string]string{"Oak": "It is hard.", "Elm": "Dutch disease took it.", "Alder": "It stands in wet soil.", "Yew": "Old, and poisonous."} {
		if err := os.WriteFile(filepath.Join(files, title+".md"), []byte("# "+title+"\n\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := model.Embed(t.Context(), []string{title + ". " + text})
		if err != nil {
			t.Fatal(err)
		}
		near := 0.0
		for i, x := range v[0] {
			near += float64(x) * float64(asked[0][i])
		}
		list = append(list, article{title, near})
	}
	slices.SortFunc(list, func(a, b article) int { return cmp.Compare(b.near, a.near) })
	var titles []string
	for _, a := range list {
		titles = append(titles, a.title)
	}
	want := strings.Join(titles, " ")

	questions := filepath.Join(t.TempDir(), "questions.jsonl")
	line, err := json.Marshal(map[string]string{"id": "q", "input": query, "target": want})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(questions, line, 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t)
	if err := l.AddMethod("searching", searching, lab.Text); err != nil {
		t.Fatal(err)
	}
	result, err := l.Run(lab.Experiment{
		Task: questions, Methods: []string{"searching"},
		TaskOptions: map[string]string{"corpus": files, "embeddings": "local/" + dir},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := result.Trials[0].Answer.Text(); err != nil || got != want {
		t.Errorf("found %q (%v), want %q", got, err, want)
	}
	for _, gone := range []string{dir, files, questions} {
		if err := os.RemoveAll(gone); err != nil {
			t.Fatal(err)
		}
	}
	again, err := result.Replay()
	if err != nil || !again.Same() {
		t.Errorf("replay: %+v, %v", again, err)
	}
}
