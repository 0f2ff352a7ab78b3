package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// results writes rows of results below a head and compares the two files.
func results(t *testing.T, head string, a, b []string) (*lab.Foreign, error) {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for name, rows := range map[string][]string{"a.csv": a, "b.csv": b} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(head+"\n"+strings.Join(rows, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return lab.CompareFiles(t.Context(), lab.Comparing{}, paths...)
}

// TestRowsThatFilesLack: a row that failed, is absent or has no score may have been worth
// anything. However a file leaves out what its method has wrong, it does not win by that.
func TestRowsThatFilesLack(t *testing.T) {
	for _, way := range []string{"absent", "%s,,", "%s,,timeout"} {
		var a, b []string
		for i := range 200 {
			id := fmt.Sprint("q", i)
			right := i % 2 // both are right on half
			switch b = append(b, fmt.Sprintf("%s,%d,", id, i/2%2)); {
			case right == 1:
				a = append(a, id+",1,")
			case way != "absent":
				a = append(a, fmt.Sprintf(way, id))
			}
		}
		f, err := results(t, "id,score,error", a, b)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Comparison.Pairs[0]
		if d := p.Metrics["score"]; p.Winner != "" || d.Lost == nil || d.Lost.A+d.Lost.B != 200-strings.Count(strings.Join(a, " "), ",1,") {
			t.Errorf("%s: winner %q, lost %+v: %s", way, p.Winner, d.Lost, p.Verdict)
		}
		if noted := strings.Contains(strings.Join(f.Comparison.Notes, "\n"), "results of a are absent"); noted != (way == "absent") {
			t.Errorf("%s: notes %q", way, f.Comparison.Notes)
		}
	}
}

// TestClustersOfFiles: samples that a file puts into clusters are no independent ones, and files
// that disagree are refused.
func TestClustersOfFiles(t *testing.T) {
	var a, b, other []string
	for i := range 80 {
		right := i / 10 % 4 // eight clusters, of which six are won as a whole
		a = append(a, fmt.Sprintf("q%d,%d,c%d,g%d", i, min(1, right), i/10, i%2))
		b = append(b, fmt.Sprintf("q%d,%d,c%d,g%d", i, 1-min(1, right), i/10, i%2))
		other = append(other, fmt.Sprintf("q%d,1,c%d,g%d", i, i/5, i%2))
	}
	f, err := results(t, "id,score,cluster,group", a, b)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Comparison
	if c.Clusters != 8 || c.Pairs[0].Winner != "" || len(c.Groups) != 2 || !strings.Contains(strings.Join(c.Notes, "\n"), "no cluster is larger than the 10 samples of the largest here") {
		t.Errorf("%d clusters, %d groups, %s, notes %q", c.Clusters, len(c.Groups), c.Verdict, c.Notes)
	}
	if _, err := results(t, "id,score,cluster,group", a, other); err == nil || !strings.Contains(err.Error(), "make them agree") {
		t.Errorf("files that disagree on clusters: %v", err)
	}
}
