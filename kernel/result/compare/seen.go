package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Look is a verdict that somebody was shown.
type Look struct {
	At      time.Time `json:"at"`
	Samples int       `json:"samples"` // scored; 0 if the record is damaged
	Trials  int       `json:"trials"`  // without those that the infrastructure failed
	Verdict string    `json:"verdict"`
	Winners []string  `json:"winners,omitempty"` // of pairs, each once
	Rule    int       `json:"rule,omitempty"`    // the version of the rules of verdicts, 0 before the second
	Runs    []string  `json:"runs"`
	// Series is equal for data that grow from one another: those with one seed and one
	// first sample.
	Series string `json:"series"`
}

// Looks are the verdicts that were shown on one question: the same methods, models,
// task and metric, each on other data, such as a run that was extended. Whoever looks
// until there is a winner finds one by chance more often than the level of a single
// test says. Data that are shown again are not another look.
type Looks struct {
	Question string `json:"question"` // its digest
	Number   int    `json:"number"`   // of the present data among all looks, from 1; 0 beyond [MaxLooks]
	Total    int    `json:"total"`
	// FalseWinner is how often one or more of so many looks name a winner of equal
	// methods, at most; null where no test can name one.
	FalseWinner Number `json:"false_winner"`
	Latest      []Look `json:"latest"` // at most 20, the last one last
	// Notes say that, and what the evidence is; empty for a single look.
	Notes []string `json:"notes,omitempty"`
}

// VerdictRule is the version of the rules by which verdicts are found. Since 2 a verdict holds in the
// worst case of lost trials, graded values are judged by an exact rule in place of Student's t
// with an allowance, and a baseline that is chosen later pays for all pairs.
const VerdictRule = 2

const (
	MaxLooks   = 1000 // how many looks at one question are recorded
	shownLooks = 20   // of them in Latest
)

// lookAt is the look that c is, at the given runs.
func (c *Comparison) lookAt(series string, runs []string) Look {
	look := Look{
		Rule: VerdictRule, At: time.Now().UTC(), Samples: c.paired(), Verdict: clipped(c.Verdict, mostKept), Series: series, Runs: runs[:min(len(runs), shownLooks)],
	}
	for _, m := range c.Methods {
		look.Trials += m.Trials - m.Failed
	}
	for _, p := range c.Pairs {
		if p.Winner != "" && !slices.Contains(look.Winners, p.Winner) && len(look.Winners) < shownLooks {
			look.Winners = append(look.Winners, clipped(p.Winner, mostKept))
		}
	}
	return look
}

// paired is how many samples the verdict rests on: an interrupted run has not paired all.
func (c *Comparison) paired() int {
	most := 0
	for _, p := range c.Pairs {
		most = max(most, p.Metrics[c.Metric].Difference.N)
	}
	if most == 0 {
		return c.Samples - c.Unscored
	}
	return most
}

// mostKept bounds what is kept of a text, in which a label of any length may stand.
const mostKept = 300

// clipped is a text of at most so many characters.
func clipped(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// setLooks says in c what it means to be one of all looks at a question, which are in
// order. c is the one at the place number-1.
func (c *Comparison) setLooks(question string, all []Look, number int) {
	l := &Looks{Question: question, Number: number, Total: len(all), FalseWinner: undefined, Latest: all[max(0, len(all)-shownLooks):]}
	c.Looks = l
	tested := slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.Metrics[c.Metric].P.Defined() })
	if tested {
		l.FalseWinner = Number(falseWinner(all))
	}
	if len(all) < 2 {
		return
	}
	which := ordinal(number) + " look"
	switch {
	case number == 0:
		which = fmt.Sprintf("one of more than %d looks", MaxLooks)
	case number < len(all):
		which = fmt.Sprintf("the %s of %d looks", ordinal(number), len(all))
	}
	text := fmt.Sprintf("%s at this comparison (%s)", which, sizes(all))
	if tested {
		text += fmt.Sprintf(": if the methods were equally good, at least one of %d looks would name a winner in up to %.0f %% of cases, not %.0f %%; to look often, declare it before the run: --until decided, or --looks",
			len(all), 100*float64(l.FalseWinner), 100*(1-c.Level))
	}
	l.Notes = []string{text}
	old := len(slices.DeleteFunc(slices.Clone(all), func(l Look) bool { return l.Rule == VerdictRule || len(l.Winners) == 0 }))
	l.Notes = append(l.Notes, told(old > 0, "%d of the earlier verdicts named a winner by other rules than those of now: they left failed trials out, and judged graded values by t with an allowance", old)...)
	evidence := c.evidence(all)
	if evidence != "" && number == len(all) {
		l.Notes = append(l.Notes, evidence)
	}
	won := slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.Winner != "" })
	if doubt := fmt.Sprintf(" (%s: one of so many names a winner by chance in up to %.0f %% of cases)", which, 100*float64(l.FalseWinner)); won && tested && !strings.HasSuffix(evidence, "this one stands") && !strings.HasSuffix(c.Verdict, doubt) {
		c.Verdict += doubt
	}
}

// sizes lists the numbers of samples, of many looks the first two and the last.
func sizes(all []Look) string {
	texts := make([]string, len(all))
	for i, l := range all {
		if texts[i] = strconv.Itoa(l.Samples); l.Samples == 0 {
			texts[i] = "?"
		}
	}
	if len(texts) > 8 {
		texts = append(append(texts[:2:2], "…"), texts[len(texts)-3:]...)
	}
	return strings.Join(texts, ", ") + " samples"
}

// ordinal is "second" or "12th".
func ordinal(n int) string {
	words := []string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}
	if n < len(words) {
		return words[n]
	}
	ending := "th"
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		ending = []string{"st", "nd", "rd"}[n%10-1]
	}
	return strconv.Itoa(n) + ending
}

// evidence is what a test says that holds for any number of looks at growing data,
// where there is one: the e-value of 0/1 outcomes (see evidence in evalue.go).
func (c *Comparison) evidence(all []Look) string {
	best, most := Pair{}, 0.0
	for _, p := range c.Pairs {
		d := p.Metrics[c.Metric]
		if d.Test != suissaShuster {
			return ""
		}
		if d.Calibration != nil {
			continue // wins are by the graders' word, and labels are drawn, not grown
		}
		if e := eValue(d.Wins, d.Losses); e > most {
			best, most = p, e
		}
	}
	sizes := map[int]bool{}
	for _, l := range all {
		sizes[l.Samples] = true
	}
	if len(sizes) < len(all) || slices.ContainsFunc(all, func(l Look) bool { return l.Series != all[0].Series }) {
		return "" // they did not grow from one another
	}
	need := float64(len(c.Pairs)) / (1 - c.Level)
	first, second := best.A, best.B
	if d := best.Metrics[c.Metric]; d.Losses > d.Wins {
		first, second = second, first
	}
	text := fmt.Sprintf("allowing for every look at a growing run, the evidence for %s over %s is %.3g to 1 (e-value); a winner needs %.0f to 1", first, second, most, need)
	switch {
	case most < need && best.Winner != "":
		text += ": the one that is named may be there by chance"
	case best.Winner != "":
		text += ": this one stands"
	}
	return text
}
