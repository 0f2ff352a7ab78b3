package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/methods"
)

// All that a comparison says in words stands in two tables: [situations] for one
// pair, [remarks] for the whole. A sentence says what is known, what is not and
// what to do next, in words that need no statistics.

// situation is a way in which the comparison of two methods can end.
type situation struct {
	name string
	is   func(Difference) bool
	says func(Difference) string // after the figures; a winner has nothing to add
}

// situations are in order: the first that is so speaks, and the last always is.
func situations() []situation {
	return []situation{
		{"nothing in common", func(d Difference) bool { return !d.Difference.Defined }, func(d Difference) string {
			return "they have no common sample on which " + d.Metric + " is defined: run both on the same samples"
		}},
		{"uncalibrated", Difference.uncalibrated, func(d Difference) string {
			return "too few labels to check the graders: " + d.Calibration.settle()
		}},
		{"winner", func(d Difference) bool { return d.Winner != "" }, Difference.won},
		{"futile", Difference.futile, Difference.Stopped},
		{"equivalent", func(d Difference) bool { return d.equivalent() && d.Stop == nil }, func(Difference) string { return "" }},
		{"failed trials decide", Difference.onFailures, func(d Difference) string {
			return d.undone()
		}},
		{"stopped", func(d Difference) bool { return d.Stop != nil }, Difference.Stopped},
		{"calibrated", func(d Difference) bool { return d.Calibration != nil }, func(d Difference) string { return d.Calibration.settle() }},
		{"no test", func(d Difference) bool { return d.Difference.HasInterval() && d.Test == "" }, func(d Difference) string {
			return "no test, because " + d.Metric + " is not within 0 and 1: scale it to that range"
		}},
		{"equal everywhere", func(d Difference) bool { return d.Wins+d.Losses == 0 && d.Ties > 1 }, func(d Difference) string {
			return "they are equal on every sample: harder samples may tell them apart" + d.detects("; ")
		}},
		{"too few samples", func(d Difference) bool { return d.Silent }, func(d Difference) string {
			if d.Fewest > 0 {
				return fmt.Sprintf("%d independent %s cannot decide, whatever they show: %d are the fewest", d.Units, d.unitsName(), d.Fewest)
			}
			return "too few independent " + d.unitsName() + " to decide, whatever they had shown: run more"
		}},
		{"all one way", Difference.oneWay, Difference.unseen},
		{"too uneven", func(d Difference) bool { return d.detects("") == "" }, func(d Difference) string {
			return "too few " + d.unitsName() + " to tell, because they differ so much: run more"
		}},
		{"test and interval disagree", func(d Difference) bool { return sideOf(d.Difference) != 0 }, func(d Difference) string {
			return Unconfirmed + ", and a winner needs both" + d.detects("; ")
		}},
		{"skewed", Difference.skewed, func(d Difference) string {
			return fmt.Sprintf("few samples carry the mean (better on %d, worse on %d, by unlike amounts): look at the largest differences%s", d.Wins, d.Losses, d.detects("; "))
		}},
		{"not decided", func(Difference) bool { return true }, func(d Difference) string {
			return "either may be the better one" + d.detects("; ")
		}},
	}
}

// remark is what a reader of a whole comparison must know, if anything.
type remark struct {
	name string
	of   func(*Comparison) []string
}

// remarks are in the order in which they are read.
func remarks() []remark {
	return []remark{
		{"design", func(c *Comparison) []string {
			if c.Sequential == nil {
				return nil
			}
			return c.notesUntil()
		}},
		{"epochs", func(c *Comparison) []string {
			return told(c.Epochs > 1, "%s of each sample are averaged first: n counts samples", c.EpochsText())
		}},
		{"clusters", func(c *Comparison) []string {
			return told(c.Clusters > 0, "the %d samples are in %d clusters, which intervals and tests take as units%s", c.Samples, c.Clusters, c.allowed())
		}},
		{"trials", (*Comparison).incomplete},
		{"grading", (*Comparison).gradingNotes},
		{"grading", (*Comparison).preferenceNotes},
		{"common samples", func(c *Comparison) []string {
			if c.Common == nil {
				return nil
			}
			return []string{c.commonNote()}
		}},
		{"budget", func(c *Comparison) []string {
			return told(c.Budget != nil, "a trial over the budget counts as wrong, although its method did not know the budget")
		}},
		{"headline", func(c *Comparison) []string {
			return told(len(c.Metrics) > 1 && len(c.Pairs) > 0, "the winner is decided on %s; other metrics are corrected separately and only explain it", c.Metric)
		}},
		{"family", func(c *Comparison) []string {
			all := int(math.Round((1 - c.Level) / (1 - c.PairLevel))) // a rule also follows pairs that are not shown
			return told(len(c.Pairs) > 1 || all > 1, "intervals of pairs hold together: each of the %d is at %.1f %%, all at once at %.0f %%%s", all, 100*c.PairLevel, 100*c.Level, c.chosen(all))
		}},
		{"open pairs", (*Comparison).open},
		{"conditions", (*Comparison).conditions},
		{"cheaper", (*Comparison).cheaper},
		{"shared answers", (*Comparison).sharing},
	}
}

// chosen says what a baseline that was not declared with the run costs.
func (c *Comparison) chosen(all int) string {
	if c.Baseline == "" || all <= len(c.Pairs) || c.Sequential != nil {
		return ""
	}
	return fmt.Sprintf("; the baseline was chosen for this table: declared with the run it would be %d", len(c.Methods)-1)
}

// allowed says which clusters intervals and tests allow for.
func (c *Comparison) allowed() string {
	switch {
	case c.Assumed:
		return fmt.Sprintf(": they hold if no cluster is larger than the %d samples of the largest here", c.LargestHere)
	case c.Largest > c.LargestHere:
		return fmt.Sprintf(": the largest here has %d samples, and they allow for the %d of the largest in the task", c.LargestHere, c.Largest)
	}
	return ""
}

// Unconfirmed is what is said of a pair of which interval and test disagree.
const Unconfirmed = "the test does not confirm the interval"

// told is the sentence as a list, empty unless it is so.
func told(so bool, format string, args ...any) []string {
	if !so {
		return nil
	}
	return []string{fmt.Sprintf(format, args...)}
}

// Verdict says who is better and by how much or, where that is not decided, why
// not and what to do.
func (d Difference) Verdict() string {
	says := d.situation().says(d)
	text := fmt.Sprintf("not decided between %s and %s: ", d.A, d.B)
	switch {
	case !d.Difference.Defined:
		return text + says
	case d.uncalibrated():
		text = fmt.Sprintf("uncalibrated between %s and %s: %s %s", d.A, d.B, d.Metric, d.figures(1))
	case d.Winner == d.B && d.Winner != "":
		text = fmt.Sprintf("%s is better than %s: %s %s", d.B, d.A, d.Metric, d.figures(-1))
	case d.Winner != "":
		text = fmt.Sprintf("%s is better than %s: %s %s", d.A, d.B, d.Metric, d.figures(1))
	case d.equivalent() && d.Stop == nil:
		text = fmt.Sprintf("%s and %s are equivalent within %.3g: %s %s", d.A, d.B, d.Equivalence.Margin, d.Metric, d.figures(1))
	case d.futile():
		text = fmt.Sprintf("no difference of %.3g or more between %s and %s: %s %s", d.Stop.Detect, d.A, d.B, d.Metric, d.figures(1))
	default:
		text += d.Metric + " " + d.figures(1)
	}
	if d.Stop == nil && (d.Winner != "" || !d.equivalent()) {
		text += d.Margins("; ")
	}
	if says != "" {
		text += "; " + says
	}
	return text + d.asSeen()
}

// oneWay reports whether graded values of all samples speak for one method.
func (d Difference) oneWay() bool {
	return strings.HasPrefix(d.Test, exactName) && d.Ties == 0 && d.Wins*d.Losses == 0 && d.Wins+d.Losses > 1
}

// unseen says why samples that all speak for one method do not prove it.
func (d Difference) unseen() string {
	better, mean := d.A, d.Difference.Value
	if mean < 0 {
		better, mean = d.B, -mean
	}
	return fmt.Sprintf("%s is better on all %d samples, by little: a loss of all on one sample in %.0f would make them equal, and %d %s show no such loss in %.0f %% of cases",
		better, d.Wins+d.Losses, (1+mean)/mean, d.Units, d.unitsName(), 100*math.Pow(1+mean, -float64(d.Units)))
}

// asSeen is Student's interval with its condition, nothing where there is none.
func (d Difference) asSeen() string {
	if s := d.Seen; s != nil && d.Winner == "" && d.Stop == nil {
		return fmt.Sprintf("; if no %s can differ by more than was seen (%.2f) it is within [%+.3f, %+.3f], which decides nothing",
			strings.TrimSuffix(d.unitsName(), "s"), s.Most, zero(s.Low), zero(s.High))
	}
	return ""
}

// futile reports whether a sequential design has ruled out the differences that it
// was to detect.
func (d Difference) futile() bool { return d.Stop != nil && d.Stop.State == Futile }

// Stopped says how far the sequential design went, nothing without one.
func (d Difference) Stopped() string {
	if d.Stop == nil {
		return ""
	}
	s := *d.Stop
	switch {
	case s.State == Decided && d.Winner == "":
		return fmt.Sprintf("stopped after %d samples, by a lead that rests on leaving failed trials out", s.Asked)
	case s.State == Decided:
		return fmt.Sprintf("decided after %d samples", s.Asked)
	case s.State == Futile:
		return fmt.Sprintf("after %d samples a difference of %.3g or more is ruled out", s.Asked, s.Detect)
	case s.State == Bound:
		return fmt.Sprintf("all %d samples were asked", s.Asked)
	}
	return fmt.Sprintf("not decided by the %d samples that were asked", s.Asked)
}

// situation is the first that is so.
func (d Difference) situation() situation {
	all := situations()
	return all[slices.IndexFunc(all, func(s situation) bool { return s.is(d) })]
}

// Unconfirmed reports whether the interval leaves out zero and the test does not
// agree that there is a difference.
func (d Difference) Unconfirmed() bool { return d.situation().name == "test and interval disagree" }

// unitsName is what is independent.
func (d Difference) unitsName() string {
	if d.Units < d.Difference.N {
		return "clusters"
	}
	return "samples"
}

// skewed reports whether so few samples, or clusters, carry the mean that it takes
// more of them to trust it (see fewUnits). Matched 0/1 outcomes are never.
func (d Difference) skewed() bool {
	skew := float64(d.Skewness)
	return d.Test != suissaShuster && math.Abs(skew) > 1 && float64(d.Units) < fewUnits*skew*skew
}

// detects says after before what the comparison would have found, nothing if that is
// not a difference at all.
func (d Difference) detects(before string) string {
	if size := float64(d.Detectable); size < 0.9995 {
		return fmt.Sprintf("%sthis run finds differences from %.3f on, and about half of that with four times the samples", before, size)
	}
	return ""
}

// figures writes the difference with all that says how sure it is, turned
// around if sign is -1.
func (d Difference) figures(sign float64) string {
	parts := []string{fmt.Sprintf("n = %d", d.Difference.N)}
	if d.Calibration != nil {
		parts = append(parts, fmt.Sprintf("%d labelled", d.Calibration.Labelled))
	}
	byEvidence := d.Stop != nil && d.Stop.Needed > 0
	switch {
	case byEvidence:
		parts = append(parts, fmt.Sprintf("e-value %.3g, %.3g needed", d.Stop.E, d.Stop.Needed))
	case d.P.Defined():
		parts = append(parts, "p "+pText(float64(d.P)))
	}
	if d.Family > 1 && d.Corrected.Defined() && !byEvidence {
		parts = append(parts, fmt.Sprintf("%s corrected for %d pairs", pText(float64(d.Corrected)), d.Family))
	}
	return fmt.Sprintf("%s (%s)", bounds(d.Difference, sign), strings.Join(parts, ", "))
}

// bounds writes a difference with its interval, turned around if sign is -1.
func bounds(m score.Metric, sign float64) string {
	text := fmt.Sprintf("%+.3f", zero(sign*m.Value))
	if m.HasInterval() {
		low, high := sign*m.Low, sign*m.High
		text += fmt.Sprintf(" [%+.3f, %+.3f]", zero(min(low, high)), zero(max(low, high)))
	}
	return text
}

func pText(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("= %.3f", p)
}

// zero takes the sign off what prints as zero.
func zero(x float64) float64 {
	if math.Abs(x) < 0.0005 {
		return 0
	}
	return x
}

// incomplete names trials and amounts that are missing.
func (c *Comparison) incomplete() (notes []string) {
	for _, m := range c.Methods {
		if m.Failed > 0 {
			notes = append(notes, c.failures(m))
		}
		notes = append(notes, told(m.Missing > 0, "%s: %d trials are not finished, and not in these numbers", m.Method, m.Missing)...)
		notes = append(notes, told(m.LeftOut > 0, "%s: %d of %d answers leave out fields that the task asks for: they count as wrong", m.Method, m.LeftOut, m.Outcomes[methods.Answered])...)
		for _, r := range []Resource{Tokens, Cost} {
			n := m.Usage[Calls].N // whose use is known of every trial
			known := m.Usage[r].N
			notes = append(notes, told(0 < known && known < n, "%s: %s is unknown for %d of %d samples, which its mean leaves out", m.Method, r, n-known, n)...)
		}
	}
	return notes
}

// open says of each pair of several why its interval is off zero and nobody wins.
func (c *Comparison) open() (notes []string) {
	for _, p := range c.Pairs {
		h := p.Metrics[c.Metric]
		if len(c.Pairs) > 1 && h.Winner == "" && sideOf(h.Difference) != 0 {
			notes = append(notes, fmt.Sprintf("%s − %s: %s", p.A, p.B, h.situation().says(h)))
		}
	}
	return notes
}

// conditions say of each winner of several pairs on what it rests.
func (c *Comparison) conditions() (notes []string) {
	for _, p := range c.Pairs {
		if h := p.Metrics[c.Metric]; len(c.Pairs) > 1 && h.Winner != "" && h.Stop == nil {
			if text := h.won(); text != "" {
				notes = append(notes, fmt.Sprintf("%s − %s: %s wins %s", p.A, p.B, h.Winner, text))
			}
		}
	}
	if len(notes) > FewPairs {
		return append(notes[:FewPairs:FewPairs], fmt.Sprintf("and %d more winners have such conditions", len(notes)-FewPairs))
	}
	return notes
}

// FewPairs is how many pairs a note names one by one: many methods make hundreds.
const FewPairs = 6

// cheaper names methods that are beaten on use alone, and how much worse the cheaper one
// may be.
func (c *Comparison) cheaper() []string {
	var pairs []string
	for _, p := range c.Pareto.Points {
		if p.Standing != Costlier {
			continue
		}
		by := make([]string, len(p.By))
		for i, name := range p.By {
			by[i] = fmt.Sprintf("%s than %s (up to %.2f worse)", name, p.Method, float64(p.Worse[i]))
			if p.Worse[i] < 0.005 {
				by[i] = fmt.Sprintf("%s than %s (not worse)", name, p.Method)
			}
		}
		pairs = append(pairs, by...)
	}
	if more := len(pairs) - FewPairs; more > 1 {
		pairs = append(pairs[:FewPairs:FewPairs], fmt.Sprintf("and %d more pairs", more))
	}
	return told(len(pairs) > 0, "%s on most samples, and how much worse on %s it may be: %s",
		map[Resource]string{Calls: "fewer calls", Tokens: "fewer tokens", Cost: "cheaper"}[c.Pareto.Resource], c.Metric, strings.Join(pairs, "; "))
}

// sharing names pairs that share answers of the model.
func (c *Comparison) sharing() (notes []string) {
	for _, p := range c.Pairs {
		notes = append(notes, told(p.Shared.Common > 0, "%s and %s share model answers in %d of %d pairs of trials (common random numbers), which narrows the interval of their difference",
			p.A, p.B, p.Shared.Common, p.Shared.Trials)...)
	}
	if len(notes) > FewPairs {
		return told(true, "%d pairs share model answers in their trials (common random numbers), which narrows the intervals of their differences", len(notes))
	}
	return notes
}

// notes are all remarks on c.
func (c *Comparison) notes() (notes []string) {
	for _, r := range remarks() {
		notes = append(notes, r.of(c)...)
	}
	return notes
}
