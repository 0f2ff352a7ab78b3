package main

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestTableThatGrows: after any change of a table, the questions that it had before are
// answered from the store, and the others are asked.
func TestTableThatGrows(t *testing.T) {
	server := providertest.New(providertest.Config{})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL())
	rng := rand.New(rand.NewPCG(31, 7))
	var rows [][]string
	row := func() []string {
		return []string{fmt.Sprintf("What is %d times %d?", rng.IntN(4), rng.IntN(3)), fmt.Sprint(rng.IntN(9)), fmt.Sprint(rng.IntN(2))}
	}
	for range 5 {
		rows = append(rows, row())
	}
	asked := map[string]int{} // how often at most at once, of each question
	for step := range 8 {
		path := filepath.Join(c.dir, "questions.csv")
		var text strings.Builder
		w := csv.NewWriter(&text)
		w.WriteAll(append([][]string{{"question", "target", "level"}}, rows...))
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		want, now := server.Requests(), map[string]int{}
		for _, r := range rows {
			now[r[0]]++
		}
		for question, n := range now {
			want += max(0, n-asked[question])
			asked[question] = max(n, asked[question])
		}
		c.run(0, "compare", "--task", path, "--methods", "direct", "--model", "openai/tiny")
		if got := server.Requests(); got != want {
			t.Fatalf("step %d: %d questions were asked in all, want %d:\n%s", step, got, want, text.String())
		}
		at := rng.IntN(len(rows))
		switch step % 4 {
		case 0:
			rows = slices.Insert(rows, at, row())
		case 1:
			rows[at][1], rows[at][2] = "7", "of another kind"
		case 2:
			rows = append(slices.Delete(rows, at, at+1), row(), row())
		case 3:
			rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
	}
}
