package compare

import (
	"math"
	"slices"

	"noema/kernel/record"
	"noema/kernel/score"
	"noema/methods"
)

// MethodStats is one method in numbers.
type MethodStats struct {
	Method   string                    `json:"method"`
	Trials   int                       `json:"trials"`  // finished
	Failed   int                       `json:"failed"`  // of those, by plugin, provider or time
	Missing  int                       `json:"missing"` // not finished
	Outcomes map[methods.Outcome]int   `json:"outcomes"`
	Causes   []Cause                   `json:"causes,omitempty"` // of the outcomes other than answered, most frequent first
	Metrics  map[string]Merit          `json:"metrics"`
	Repeats  []Repeat                  `json:"repeats,omitempty"` // with epochs of a 0/1 headline
	First    *Position                 `json:"first,omitempty"`   // for rankings
	Usage    map[Resource]score.Metric `json:"usage"`             // mean of a trial, over samples
}

// Merit is how good a method is on one metric.
type Merit struct {
	Value score.Metric `json:"value"` // failures of the infrastructure left out, other non-answers wrong
	// The other ways to count, as in [Difference]; nil where they change nothing.
	FailedAsWrong *score.Metric `json:"failed_as_wrong,omitempty"`
	AnsweredOnly  *score.Metric `json:"answered_only,omitempty"`
}

// Cause is one way in which trials of a method came to no answer.
type Cause struct {
	Outcome methods.Outcome `json:"outcome"`
	Infra   bool            `json:"infra,omitempty"` // by plugin, provider or time
	Text    string          `json:"text"`            // of the first such trial; others may differ in numbers and quoted words
	Trials  int             `json:"trials"`
	Example string          `json:"example"` // a trial to look at
}

// statsOf describes method m.
func (d Data) statsOf(m int, o Options) MethodStats {
	s := MethodStats{
		Method: d.Methods[m], Trials: d.count(m, func(Cell) bool { return true }), Failed: d.infra(m),
		Outcomes: map[methods.Outcome]int{}, Causes: d.causes(m), Metrics: map[string]Merit{},
		Repeats: d.repeats(m, o), First: d.position(m, o), Usage: map[Resource]score.Metric{},
	}
	s.Missing = len(d.Samples)*d.epochs() - s.Trials
	d.count(m, func(c Cell) bool { s.Outcomes[c.Outcome]++; return true })
	for _, metric := range d.Metrics {
		s.Metrics[metric] = d.merit(m, metric, o)
	}
	for _, r := range Resources() {
		s.Usage[r] = d.usage(m, r, o)
	}
	return s
}

func (d Data) infra(m int) int { return d.count(m, func(c Cell) bool { return c.Infra }) }

// unanswered counts the trials without a result, the infrastructure's included.
func (d Data) unanswered(m int) int {
	return d.count(m, func(c Cell) bool { return c.Infra || c.Outcome != methods.Answered })
}

// merit is method m on a metric, in all three ways to count.
func (d Data) merit(m int, metric string, o Options) Merit {
	at := func(t treatment) score.Metric {
		v := view{metric, t, envelopeOf(o.Budget)}
		return metricOf(metric, d.values(m, v), d.clusters(), score.Options{Level: o.Level})
	}
	out := Merit{Value: at(completeCase)}
	if d.infra(m) > 0 {
		wrong := at(failedAsWrong)
		out.FailedAsWrong = &wrong
	}
	if d.unanswered(m) > 0 {
		only := at(answeredOnly)
		out.AnsweredOnly = &only
	}
	return out
}

// usage is the mean use of a resource. Nothing uses less than none, so the
// interval ends there.
func (d Data) usage(m int, r Resource, o Options) score.Metric {
	u := metricOf(string(r), d.used(m, r), d.clusters(), score.Options{Level: o.Level, Student: true})
	if u.HasInterval() {
		u.Low = math.Max(0, u.Low)
	}
	return u
}

// causes groups the trials without an answer by outcome and reason.
func (d Data) causes(m int) []Cause {
	var found []Cause
	at := map[string]int{}
	d.count(m, func(c Cell) bool {
		if c.Outcome == methods.Answered {
			return false
		}
		key := record.CauseKey(c.Outcome, c.Reason)
		i, known := at[key]
		if !known {
			i = len(found)
			at[key] = i
			found = append(found, Cause{Outcome: c.Outcome, Infra: c.Infra, Text: c.Reason, Example: c.Trial})
		}
		found[i].Trials++
		return true
	})
	slices.SortStableFunc(found, func(a, b Cause) int { return b.Trials - a.Trials })
	return found
}
