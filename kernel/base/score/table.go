package score

import (
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// Info is a row of the table of metrics.
type Info struct {
	Kind     methods.AnswerKind // of the answers that it measures
	Name     string
	Label    string // heading of its column in the tables of compare and runs show; empty if they do not show it
	Interval bool   // the column shows the interval, too
	Headline bool   // trials are judged by the first headline that they have
	Bias     bool   // a habit of the method and not a merit: it is not compared
	Doc      string // what its column says, in words that need no statistics
}

// judged is the kind of fields answers with a verdict in the table.
const judged methods.AnswerKind = "fields with a verdict"

// leftBehind is what a trial with tools that have effects is judged by.
const leftBehind methods.AnswerKind = "what is left behind"

// alsoChosen are what scorers give that a user chose beside the first, which gives
// the accuracy; see [Choose].
const alsoChosen methods.AnswerKind = "chosen scorers"

// table lists the metrics of each kind of answer in display order; the first is
// the headline of its kind. A grader gives them for a trial, [Corpus] gives the
// last three for a run. Whoever adds a metric adds a row here; README.md has the
// steps. Of every metric more is better and 1 is right: comparisons rely on it.
// Scores are in a trial's hash, so a new row changes the root hash of every run
// with such answers, and older runs no longer replay to theirs.
//
// Rows of one name share what the first of them with a label says: accuracy of
// numbers, texts, sets and fields has the column and the headline of choices.
func table() []Info {
	return []Info{
		{Kind: methods.Ranking, Name: hitsAt, Label: "hits@", Interval: true, Headline: true, Doc: "share of the samples whose right item is among the first so many that the method names"},
		{Kind: methods.Ranking, Name: MRR, Label: "MRR", Doc: "mean of 1 over the place at which the right item is named"},
		{Kind: methods.Ranking, Name: ndcgAt},
		{Kind: methods.Ranking, Name: First, Label: "picks item 1", Bias: true, Doc: "how often the method names the item that was shown first: a habit, not a merit"},
		{Kind: leftBehind, Name: Success, Label: "success", Interval: true, Headline: true, Doc: "share of the trials that left things as they should be"},
		{Kind: leftBehind, Name: Clean, Label: "clean", Interval: true, Doc: "share of the trials that changed nothing that they should not"},
		{Kind: leftBehind, Name: Balanced, Label: "balanced", Interval: true},
		{Kind: methods.Choice, Name: Accuracy, Label: "accuracy", Interval: true, Headline: true, Doc: "share of the samples that are answered right"},
		{Kind: methods.Number, Name: Accuracy},
		{Kind: methods.Text, Name: Accuracy},
		{Kind: methods.Text, Name: EM},
		{Kind: alsoChosen, Name: Graded, Label: "graded", Interval: true, Headline: true, Doc: "grade of a model that judges answers, from 0 to 1"},
		{Kind: methods.Text, Name: F1, Label: "F1", Interval: true, Headline: true, Doc: "how much of the answer is in the target and how much of the target in the answer, from 0 to 1"},
		{Kind: methods.Set, Name: F1},
		{Kind: methods.Set, Name: Precision},
		{Kind: methods.Set, Name: Recall},
		{Kind: methods.Set, Name: Accuracy},
		{Kind: methods.Fields, Name: Accuracy},
		{Kind: methods.Fields, Name: FieldAccuracy},
		{Kind: judged, Name: VerdictAccuracy, Label: "verdict", Interval: true, Headline: true, Doc: "share of the samples whose conclusion is right"},
		{Kind: judged, Name: PrimitiveAccuracy, Label: "primitives", Doc: "share of the values behind the conclusion that are right"},
		{Kind: alsoChosen, Name: Exact, Label: "exact", Interval: true},
		{Kind: alsoChosen, Name: Includes, Label: "includes", Interval: true},
		{Kind: alsoChosen, Name: Pattern, Label: "pattern", Interval: true},
		{Kind: alsoChosen, Name: Numeric, Label: "number", Interval: true},
		{Kind: alsoChosen, Name: Letter, Label: "choice", Interval: true},
		{Kind: alsoChosen, Name: Math, Label: "math", Interval: true},
		{Name: MacroF1, Label: "macro-F1", Interval: true, Doc: "F1 of each level of the verdict, averaged over the levels"},
		{Name: AUPRC, Label: "AUPRC", Doc: "area under precision and recall, averaged over the thresholds between levels"},
		{Name: AdjustedAUPRC, Label: "adj. AUPRC", Interval: true, Doc: "AUPRC times the share of primitives that are right"},
	}
}

// rowsOf are the rows of spec's answers, one for each cutoff of a ranking.
func rowsOf(spec methods.AnswerSpec) []Info {
	kind := spec.Kind
	if kind == methods.Fields && len(spec.Labels) > 0 {
		kind = judged
	}
	var rows []Info
	for _, row := range table() {
		if row.Kind != kind || kind == "" {
			continue
		}
		cuts := []int{0}
		switch row.Name {
		case hitsAt:
			cuts = hitCutoffs(cutoff(spec))
		case ndcgAt:
			cuts = []int{cutoff(spec)}
		}
		for _, k := range cuts {
			at := row
			if k > 0 {
				at.Name += strconv.Itoa(k)
			}
			rows = append(rows, at)
		}
	}
	return rows
}

// Names lists the values that [For]'s scorer gives for spec, in display order.
// The first is the headline of its kind.
func Names(spec methods.AnswerSpec) []string {
	var names []string
	for _, row := range rowsOf(spec) {
		names = append(names, row.Name)
	}
	return names
}

// EffectNames lists the values of trials that are scored by what their tools have
// done, the headline first.
func EffectNames() []string {
	var names []string
	for _, row := range table() {
		if row.Kind == leftBehind {
			names = append(names, row.Name)
		}
	}
	return names
}

// zero is what an answer that is not a result earns: 0 on all that measures merit.
func zero(spec methods.AnswerSpec) map[string]float64 {
	values := map[string]float64{}
	for _, row := range rowsOf(spec) {
		if !row.Bias {
			values[row.Name] = 0
		}
	}
	return values
}

// IsBias reports whether the value of a name measures a habit and not a merit.
func IsBias(name string) bool {
	for _, row := range table() {
		if row.Name == name {
			return row.Bias
		}
	}
	return false
}

// Doc says what a measure says, by its name or the heading of its column, in words that
// need no statistics; it is empty of one without them.
func Doc(name string) string {
	for _, row := range table() {
		if row.Doc != "" && (name == row.Name || name == row.Label || row.Name == hitsAt && strings.HasPrefix(name, row.Label)) {
			return row.Doc
		}
	}
	return ""
}

// Columns lists the metrics that tables show, where last is the largest k of hits@k
// among them.
func Columns(last int) []Info {
	var columns []Info
	for _, row := range table() {
		if row.Label == "" {
			continue
		}
		if row.Name != hitsAt {
			columns = append(columns, row)
			continue
		}
		for _, k := range slices.Compact([]int{1, max(1, last)}) {
			at := row
			at.Name, at.Label = Hits(k), row.Label+strconv.Itoa(k)
			columns = append(columns, at)
		}
	}
	return columns
}

// Headline is the measure that a trial is judged by first, with its name.
func (s Score) Headline() (name string, value float64, ok bool) {
	for _, row := range table() {
		if row.Name == hitsAt {
			row.Name = Hits(1)
		}
		if v, ok := s.Get(row.Name); ok && row.Headline {
			return row.Name, v, true
		}
	}
	return "", 0, false
}
