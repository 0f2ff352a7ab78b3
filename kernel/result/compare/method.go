package compare

import (
	"slices"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// MethodStats is one method in numbers.
type MethodStats struct {
	Method   string                    `json:"method"`
	N        int                       `json:"n"`       // scored samples with a trial that did not fail
	Trials   int                       `json:"trials"`  // finished
	Failed   int                       `json:"failed"`  // of those, by plugin, provider or time
	Missing  int                       `json:"missing"` // not finished
	Outcomes map[methods.Outcome]int   `json:"outcomes"`
	Repaired int                       `json:"repaired,omitempty"` // of those answered: read from another form than the one asked for
	Cut      int                       `json:"cut,omitempty"`      // trials with a reply that was cut at the token limit
	LeftOut  int                       `json:"left_out,omitempty"` // of those answered: without a field that the problem asks for, which counts as wrong
	Causes   []Cause                   `json:"causes,omitempty"`   // of the outcomes other than answered, most frequent first
	Metrics  map[string]Merit          `json:"metrics"`
	Repeats  []Repeat                  `json:"repeats,omitempty"` // with epochs of a 0/1 headline
	First    *Position                 `json:"first,omitempty"`   // for rankings
	Usage    map[Resource]score.Metric `json:"usage"`             // mean of a trial with its share of the seeds, over samples
	Total    Usage                     `json:"total"`             // of the trials that did not fail, and of the seeds
	Lost     *Usage                    `json:"lost,omitempty"`    // of those that failed: charged, and in no other number of use
	Hops     *PerHop                   `json:"per_hop,omitempty"` // where the samples have metadata "hops"
	Seeds    *SeedUse                  `json:"seeds,omitempty"`   // the part of use and total that seeds took; nil if it built none
	Grading  *Grading                  `json:"grading,omitempty"` // nil if no model graded it
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
func (d Data) statsOf(m int, o plan) MethodStats {
	scored := d.scored()
	s := MethodStats{
		Method:   d.Methods[m],
		Outcomes: map[methods.Outcome]int{}, Causes: d.Causes(m), Metrics: scored.merits(m, o),
		Usage: d.usage(m, o), Hops: d.perHop(m), First: scored.position(m, o),
	}
	if len(d.Metrics) > 0 {
		s.Repeats = scored.repeats(m, o)
	}
	total, lost, seeds := s.tally(d, m)
	s.Total, s.Seeds, s.LeftOut = UsageOf(total), seeds, d.count(m, func(c Cell) bool { return c.LeftOut > 0 })
	if s.Failed > 0 {
		use := UsageOf(lost)
		s.Lost = &use
	}
	planned, known := d.Planned[s.Method]
	if !known {
		planned = len(d.Samples) * d.epochs()
	}
	s.Missing = max(0, planned-s.Trials)
	for _, sample := range scored.Samples {
		if slices.ContainsFunc(sample.Cells[m], view{}.counts) {
			s.N++
		}
	}
	return s
}

// tally counts the trials of method m of d, and adds up what those that did not fail were
// charged, with the method's seeds, and what the others were.
func (s *MethodStats) tally(d Data, m int) (total, lost methods.Usage, seeds *SeedUse) {
	d.count(m, func(c Cell) bool {
		s.Trials++
		s.Outcomes[c.Outcome]++
		if c.Repaired && c.Outcome == methods.Answered {
			s.Repaired++
		}
		if c.Cut {
			s.Cut++
		}
		if seeds = c.seeds; c.Infra {
			s.Failed++
			lost = lost.Plus(c.Usage)
		} else {
			total = total.Plus(c.Usage)
		}
		return true
	})
	if seeds != nil {
		total = total.Plus(seeds.sum)
	}
	return total, lost, seeds
}

func (d Data) infra(m int) int { return d.count(m, func(c Cell) bool { return c.Infra }) }

// unanswered counts the trials without a result, the infrastructure's included.
func (d Data) unanswered(m int) int {
	return d.count(m, func(c Cell) bool { return c.Infra || c.Outcome != methods.Answered })
}

// merits is method m on every metric, in all three ways to count.
func (d Data) merits(m int, o plan) map[string]Merit {
	envelope := envelopeOf(o.Budget)
	at := func(t treatment) map[string]score.Metric {
		metrics := map[string]score.Metric{}
		for _, name := range d.Metrics {
			if !isCorpus(name) {
				metrics[name] = d.metric(m, view{metric: name, treatment: t, envelope: envelope}, o)
			}
		}
		for _, one := range d.corpus(m, view{treatment: t, envelope: envelope}, o) {
			metrics[one.Name] = one
		}
		return metrics
	}
	var wrong, answered map[string]score.Metric
	if d.infra(m) > 0 {
		wrong = at(failedAsWrong)
	}
	if d.unanswered(m) > 0 {
		answered = at(answeredOnly)
	}
	all := map[string]Merit{}
	for name, value := range at(completeCase) {
		all[name] = Merit{Value: value, FailedAsWrong: found(wrong, name), AnsweredOnly: found(answered, name)}
	}
	if d.count(m, func(c Cell) bool { _, has := c.Values[score.First]; return has }) > 0 {
		all[score.First] = Merit{Value: d.metric(m, view{metric: score.First}, o)}
	}
	return all
}

func found(metrics map[string]score.Metric, name string) *score.Metric {
	if m, ok := metrics[name]; ok {
		return &m
	}
	return nil
}

// Causes groups the trials without an answer by outcome and reason.
func (d Data) Causes(m int) []Cause {
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
