package compare

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// FromTrials makes the data of a comparison from records. labels are the
// methods to compare, in order; trials of other methods are left out. metrics
// are the scores to compare, the headline first; with none, all that the trials
// have are compared, in the order of [score.EffectNames] and [score.Names], and if
// none has a score there is only something to describe.
//
// A trial on a sample that is not among samples is an error, because it comes
// from another task or another version of it, and so are two trials with one
// id: a replay is not new data.
func FromTrials(labels []string, samples []task.Sample, trials []*record.Trial, metrics ...string) (Data, error) {
	d := Data{Methods: slices.Clone(labels), Samples: make([]Sample, len(samples))}
	at := make(map[string]int, len(samples))
	for i, s := range samples {
		at[s.ID] = i
		d.Samples[i] = Sample{
			ID: s.ID, Group: s.Group, Cluster: s.Cluster, Chance: chanceOf(s), Cells: make([][]Cell, len(labels)), Unscored: !s.Scored(),
		}
		if hops, err := strconv.Atoi(s.Metadata["hops"]); err == nil {
			d.Samples[i].Hops = hops
		}
	}
	seen := make(map[record.TrialID]bool, len(trials))
	for _, t := range trials {
		if t == nil {
			return Data{}, errors.New("compare: a trial has no record")
		}
		m := slices.Index(labels, t.ID.Method)
		if m < 0 {
			continue
		}
		i, known := at[t.ID.Sample]
		if !known {
			return Data{}, fmt.Errorf("compare: the sample of trial %s is not in the task: compare runs of one task and version", t.ID)
		}
		if seen[t.ID] {
			return Data{}, fmt.Errorf("compare: trial %s occurs twice: give the methods of different runs different labels", t.ID)
		}
		seen[t.ID] = true
		d.Samples[i].Cells[m] = append(d.Samples[i].Cells[m], cellOf(t, samples[i].Problem.Answer))
	}
	for _, s := range d.Samples {
		for _, cells := range s.Cells {
			slices.SortFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Epoch, b.Epoch) })
		}
	}
	for i, s := range d.Samples { // graders need no target
		d.Samples[i].Unscored = s.Unscored && !slices.ContainsFunc(slices.Concat(s.Cells...), func(c Cell) bool { return len(c.Values) > 0 })
	}
	d.Chance, d.Majority = meanChance(d.scored().Samples), majorityOf(samples)
	var err error
	if d.Metrics, err = chooseMetrics(metrics, samples, d); err != nil {
		return Data{}, err
	}
	return d, d.check()
}

func cellOf(t *record.Trial, spec methods.AnswerSpec) Cell {
	facts := t.Facts()
	c := Cell{
		Epoch: t.ID.Epoch, Values: t.Score.Values, Outcome: t.Answer.Outcome, Reason: cmp.Or(t.Failure, t.Answer.Reason),
		Infra: t.Infra, Usage: t.Usage, Grading: facts.Grading, Pairs: t.Pairs, Trial: t.ID.String(),
		Prediction: score.Prediction{Spec: spec, Answer: t.Answer, Target: t.Target},
	}
	c.LeftOut, c.Repaired = leftOut(t.Answer, spec), facts.Repaired
	c.Cut = facts.Cut > 0
	c.Completions = slices.Compact(slices.Sorted(slices.Values(facts.Completions)))
	return c
}

// leftOut counts the fields that an answer lacks.
func leftOut(a methods.Answer, spec methods.AnswerSpec) (n int) {
	if spec.Kind != methods.Fields || a.Outcome != methods.Answered {
		return 0
	}
	fields, err := a.Fields()
	for _, name := range spec.Names {
		if _, has := fields[name]; !has && err == nil {
			n++
		}
	}
	return n
}

// chanceOf is what guessing earns on a sample. A task with a scorer of its own
// may have targets that say nothing to the scorers of its kind: it has no
// chance level.
func chanceOf(s task.Sample) map[string]float64 {
	levels, err := score.Chance(s.Problem.Answer, s.Target)
	if err != nil {
		return nil
	}
	return levels
}

// meanChance averages the chance levels that all samples have.
func meanChance(samples []Sample) map[string]float64 {
	means := map[string]float64{}
	if len(samples) == 0 {
		return means
	}
	for name := range samples[0].Chance {
		mean, n := 0.0, 0
		for _, s := range samples {
			if level, ok := s.Chance[name]; ok && finite(level) {
				n++
				mean += (level - mean) / float64(n) // equal levels give exactly that level
			}
		}
		if n == len(samples) {
			means[name] = mean
		}
	}
	return means
}

// majorityOf is what always naming the most frequent label earns; nil where
// the targets have no labels.
func majorityOf(samples []task.Sample) map[string]float64 {
	var all []score.Prediction
	for _, s := range samples {
		if s.Scored() {
			all = append(all, score.Prediction{Spec: s.Problem.Answer, Target: s.Target, Answer: methods.Answer{Outcome: methods.Failed}})
		}
	}
	levels, err := score.Majority(all)
	if err != nil { // as for chance
		return nil
	}
	return levels
}

// chooseMetrics checks the metrics asked for, or lists those there are. The
// first-position rate is a bias and not compared.
func chooseMetrics(asked []string, samples []task.Sample, d Data) ([]string, error) {
	found := map[string]bool{}
	for m := range d.Methods {
		d.count(m, func(c Cell) bool {
			for name, x := range c.Values {
				found[name] = found[name] || finite(x)
			}
			return true
		})
	}
	maps.DeleteFunc(found, func(_ string, has bool) bool { return !has })
	if _, verdicts := d.Majority[score.MacroF1]; verdicts && len(found) > 0 {
		for _, name := range score.OfCorpus() {
			found[name] = true
		}
	}
	have := slices.Sorted(maps.Keys(found))
	all := score.EffectNames() // where there are any, they come before what the answer says
	if len(samples) > 0 {
		all = append(append(all, score.Names(samples[0].Problem.Answer)...), score.OfCorpus()...)
	}
	for _, name := range have {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	all = slices.DeleteFunc(all, func(n string) bool { return !slices.Contains(have, n) })
	if !found[score.Accuracy] && found[score.Graded] { // then graders are the first of the scorers
		all = append([]string{score.Graded}, slices.DeleteFunc(all, func(n string) bool { return n == score.Graded })...)
	}
	if len(have) == 0 && len(asked) > 0 {
		return nil, d.noScore()
	}
	for _, name := range asked {
		if !slices.Contains(have, name) {
			return nil, fmt.Errorf("compare: unknown metric %q%s: the metrics are %s", name, methods.DidYouMean(name, all), strings.Join(all, ", "))
		}
	}
	if len(asked) > 0 {
		return slices.Clone(asked), nil
	}
	return slices.DeleteFunc(all, score.IsBias), nil
}
