package table

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The line that a refused mapping suggests keeps what was right in it, takes a column that
// seems to be the target for it, and is itself read.
func TestSuggestedLine(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	likely := []string{"gold", "gold_answer", "correct answer", "reference", "Expected_Answer", "solution", "ground_truth", "answer", "label"}
	others := []string{"category", "difficulty", "source", "year", "topic", "notes"}
	suggested := regexp.MustCompile(`input=([^&]+)&target=([^']+?)'?$`)
	for range 200 {
		r.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
		target := likely[r.IntN(len(likely))]
		columns := append([]string{"text of the question", target}, others[:r.IntN(4)]...)
		path := filepath.Join(t.TempDir(), "own.csv")
		row := strings.Repeat(",x", len(columns)-1)
		if err := os.WriteFile(path, []byte(strings.Join(columns, ",")+"\nx"+row+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		m := Mapping{Input: "text of the question", Target: target}
		switch wrong := r.IntN(3); wrong {
		case 0:
			m.Target = "golden"
		case 1:
			m.Input = "txt"
		case 2:
			m.Metadata = []string{"dificulty"}
		}
		if _, err := loadMapped(path, m); err == nil {
			t.Fatalf("%v of %v is taken", m, columns)
		} else if found := suggested.FindStringSubmatch(err.Error()); found == nil || found[2] != target {
			t.Fatalf("of %v, %+v suggests: %v", columns, m, err)
		} else if _, err := loadMapped(path, Mapping{Input: found[1], Target: found[2]}); err != nil {
			t.Fatalf("the suggested line is refused: %v", err)
		}
	}
}

// A table in which a column seems to be the target is not asked without scores unawares.
func TestTargetByAnotherName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.csv")
	if err := os.WriteFile(path, []byte("question,gold_answer\nx,y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := loadMapped(path, Mapping{}); err == nil || !strings.Contains(err.Error(), "target=gold_answer") {
		t.Errorf("without a mapping: %v", err)
	}
	for _, m := range []Mapping{{Input: "question"}, {Target: "gold_answer"}} {
		if _, err := loadMapped(path, m); err != nil {
			t.Errorf("%s: %v", fmt.Sprintf("%+v", m), err)
		}
	}
}
