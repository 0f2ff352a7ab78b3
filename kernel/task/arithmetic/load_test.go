package arithmetic_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/table"
	"noema/methods"
)

func file(t *testing.T, content string) *table.Table {
	t.Helper()
	name := "data.csv"
	if strings.HasPrefix(strings.TrimPrefix(content, "\ufeff"), "{") {
		name = "data.jsonl"
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := table.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestLoadGSM8K(t *testing.T) {
	made, err := arithmetic.LoadGSM8K(file(t, "\ufeff"+`{"question": "Natalia sold 48 clips in April, and half as many in May. How many in all?", "answer": "She sold 48/2 = <<48/2=24>>24 in May.\nIn all 48+24 = <<48+24=72>>72.\n#### 72"}
`+"\n"+`{"question": "How much?", "answer": "Nothing marked.\n#### $1,234.50"}`+"\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, b := made.Samples[0], made.Samples[1]
	if string(a.Target) != "72" || a.Group != "steps 2" || a.ID != "gsm8k-00001" || a.Problem.Answer.Kind != methods.Number || strings.Contains(a.Problem.Query, "####") {
		t.Errorf("first %+v", a)
	}
	if string(b.Target) != "1234.5" || b.ID != "gsm8k-00003" || made.Environment == nil {
		t.Errorf("second %+v", b)
	}
	for content, want := range map[string]string{
		`{"question":"q","answer":"72"}`:                                           `data.jsonl:1:1: the answer has no line "#### N"`,
		`{"question":"q","answer":"#### x"}`:                                       "parse number",
		`{"question":" ","answer":"#### 1"}`:                                       "question is empty",
		`{"question":"q","answer":"#### 1"}` + "\n" + `{"question":7,"answer":""}`: "data.jsonl:2",
		``: "no problems",
	} {
		if _, err := arithmetic.LoadGSM8K(file(t, content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}

func TestLoadGame24(t *testing.T) {
	made, err := arithmetic.LoadGame24(file(t, "\ufeffRank,Puzzles,AMT (s),Solved rate\n1,1 1 4 6,4.4,99.20%\n2,3 3 8 8,12,80%\n"))
	if err != nil {
		t.Fatal(err)
	}
	s := made.Samples[1]
	if string(s.Target) != `{"numbers":[3,3,8,8]}` || s.Problem.Answer.Kind != methods.Text || made.Scorer.String() != "game24" || s.Metadata["Solved rate"] != "80%" {
		t.Errorf("second %+v", s)
	}
	if !strings.Contains(s.Problem.Query, "from the numbers 3, 3, 8 and 8.") {
		t.Errorf("query %s", s.Problem.Query)
	}
	if err := score.Game24("8 / (3 - 8 / 3)", []int{3, 3, 8, 8}); err != nil {
		t.Error(err)
	}
	for content, want := range map[string]string{
		"":                            "data.csv has no puzzles",
		"Puzzles\n":                   "no puzzles",
		"Puzzles\n1 2 3 4\n1 x 3 4\n": "data.csv:3: puzzle \"1 x 3 4\"",
		"Puzzles\n7\n":                "at least two",
		"Rank,Puzzles\n1\n":           "1 cells, where the header has 2 columns",
		"Puzzles\n\"1 2\n":            "data.csv:2:6: a quote is missing",
	} {
		if _, err := arithmetic.LoadGame24(file(t, content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}
