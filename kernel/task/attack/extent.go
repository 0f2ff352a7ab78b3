package attack

import (
	"fmt"

	"noema/kernel/base/display"
)

// Extent is how much of the text an attack changed: words for typo, reviews for the
// other attacks. Spared + May is at most All; Changed is at most May.
type Extent struct {
	All     int // in all reviews
	Spared  int // in reviews that share a word with the request, or whose change would have decided otherwise
	May     int // that may change: for typo words of four letters or more that a swap changes
	Changed int // that did, or, for reviews that are added, the reviews that they were added to
}

func (e *Extent) add(o Extent) {
	e.All += o.All
	e.Spared += o.Spared
	e.May += o.May
	e.Changed += o.Changed
}

// text says it for people.
func (e Extent) text(a Attack) string {
	unit, why := "reviews", "sharing a word with the request"
	if a.Name == "typo" {
		unit, why = "words", "in reviews that share one with the request"
	}
	if a.All {
		why = "because they decide an answer"
	}
	spared := "none spared"
	if e.Spared > 0 {
		spared = fmt.Sprintf("spared %s %s", percent(e.Spared, e.All), why)
	}
	return fmt.Sprintf("changed %s of %s %s (%s of the %s that may change), %s",
		percent(e.Changed, e.All), display.Count(e.All), unit, percent(e.Changed, e.May), display.Count(e.May), spared)
}

// cure says how an attack without effect gets one.
func (e Extent) cure(a Attack) string {
	if e.May > 0 {
		return "raise the rate"
	}
	if !a.All && e.Spared > 0 {
		return "every review shares a word with its request: add ?scope=all"
	}
	return "the task has no text that may change"
}

// percent is a share in per cent, with a digit where it is below ten.
func percent(part, all int) string {
	switch share := 100 * float64(part) / float64(all); {
	case all == 0:
		return "none"
	case share < 10 && part > 0:
		return fmt.Sprintf("%.1f %%", share)
	default:
		return fmt.Sprintf("%.0f %%", share)
	}
}
