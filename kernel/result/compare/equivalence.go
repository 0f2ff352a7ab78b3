package compare

import "fmt"

// Equivalence is what the interval of a difference says of a margin. It holds for every
// margin at once, so that one may be chosen afterwards.
type Equivalence struct {
	Margin float64 `json:"margin"`
	// Equivalent says that the whole interval is within the margin on either side of 0.
	Equivalent bool `json:"equivalent"`
	// NotWorse names the methods that are shown not to be worse by the margin or more.
	NotWorse []string `json:"not_worse,omitempty"`
}

// within says what d shows of a margin; nil without an interval.
func (d Difference) within(margin float64) *Equivalence {
	if margin <= 0 || !d.Difference.HasInterval() {
		return nil
	}
	e := Equivalence{Margin: margin}
	low, high := d.ends()
	if low > -margin {
		e.NotWorse = append(e.NotWorse, d.A)
	}
	if high < margin {
		e.NotWorse = append(e.NotWorse, d.B)
	}
	e.Equivalent = len(e.NotWorse) == 2
	return &e
}

func (d Difference) equivalent() bool { return d.Equivalence != nil && d.Equivalence.Equivalent }

// notWorse reports whether just one of the two is shown not to be worse.
func (d Difference) notWorse() bool {
	return d.Equivalence != nil && len(d.Equivalence.NotWorse) == 1
}

// Margins says what the margin adds to a verdict, after before; nothing if it adds nothing.
func (d Difference) Margins(before string) string {
	switch {
	case d.equivalent():
		return fmt.Sprintf("%sequivalent within %.3g", before, d.Equivalence.Margin)
	case d.notWorse() && d.Equivalence.NotWorse[0] != d.Winner:
		return fmt.Sprintf("%s%s is not worse by %.3g or more", before, d.Equivalence.NotWorse[0], d.Equivalence.Margin)
	}
	return ""
}

// worse is how much worse each of the two may be than the other, at most.
func (d Difference) worse() (a, b float64) {
	low, high := d.ends()
	if !d.Difference.HasInterval() || !finite(low) || !finite(high) {
		return 1, 1
	}
	return max(0, -low), max(0, high)
}
