package report

import (
	"cmp"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
)

// helps say what the columns of tables hold, by their heading, in words that need no
// statistics. Measures are explained where they are declared; see [score.Doc].
var helps = map[string]string{
	"n":                       "samples that count; epochs of a sample are averaged first, since repeats add no evidence",
	"calls":                   "calls of the model by a trial, on average",
	"calls and tools":         "calls of the model and of tools by a trial, on average",
	"tokens in+out":           "tokens of a trial's prompts and of its replies, on average",
	"tokens":                  "tokens of a trial's prompts and replies together, on average",
	"cost":                    "dollars of a trial at the price when it was asked, on average, with its share of what the method compiled once",
	"model time":              "time of a trial's calls added up, also of those side by side",
	"outcomes":                "how answers came about: answered, or why there is none",
	"for what it takes":       "best value: no other method is as good for less; beaten: another wins and takes less; behind: another looks better and cheaper, each with the p-value that is given, and neither is proven; no order shown: the data do not tell",
	differenceHeading:         "the first method minus the second: above 0 the first is better; the interval holds the true difference at the level that a note names",
	sidesHeading:              "samples on which the first method is better, worse and equal",
	"p, corrected":            "how often chance alone shows such a difference, times the number of pairs; below 0.05 is called proven",
	"winner":                  "the better method, where interval and test agree; \"none\" says that the data do not decide, not that both are equal",
	"ratio of use [interval]": "what the first method takes for each unit of the second: below 1 it takes less",
	"e-value":                 "evidence against \"no difference\" that may be looked at after each sample",
	"needed":                  "the e-value at which the difference counts as proven",
	"look":                    "the look that decided, of those that were declared",
	"samples":                 "samples asked until the pair was decided",
}

// explained are tables whose columns say what they hold.
func explained(tables []display.Table) []display.Table {
	for _, t := range tables {
		for i, c := range t.Columns {
			t.Columns[i].Help = cmp.Or(helps[c.Name], score.Doc(c.Name))
		}
	}
	return tables
}

// Explained says what the columns of the tables hold, a line each.
func (s Sheet) Explained() string {
	var lines []string
	known := map[string]bool{}
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			if c.Help != "" && !known[c.Name] {
				known[c.Name] = true
				lines = append(lines, wrap(c.Name+": "+c.Help, s.textWidth()))
			}
		}
	}
	return strings.Join(lines, "\n")
}
