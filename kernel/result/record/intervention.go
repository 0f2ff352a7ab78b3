package record

import "strings"

// Intervention answers some of a method's model calls in another way than the
// model does, to learn what those calls earn.
type Intervention struct {
	Of   string `json:"of"` // label of the method as it is, in the same run
	Kind string `json:"kind"`
	At   string `json:"at"` // the calls: a phase or a call path
	By   string `json:"by"` // which of the two At is
}

// The kinds of Intervention.
const (
	Drop     = "drop"     // the reply is empty
	Resample = "resample" // the model is asked for another draw of the same request
	Swap     = "swap"     // the reply is what the same path was told on another sample
	Truth    = "truth"    // the reply is the right one
)

// Interventions lists the kinds in the order to show.
func Interventions() []string { return []string{Drop, Swap, Resample, Truth} }

// What an intervention, and its effect, is grouped by.
const (
	ByPhase = "phase" // the first part of call paths: P3 is P3/c1, P3/c2 …
	ByPath  = "path"  // whole call paths
)

// Place is what a call at path belongs to when calls are grouped so. Calls that
// build a method seed belong to the seed's path, as in "seed/formula".
func Place(by, path string) string {
	if by == ByPhase {
		path, _, _ = strings.Cut(path, "/")
	}
	return path
}

// Covers reports whether the intervention is on calls at path.
func (i *Intervention) Covers(path string) bool { return Place(i.By, path) == i.At }
