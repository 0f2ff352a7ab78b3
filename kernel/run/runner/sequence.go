package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
)

// errDecided ends the trials that were begun before it was known that they are not
// needed.
var errDecided = errors.New("the comparison is decided")

// design is the rule by which a run of e may end early; nil for none.
func (e Experiment) design() (*record.Design, error) {
	switch {
	case e.Equivalence < 0:
		return nil, fmt.Errorf("equivalence must be above 0, because no number of samples shows that there is no difference at all: take a small one, such as 0.01, or leave it out")
	case e.Until == "" && e.Looks == 0:
		return nil, nil
	case e.Until != "" && e.Looks > 0:
		return nil, errors.New("--until decided looks after every sample: leave --looks out")
	}
	return &record.Design{Rule: record.DesignRule, Looks: e.Looks, Detect: cmp.Or(e.Equivalence, compare.DefaultDetect)}, nil
}

// declarable refuses a design that cannot be carried out.
func declarable(c record.Config, samples []task.Sample) error {
	switch {
	case c.Design == nil:
		return nil
	case !slices.ContainsFunc(samples, task.Sample.Scored):
		return errors.New("stop early: no sample has a target, so nothing can be decided: leave --until and --looks out")
	}
	return compare.CheckDesign(*c.Design, len(c.Methods), len(samples))
}

// unitOf names what is independent: a sample or its cluster.
func unitOf(s task.Sample) string {
	if s.Cluster != "" {
		return "cluster " + s.Cluster
	}
	return "sample " + s.ID
}

// largest is how many samples the largest cluster has.
func largest(samples []task.Sample) int {
	most, count := 0, map[string]int{}
	for _, s := range samples {
		count[unitOf(s)]++
		most = max(most, count[unitOf(s)])
	}
	return most
}

// drawn are samples in an order that the seed decides, clusters together, because
// a task may be sorted: what its first samples show must not differ from the rest. most
// bounds their number, without cutting a cluster; 0 takes all. Of a larger number those of
// a smaller one come first, so that whoever raises a limit goes on with the same evidence.
func drawn(samples []task.Sample, seed uint64, most int) []task.Sample {
	at := func(s task.Sample) uint64 { return record.TrialSeed(seed, "order", unitOf(s), 0) }
	sorted := slices.Clone(samples)
	slices.SortStableFunc(sorted, func(a, b task.Sample) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(unitOf(a), unitOf(b)))
	})
	if most == 0 || most >= len(sorted) {
		return sorted
	}
	end := most
	for end > 0 && unitOf(sorted[end]) == unitOf(sorted[end-1]) {
		end--
	}
	if end == 0 { // the first cluster is larger
		for end = most; end < len(sorted) && unitOf(sorted[end]) == unitOf(sorted[0]); {
			end++
		}
	}
	return sorted[:end]
}

// sequence hands out the trials of a run with a design. What is part of the run
// depends on the recorded trials alone: they are followed sample by sample in the
// declared order, whatever order they finish in. Trials of later samples may run
// ahead, so that all workers are busy; those beyond the stopping point of their
// method are left out at the end.
type sequence struct {
	x     *execution
	rule  *compare.Sequence
	given map[record.TrialID]bool
	turn  *sync.Cond // on x.mu
}

func newSequence(x *execution) *sequence {
	c := x.run.Config
	clusters := make([]string, len(c.Task.Samples))
	for i, id := range c.Task.Samples {
		clusters[i] = x.samples[id].Cluster
	}
	return &sequence{
		x: x, rule: compare.NewSequence(*c.Design, c.Test, len(c.Methods), clusters),
		given: map[record.TrialID]bool{}, turn: sync.NewCond(&x.mu),
	}
}

// next waits for a trial that may begin; there is none when all is decided, or ctx
// ends.
func (s *sequence) next(ctx context.Context) (record.TrialID, bool) {
	defer context.AfterFunc(ctx, func() {
		s.x.mu.Lock()
		defer s.x.mu.Unlock()
		s.turn.Broadcast()
	})()
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	for ctx.Err() == nil && !s.rule.Done() {
		if id, ok := s.ready(); ok {
			s.given[id] = true
			return id, true
		}
		s.turn.Wait()
	}
	return record.TrialID{}, false
}

// ready is the first trial that nobody has begun, not further ahead than workers
// need to be busy.
func (s *sequence) ready() (record.TrialID, bool) {
	c := s.x.run.Config
	var asked []string
	for m, method := range c.Methods {
		if s.rule.Asks(m) {
			asked = append(asked, method.Label)
		}
	}
	ahead := (s.x.exp.MaxSamples - 1) / (len(asked) * c.Epochs)
	for i := s.rule.At(); i < len(c.Task.Samples) && i-s.rule.At() <= ahead; i++ {
		for e := range c.Epochs {
			for _, label := range asked {
				id := record.TrialID{Method: label, Sample: c.Task.Samples[i], Epoch: e}
				if s.x.trials[id] == nil && !s.given[id] {
					return id, true
				}
			}
		}
	}
	return record.TrialID{}, false
}

// ended follows the rule over the samples that have all their trials.
func (s *sequence) ended() error {
	s.x.mu.Lock()
	defer s.x.mu.Unlock()
	defer s.turn.Broadcast()
	c := s.x.run.Config
	for !s.rule.Done() {
		values := make([]compare.Reading, len(c.Methods))
		for m, method := range c.Methods {
			var whole bool
			if values[m], whole = s.x.headline(method.Label, c.Task.Samples[s.rule.At()]); !whole && s.rule.Asks(m) {
				return nil
			}
			if !s.rule.Asks(m) {
				values[m] = compare.Reading{Seen: math.NaN(), Low: math.NaN(), High: math.NaN()}
			}
		}
		if err := s.rule.Add(values); err != nil {
			return err
		}
	}
	return errDecided
}

// headline is what a method scored on a sample, the mean of its epochs, and whether all of
// them are there. What the infrastructure failed may be worth anything; where nothing else is
// there it is NaN.
func (x *execution) headline(label, sample string) (r compare.Reading, whole bool) {
	total, n, lost := 0.0, 0.0, 0.0
	for e := range x.run.Config.Epochs {
		t := x.trials[record.TrialID{Method: label, Sample: sample, Epoch: e}]
		if t == nil {
			return r, false
		}
		if _, v, ok := compare.Headline(t); ok {
			total += v
			n++
		} else if t.Infra && x.samples[sample].Scored() {
			lost++
		}
	}
	return compare.Reading{Seen: total / n, Low: total / (n + lost), High: (total + lost) / (n + lost)}, true
}

// conclude notes in the run what the rule left, when it is done, and what it cost to
// run ahead.
func (s *sequence) conclude() {
	if !s.rule.Done() {
		return
	}
	run := s.x.run
	run.Asked = s.rule.Asked
	begun := s.given
	for id := range s.x.trials {
		begun[id] = true
	}
	used := s.x.gateway.Spent()
	for _, seed := range run.Seeds {
		used = used.Minus(seed.Usage)
	}
	needed := run.Trials()
	for _, id := range needed {
		used = used.Minus(s.x.trials[id].Usage)
	}
	if more := len(begun) - len(needed); more > 0 {
		run.Ahead = &record.Ahead{Trials: more, Usage: used}
	}
}

// follows checks that a replayed run stopped where its rule stops.
func (x *execution) follows() error {
	d := x.run.Config.Design
	if d == nil || x.run.Parent != "" || d.Outdated() {
		return nil
	}
	s := newSequence(x)
	if err := s.ended(); !errors.Is(err, errDecided) || !slices.Equal(s.rule.Asked, x.run.Asked) {
		return fmt.Errorf("replay run %q: it has %v samples by method, but its rule stops after %v: its record is damaged, or was changed",
			x.run.ID, x.run.Asked, s.rule.Asked)
	}
	return nil
}

// contiguous keeps of the trials of an unfinished run with a design those before the
// first sample that their method lacks: later ones are there because they were quick.
func contiguous(run *record.Run, trials []*record.Trial) []*record.Trial {
	if run.Config.Design == nil || run.Asked != nil {
		return trials
	}
	have := map[record.TrialID]bool{}
	for _, t := range trials {
		have[t.ID] = true
	}
	keep, each := map[record.TrialID]bool{}, len(run.Config.Task.Samples)*run.Config.Epochs
	ids := run.Config.Trials()
	for m := range run.Config.Methods {
		for _, id := range ids[m*each:][:each] {
			if !have[id] {
				break
			}
			keep[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(trials), func(t *record.Trial) bool { return !keep[t.ID] })
}
