package compare

import (
	"fmt"
	"strings"

	"noema/kernel/result/record"
)

// comparable refuses runs whose samples are not the same, or notes it.
func comparable(runs []*Recorded, force bool) (notes []string, err error) {
	first := runs[0].Run
	for _, r := range runs[1:] {
		a, b := first.Config.Task, r.Run.Config.Task
		if a.Digest == b.Digest {
			continue
		}
		if runs[0].origin() == r.origin() {
			notes = append(notes, changeNotes(runs[0], r)...)
			continue
		}
		what := "over another version of the data"
		if a.Name != b.Name || a.Config != b.Config {
			what = fmt.Sprintf("over task %s?%s, not %s?%s", b.Name, b.Config, a.Name, a.Config)
		}
		if !force {
			return nil, fmt.Errorf("compare runs %s and %s: the second is %s (digests %.12s and %.12s): use --force to pair samples by id",
				first.ID, r.Run.ID, what, a.Digest, b.Digest)
		}
		notes = append(notes, fmt.Sprintf("run %s is %s: samples are paired by id alone and may be different questions", r.Run.ID, what))
	}
	for _, r := range runs {
		if from := r.Run.Imported; from != nil && len(runs) > 1 { // alone, its own notes say it
			notes = append(notes, fmt.Sprintf("run %s was imported from %s (%s): its calls were not recorded and cannot be replayed", r.Run.ID, from.File, from.Harness))
		}
		if lacks := r.lacks(); lacks != nil {
			notes = append(notes, lacks...)
		} else if r.Run.Status != record.Finished {
			notes = append(notes, fmt.Sprintf("run %s is unfinished: the trials that it has are compared", r.Run.ID))
		}
	}
	return notes, nil
}

// changeNotes say which runs are over a changed copy of the same task.
func changeNotes(runs ...*Recorded) (notes []string) {
	for _, r := range runs {
		if r.Task.Change != "" {
			notes = append(notes, fmt.Sprintf("run %s is under %s: the same questions with the same seeds, paired by sample", r.Run.ID, r.Task.Change))
			for _, note := range r.Run.Notes {
				if strings.HasPrefix(note, "attack "+r.Task.Change) {
					notes = append(notes, note)
				}
			}
		}
	}
	return notes
}

// withoutRepeats leaves out runs that are another one again.
func withoutRepeats(runs []*Recorded) (kept []*Recorded, notes []string) {
	roots, ids := map[string]string{}, map[string]bool{}
	for _, r := range runs {
		was, repeats := roots[r.Run.Root]
		switch {
		case ids[r.Run.ID]:
			notes = append(notes, fmt.Sprintf("run %s is named twice: it adds no data and counts once", r.Run.ID))
			continue
		case repeats && r.Run.Root != "":
			notes = append(notes, fmt.Sprintf("run %s repeats run %s (same root hash): it adds no data and is left out", r.Run.ID, was))
			continue
		}
		roots[r.Run.Root], ids[r.Run.ID] = r.Run.ID, true
		kept = append(kept, r)
	}
	return kept, notes
}
