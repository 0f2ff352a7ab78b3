package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// The verdicts of a grader on two answers.
const (
	firstBetter  = "FIRST"
	secondBetter = "SECOND"
	noneBetter   = "TIE"
)

// runPairs has the graders compare the answers of each two methods to a sample, where
// the scorer wants it, once all answers are there. Of two methods the later one's trial
// keeps the preference. A trial that an earlier execution saw to the end is not asked
// for again.
func (x *execution) runPairs(ctx context.Context) error {
	g, _ := x.exp.Task.Scorer.Grading()
	open := x.unpaired()
	return x.work(ctx, len(open), nil, (&inTurn{ids: open}).next, func(ctx context.Context, id record.TrialID, _ Place) error {
		x.mu.Lock()
		t, rivals := *x.trials[id], x.rivals(x.trials[id])
		x.mu.Unlock()
		t.Grading = slices.Clone(t.Grading)
		if err := x.prefer(ctx, &t, rivals, g); err != nil {
			return err
		}
		redactTrial(x.exp.Redactor, &t)
		if err := t.Seal(); err != nil {
			return err
		}
		return x.take(ctx, &t)
	})
}

// unpaired are the trials whose answers graders have yet to compare with others.
func (x *execution) unpaired() (open []record.TrialID) {
	if g, _ := x.exp.Task.Scorer.Grading(); !g.Pairwise {
		return nil
	}
	for _, id := range x.run.Trials() {
		if t := x.trials[id]; t != nil && t.Pairs == nil && len(x.rivals(t)) > 0 {
			open = append(open, id)
		}
	}
	return open
}

// rivals are the trials that t is compared with: of the methods before its own, on the
// same sample and epoch. Trials that the infrastructure failed and interventions have
// no say.
func (x *execution) rivals(t *record.Trial) (list []*record.Trial) {
	if t.Infra || x.methods[t.ID.Method].Intervention != nil {
		return nil
	}
	for _, m := range x.run.Config.Methods {
		if m.Label == t.ID.Method {
			return list
		}
		other := x.trials[record.TrialID{Method: m.Label, Sample: t.ID.Sample, Epoch: t.ID.Epoch}]
		if m.Intervention == nil && other != nil && !other.Infra {
			list = append(list, other)
		}
	}
	return list
}

// verdicts is how many calls the graders of a trial take, about half of those for a
// pair being on the other's account.
func (x *execution) verdicts() int {
	g, _ := x.exp.Task.Scorer.Grading()
	if g.Pairwise {
		return len(x.graders) * len(x.run.Config.Methods)
	}
	return len(x.graders)
}

// prefer asks for the preferences of t. An error ends the run.
func (x *execution) prefer(ctx context.Context, t *record.Trial, rivals []*record.Trial, g score.Grading) error {
	recorded, err := x.precedent(ctx, t.ID)
	if err != nil {
		return err
	}
	sample := x.samples[t.ID.Sample]
	problem, _, err := sample.Present(t.Seed, x.methods[t.ID.Method].Shuffle)
	if err != nil {
		return err
	}
	for i, other := range rivals {
		p := record.Preference{Against: other.ID.Method}
		mine, theirs := answered(t), answered(other)
		switch {
		case !mine || !theirs:
			p.Side = sign(mine) - sign(theirs)
		case string(t.Answer.Value) == string(other.Answer.Value): // a tie, and nothing to ask
		case len(t.Answer.Value)+len(other.Answer.Value) > maxGraded:
			p.Unread = fmt.Sprintf("the answers have %d bytes: graders read at most %d", len(t.Answer.Value)+len(other.Answer.Value), maxGraded)
		case problem.Answer.Kind == methods.Ranking && x.methods[t.ID.Method].Shuffle != x.methods[other.ID.Method].Shuffle:
			p.Unread = "one method saw the items in another order: their numbers mean different items"
		default:
			ask := func(by *gateway.Gateway, path string) (int, bool, error) {
				return x.bothOrders(ctx, by, path, problem, t, other, recorded, g)
			}
			if err := x.poll(ctx, &p, fmt.Sprintf("pair/%d", i+1), ask); err != nil {
				return err
			}
		}
		t.Pairs = append(t.Pairs, p)
	}
	return nil
}

func answered(t *record.Trial) bool { return t.Answer.Outcome == methods.Answered }

func sign(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// poll asks all graders for a preference; the majority decides.
func (x *execution) poll(ctx context.Context, p *record.Preference, path string, ask func(*gateway.Gateway, string) (int, bool, error)) error {
	sum := 0
	for i, by := range x.graders {
		side, swayed, err := ask(by, fmt.Sprintf("%s/%d", path, i+1))
		if fatal := x.ended(ctx, by); fatal != nil {
			return fatal
		}
		if err != nil {
			p.Unread = clip(err.Error())
			continue
		}
		p.Asked, sum = p.Asked+1, sum+side
		if swayed {
			p.Swayed++
		}
	}
	p.Side = max(-1, min(1, sum))
	if p.Asked > 0 {
		p.Unread = ""
	}
	return nil
}

// bothOrders is what one grader prefers: 1 for the answer of t, -1 for the other's. It
// is asked in both orders; where its verdicts differ, the order decided and neither
// answer did: a tie.
func (x *execution) bothOrders(ctx context.Context, by *gateway.Gateway, path string, p methods.Problem, t, other, recorded *record.Trial, g score.Grading) (side int, swayed bool, err error) {
	var sides [2]int
	var failed error
	for order, pair := range [][2]*record.Trial{{t, other}, {other, t}} {
		q := question{fmt.Sprintf("%s/%d", path, order+1), pairPrompt(p, pair[0], pair[1], g), []string{firstBetter, secondBetter, noneBetter}}
		verdict, err := x.vote(ctx, by, q, t, recorded)
		failed = errors.Join(failed, err)
		switch verdict {
		case firstBetter:
			sides[order] = 1 - 2*order
		case secondBetter:
			sides[order] = 2*order - 1
		}
	}
	if failed != nil {
		return 0, false, failed
	}
	if sides[0] != sides[1] {
		return 0, true, nil
	}
	return sides[0], false, nil
}

// pairPrompt shows the question, the reference if there is one, and two answers.
// Nothing tells which methods gave them.
func pairPrompt(p methods.Problem, first, second *record.Trial, g score.Grading) string {
	return marked("You compare two answers to a question.", p, first, g, []part{{"first", Shown(first.Answer.Value)}, {"second", Shown(second.Answer.Value)}}) +
		fmt.Sprintf("Their order says nothing about them. Say in at most three sentences which answer meets this better. Then end with one of these lines:\nAnswer: %s\nAnswer: %s\nAnswer: %s\n",
			firstBetter, secondBetter, noneBetter)
}

// withoutPairs is a trial of another run without what graders preferred beside the
// answer that a fork changes.
func withoutPairs(t *record.Trial, changed record.TrialID) (*record.Trial, error) {
	if t.Pairs == nil || t.ID.Sample != changed.Sample || t.ID.Epoch != changed.Epoch {
		return t, nil
	}
	again := *t
	again.Pairs = nil
	again.Grading = slices.DeleteFunc(slices.Clone(t.Grading), func(c record.Call) bool { return strings.HasPrefix(c.Path, "pair/") })
	return &again, again.Seal()
}
