package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPaperWithAChangedDigit changes a digit of a file that a paper reads.
func TestPaperWithAChangedDigit(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	user := newCLI(t)
	user.run(0, "compare", "--task", "cafes", "--methods", "direct,anot", "--limit", "3", "--name", "first")
	user.run(0, "pack", "last", "-o", "first.noema")
	user.run(0, "cite", "first.noema", "--latex", "numbers.tex", "--json", "numbers.json")
	for _, file := range []string{"numbers.tex", "numbers.json"} {
		want(t, user.run(0, "pack", "verify", "first.noema", "--tex", file).stdout, "cited numbers are those of the tables")
	}
	raw, err := os.ReadFile(filepath.Join(user.dir, "numbers.tex"))
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(raw), "noema@first/samples}{3}")
	if !found {
		t.Fatalf("numbers %s", raw)
	}
	user.write("numbers.tex", before+"noema@first/samples}{8}"+after)
	r := user.run(exitDiverged, "pack", "verify", "first.noema", "--tex", "numbers.tex")
	want(t, r.stderr, fmt.Sprintf("line %d: first/samples is 8, and computed again 3", 1+strings.Count(before, "\n")))
}
