package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"noema/kernel/base/display"
	"noema/methods"
)

// Cost is what a trial was charged, or unknown.
func Cost(u methods.Usage) string {
	if u.Unpriced > 0 {
		return "unknown cost"
	}
	usd := u.Cost.USD()
	return money(&usd)
}

// money shows three significant digits, so that a tenth of a cent is seen.
func money(dollars *float64) string {
	if dollars == nil {
		return "unknown"
	}
	x := *dollars
	if x == 0 {
		return "$0"
	}
	decimals := max(2, 2-int(math.Floor(math.Log10(x))))
	return "$" + strconv.FormatFloat(x, 'f', decimals, 64)
}

func seconds(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Plural writes n of a thing, as in "1 fault" and "2 faults".
func Plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return count(n) + " " + thing + "s"
}

// pluralWere is Plural with its verb in the past.
func pluralWere(n int, thing string) string {
	if n == 1 {
		return Plural(n, thing) + " was"
	}
	return Plural(n, thing) + " were"
}

// count writes n with commas.
func count(n int) string { return display.Count(n) }
