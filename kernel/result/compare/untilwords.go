package compare

import (
	"fmt"

	"noema/kernel/base/display"
)

// notesUntil say how to read the numbers of a design.
func (c *Comparison) notesUntil() []string {
	s := c.Sequential
	const holds = "p-values and intervals of merit hold at every look, those of use as if the number of samples had been fixed"
	if s.Bound == 0 {
		return []string{"the rule of a run (--until decided or --looks) was declared for other data than these: one run, its headline measure, no budget; here each pair is followed by that rule up to its decision, so that " + holds}
	}
	look := "after each"
	if s.Looks > 0 {
		look = fmt.Sprintf("%d times", s.Looks)
	}
	notes := []string{fmt.Sprintf("the rule was declared before the first sample: ask at most %d samples, look at %s %s, and stop asking a method when each of its pairs has a winner or is shown to differ by less than %.3g; a pair that is decided keeps its numbers; %s",
		s.Bound, c.Metric, look, s.Detect, holds)}
	if s.Rule < worstCaseRule {
		notes = append(notes, fmt.Sprintf("the run stopped by rule %d, under which a sample with a failed trial was left out; a new run stops by rule %d, which takes the worst case of it", s.Rule, worstCaseRule))
	}
	if v := s.Saved; v != nil && v.Trials > 0 {
		text := fmt.Sprintf("saved against asking every sample: %d trials", v.Trials)
		if v.Calls.Defined() {
			text += fmt.Sprintf(", about %s calls", display.Count(int(v.Calls)))
		}
		if v.Tokens.Defined() {
			text += fmt.Sprintf(", %s tokens", display.Count(int(v.Tokens)))
		}
		if v.Cost.Defined() {
			text += fmt.Sprintf(", $%.4f", float64(v.Cost))
		}
		notes = append(notes, text)
	}
	return notes
}
