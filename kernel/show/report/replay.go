package report

import (
	"fmt"
	"io"

	"noema/kernel/run/runner"
)

// Verdict says whether a replay proved its run, and if not, where it first differs.
func Verdict(w io.Writer, r *runner.ReplayResult) {
	w = Guarded(w)
	if r.Skipped > 0 {
		fmt.Fprintf(w, "%s had failed for other reasons than the method: not repeated\n", Plural(r.Skipped, "trial"))
	}
	for _, c := range r.Changed {
		fmt.Fprintln(w, "changed:", c)
	}
	if r.Same() {
		fmt.Fprintf(w, "replayed: the root hash is that of run %s\n", r.Run.ID)
		return
	}
	fmt.Fprintf(w, "DIVERGED: run %s has root hash %s\n", r.Run.ID, r.Recorded)
	if r.First != nil {
		fmt.Fprintln(w, "first at:", Plain(r.First.String()))
	}
}

// Claim prints what came of checking a claim of a pack, on the run that it is about if it
// is about one.
func Claim(w io.Writer, run, what, wrong, unchecked, believed string) {
	mark, about := "ok   ", ""
	switch {
	case wrong != "":
		mark = "WRONG"
	case unchecked != "":
		mark = "-    "
		what = "not checked: " + what + ": " + unchecked
	case believed != "":
		mark = "said "
		what += ": " + believed
	}
	if run != "" {
		about = "run " + run + ": "
	}
	fmt.Fprintf(w, "%s %s%s\n", mark, about, Plain(what))
	if wrong != "" {
		fmt.Fprintf(w, "      %s\n", Plain(wrong))
	}
}

// maxConflicts is how many conflicts are listed.
const maxConflicts = 10

// Imported prints what became of the content of a pack.
func Imported(w io.Writer, added, same int, runs, conflicts []string) {
	fmt.Fprintf(w, "%s added, %d were there\n", Plural(added, "record"), same)
	for _, id := range runs {
		fmt.Fprintln(w, "added run", id)
	}
	for i, c := range conflicts {
		if i == maxConflicts {
			fmt.Fprintf(w, "and %d more conflicts: --json lists all\n", len(conflicts)-i)
			return
		}
		fmt.Fprintf(w, "conflict: %s: the store has another one, which stays\n", c)
	}
}
