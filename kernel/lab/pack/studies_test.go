package pack_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

// twoTasks is a small study.
var twoTasks = lab.Experiment{Tasks: []string{"cafes#limit=4", "cafes?n=20#limit=3&weight=2"}, Methods: []string{"direct", "cot"}, Models: []string{"sim?error=0.1"}, Name: "two"}

// studied makes a study and returns its runs, the cells first.
func studied(t *testing.T) (*lab.Lab, *lab.Study, []*record.Run) {
	t.Helper()
	l := openLab(t)
	s, err := l.Study(twoTasks)
	if err != nil {
		t.Fatal(err)
	}
	var runs []*record.Run
	for _, r := range s.Results() {
		runs = append(runs, r.Run)
	}
	return l, s, append(runs, s.Run)
}

func TestStudyInAPack(t *testing.T) {
	t.Parallel()
	l, s, runs := studied(t)
	file := write(t, l, runs...)
	v := verify(t, file)
	says := func(c pack.Claim) bool {
		return c.Run == s.Run.ID && strings.Contains(c.What, "root hashes of its 2 cells give its root hash")
	}
	if !v.OK || !slices.ContainsFunc(v.Claims, says) {
		t.Errorf("verdict %+v", v)
	}
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	numbers, err := pack.Cite(t.Context(), builtin.Catalog{}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"two/root", "two/cafes-n=20/sim-error=0.1/cot/value", "two/mean/sim-error=0.1/cot/value"} {
		if !slices.ContainsFunc(numbers, func(n pack.Number) bool { return n.Name == name && n.Text != "" }) {
			t.Errorf("no number %s", name)
		}
	}
	other := openLab(t)
	if _, err := pack.Import(t.Context(), other, p); err != nil {
		t.Fatal(err)
	}
	again, err := other.LoadStudy(s.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if replayed, err := again.Replay(); err != nil || !replayed.Same() || replayed.Now != s.Run.Root {
		t.Errorf("replayed on another machine: %+v, %v", replayed, err)
	}
}

// TestForgedStudies: what somebody changes in the record or the table of a study is found.
func TestForgedStudies(t *testing.T) {
	t.Parallel()
	l, s, runs := studied(t)
	file := write(t, l, runs...)
	for what, c := range map[string]struct{ entry, old, now, wrong string }{
		"another root":    {"run.json", s.Run.Root, strings.Repeat("0", 64), "give its root hash"},
		"another weight":  {"run.json", `"weight":2`, `"weight":3`, "give its root hash"},
		"another verdict": {"table.json", `"verdict":"`, `"verdict":"x`, "its table is recomputed"},
		"cells exchanged": {"run.json", `"cells":["` + s.Run.Cells[0] + `","` + s.Run.Cells[1], `"cells":["` + s.Run.Cells[1] + `","` + s.Run.Cells[0], "give its root hash"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			forged := changed(t, file, func(name string, data []byte) []byte {
				if name != "runs/"+s.Run.ID+"/"+c.entry {
					return data
				}
				if !bytes.Contains(data, []byte(c.old)) {
					t.Fatalf("%s lacks %s", name, c.old)
				}
				return bytes.Replace(data, []byte(c.old), []byte(c.now), 1)
			})
			v := verify(t, forged)
			if v.OK || !slices.ContainsFunc(v.Failures, func(f pack.Claim) bool { return strings.Contains(f.What, c.wrong) }) {
				t.Errorf("verdict %+v", v.Failures)
			}
		})
	}
}

// TestStudyNeedsItsCells: a pack of a study without its runs is refused.
func TestStudyNeedsItsCells(t *testing.T) {
	t.Parallel()
	l, s, _ := studied(t)
	var b bytes.Buffer
	w, err := packfile.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (pack.Source{Lab: l, Runs: []*record.Run{s.Run}, Noema: "test"}).Write(t.Context(), w); err == nil || !strings.Contains(err.Error(), "is not in the pack") {
		t.Errorf("%v", err)
	}
}
