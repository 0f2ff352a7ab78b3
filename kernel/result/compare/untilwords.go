package compare

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
)

// overallUntil sorts the pairs by what the design says of them.
func (c *Comparison) overallUntil() string {
	for _, m := range c.Methods {
		if wins := slices.DeleteFunc(slices.Clone(c.Pairs), func(p Pair) bool { return p.Winner != m.Method }); len(wins) == len(c.Methods)-1 {
			return fmt.Sprintf("%s is the best on %s: better than each of the other %d", m.Method, c.Metric, len(wins))
		}
	}
	var better, none, open []string
	for _, p := range c.Pairs {
		stop := p.Metrics[c.Metric].Stop
		switch {
		case p.Winner == p.A && p.Winner != "":
			better = append(better, p.A+" better than "+p.B)
		case p.Winner != "":
			better = append(better, p.B+" better than "+p.A)
		case stop != nil && stop.State == Futile:
			none = append(none, p.A+" and "+p.B)
		default:
			open = append(open, p.A+" and "+p.B)
		}
	}
	var parts []string
	if better != nil {
		parts = append(parts, strings.Join(better, ", "))
	}
	if none != nil {
		parts = append(parts, fmt.Sprintf("no difference of %.3g or more between %s", c.Sequential.Detect, strings.Join(none, ", ")))
	}
	const named = 3
	switch {
	case len(open) == len(c.Pairs) && len(open) > named:
		parts = append(parts, fmt.Sprintf("none of the %d pairs is decided", len(open)))
	case len(open) > named:
		parts = append(parts, fmt.Sprintf("not decided between the other %d pairs", len(open)))
	case open != nil:
		parts = append(parts, "not decided between "+strings.Join(open, ", "))
	}
	return "on " + c.Metric + ": " + strings.Join(parts, "; ")
}

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
