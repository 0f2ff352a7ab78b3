package pack

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
)

// ofStudy writes the record, as it is listed, and the numbers of a study whose cells are in
// the pack.
func (w *writer) ofStudy(run, listed *record.Run) error {
	for i, id := range run.Cells {
		if !slices.ContainsFunc(w.study.Runs, func(r Run) bool { return r.ID == id }) {
			return fmt.Errorf("its cell %s, run %s, is not in the pack", run.Config.Study.Cells[i], id)
		}
	}
	table, err := tableOf(w.Lab, run)
	if err != nil {
		return err
	}
	return w.addStudy(listed, table)
}

func (w *writer) addStudy(run *record.Run, table []byte) error {
	w.study.Studies = append(w.study.Studies, run.ID)
	return errors.Join(w.addRecord(run), w.pack.Add(runEntry(run.ID, tableFile), table))
}

// studyNumbers are those of a study of a lab.
func studyNumbers(l *lab.Lab, id string) (*lab.Study, *lab.StudyNumbers, error) {
	s, err := l.LoadStudy(id)
	if err != nil {
		return nil, nil, err
	}
	n, err := s.Numbers(lab.Comparing{})
	return s, n, err
}

// readStudy reads the record of a study.
func readStudy(p *packfile.File, id string) (*record.Run, error) {
	run, err := recordOf(p, id)
	if err == nil && (run.ID != id || run.Config.Study == nil || run.Status != record.Finished) {
		err = fmt.Errorf("read study %q: its record is not that of a finished study of this id", id)
	}
	return run, err
}

// ofStudy checks what the pack says of a study, once its cells are checked.
func (x *verification) ofStudy(ctx context.Context, id string) {
	run, err := readStudy(x.pack, id)
	if err == nil {
		err = putRun(ctx, x.store, run)
	}
	if !x.claim(id, "the record of the study can be read", err) {
		return
	}
	x.claim(id, fmt.Sprintf("the root hashes of its %d cells give its root hash %.12s", len(run.Cells), run.Root), x.studyRooted(run))
	x.table(run)
	raw, err := x.pack.Read(runEntry(id, runFile))
	if err == nil {
		x.said(id, "record of the study: its name, question, times, command and counts of calls", fmt.Sprintf("sha256 %.16x", sha256.Sum256(raw)))
	}
}

// studyRooted reports whether a study has the root hash that its cells in the pack give.
func (x *verification) studyRooted(run *record.Run) error {
	digest, err := run.Config.Digest()
	if err != nil {
		return err
	}
	if digest != run.Digest {
		return fmt.Errorf("its configuration has the digest %.12s, and its record says %.12s", digest, run.Digest)
	}
	var roots []string
	for i, id := range run.Cells {
		at := slices.IndexFunc(x.study.Runs, func(r Run) bool { return r.ID == id })
		if at < 0 {
			return fmt.Errorf("its cell %s, run %s, is not in the pack", run.Config.Study.Cells[i], id)
		}
		cell, err := readRun(x.pack, x.study.Runs[at])
		if err != nil {
			return err
		}
		if cell.Digest != run.Config.Study.Cells[i].Digest || cell.Study != run.ID {
			return fmt.Errorf("run %s is not its cell %s", id, run.Config.Study.Cells[i])
		}
		roots = append(roots, cell.Root)
	}
	if root := record.Root(digest, roots); root != run.Root {
		return fmt.Errorf("it is %.12s", root)
	}
	return nil
}

// ofStudy writes a verified study again.
func (y *rewriter) ofStudy(id string) error {
	run, err := readStudy(y.x.pack, id)
	if err != nil {
		return err
	}
	table, err := y.x.pack.Read(runEntry(id, tableFile))
	if err != nil {
		return err
	}
	listed := placeless(*run)
	return y.w.addStudy(&listed, table)
}

// addStudy adds a study unless the store has one of its id.
func (i *Imported) addStudy(ctx context.Context, p *packfile.File, store *cache.Store, id string) error {
	run, err := readStudy(p, id)
	if err != nil {
		return err
	}
	return i.unless(ctx, store, run, func() error { return putRun(ctx, store, run) })
}

// studyNumbers names the numbers of a study.
func (x *verification) studyNumbers(id string, unique func(string) string) (all []Number, err error) {
	s, n, err := studyNumbers(x.lab, id)
	if err != nil {
		return nil, err
	}
	name := "study"
	if s.Run.Name != "" {
		name = s.Run.Name
	}
	prefix := unique(slug(name))
	add := func(name, text string) { all = append(all, Number{unique(prefix + "/" + name), text}) }
	add("run", n.Run)
	add("root", n.RootHash)
	add("samples", fmt.Sprint(n.Whole.Samples))
	add("level", fmt.Sprintf("%.4g %%", 100*n.Level))
	for _, row := range report.StudyRows(n.Study)[1:] {
		for i, part := range []string{"value", "low", "high"} {
			if row[5+i] != "" {
				add(slug(row[0])+"/"+slug(row[1])+"/"+slug(row[3])+"/"+part, rounded(row[5+i]))
			}
		}
	}
	for _, t := range append(report.StudySheet(s.Run, n.Study, n.Simulated).Tables[1:], report.Totals(n.Whole)) {
		addCells(add, t, fmt.Sprintf("%.4g %%", 100*n.Whole.PairLevel))
	}
	return all, nil
}

// rounded is a number as tables print it.
func rounded(text string) string {
	var x float64
	if _, err := fmt.Sscan(text, &x); err != nil {
		return text
	}
	return fmt.Sprintf("%.2f", x)
}
