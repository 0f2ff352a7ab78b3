package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// The verdicts of a grader.
const (
	gradedRight = "CORRECT"
	gradedWrong = "INCORRECT"
)

// openGateways opens the road to the model, and one to each grader. All calls are
// charged to one run.
func (x *execution) openGateways(o gateway.Options) (err error) {
	var c record.Config
	if x.run != nil { // no call is made for an import, which has no run yet
		c = x.run.Config
	}
	o.Verbatim, o.Thoughts = c.Reading == 0, c.Model.Thoughts
	if x.gateway, err = gateway.New(o); err != nil {
		return err
	}
	o.Purse, o.Seeds, o.Spent = x.gateway, nil, methods.Usage{}
	for i, by := range x.exp.Graders {
		o.Provider, o.Thoughts = by, c.Graders[i].Thoughts
		g, err := gateway.New(o)
		if err != nil {
			return err
		}
		x.graders = append(x.graders, g)
	}
	return nil
}

// recordedGraders stand for graders whose every answer is recorded.
func recordedGraders(list []record.Model) (graders []provider.Provider) {
	for _, m := range list {
		graders = append(graders, none.New(provider.Info{ID: m.ID, Simulated: m.Simulated}))
	}
	return graders
}

// checkGraders refuses graders that are not those of the scorer, and a model that
// would grade its own answers.
func (e *Setup) checkGraders() error {
	g, _ := e.Task.Scorer.Grading()
	if len(g.Models) != len(e.Graders) {
		return fmt.Errorf("the scorer of task %q names %d graders, and %d are open", e.Task.Name, len(g.Models), len(e.Graders))
	}
	if design, _ := e.design(); design != nil && len(e.Graders) > 0 {
		return errors.New("--until and --looks need a scorer that is not a model: leave them out, or choose another --scorer")
	}
	model := e.Provider.Info().ID
	for i, by := range e.Graders {
		id := by.Info().ID
		if slices.ContainsFunc(e.Graders[:i], func(p provider.Provider) bool { return p.Info().ID == id }) {
			return fmt.Errorf("grader %s is named twice: its second vote would be its first", id)
		}
		sameModel := id.Provider == model.Provider && id.Endpoint == model.Endpoint && id.Model == model.Model && id.Weights == model.Weights
		if sameModel && !g.Self {
			return fmt.Errorf("model %s would grade its own answers, which models favour: name another grader, or add &self=true", model)
		}
	}
	return nil
}

// maxGraded bounds what graders read of an answer, in bytes: who pays for a call must
// not pay for an answer without measure.
const maxGraded = 256 << 10

// grade asks the graders for the verdict on an answer. An answer without a value
// is wrong, and the graders are not asked. An error ends the run.
func (x *execution) grade(ctx context.Context, t *record.Trial, p methods.Problem, recorded *record.Trial) error {
	if x.exp.Task.Scorer.Tests() {
		return x.test(ctx, t, recorded)
	}
	g, graded := x.exp.Task.Scorer.Grading()
	value := bytes.TrimSpace(t.Answer.Value)
	if !graded || t.Failure != "" || t.Answer.Outcome != methods.Answered || len(value) == 0 || string(value) == "null" {
		return nil
	}
	if len(value) > maxGraded {
		t.Ungraded = fmt.Sprintf("the answer has %d bytes: graders read at most %d", len(value), maxGraded)
		return nil
	}
	prompt := gradingPrompt(p, t, g)
	var yes, no int
	for i, by := range x.graders {
		path := fmt.Sprintf("grade/%d", i+1)
		verdict, err := x.vote(ctx, by, question{path, prompt, absolute()}, t, recorded)
		if fatal := x.ended(ctx, by); fatal != nil {
			return fatal
		}
		switch {
		case err != nil:
			t.Ungraded = clip(err.Error())
		case verdict == gradedRight:
			yes++
		default:
			no++
		}
	}
	if yes == no && yes > 0 {
		t.Ungraded = fmt.Sprintf("the graders are split %d to %d", yes, no)
	}
	if yes == no {
		return nil
	}
	t.Ungraded = ""
	if t.Score.Values == nil {
		t.Score.Values = map[string]float64{}
	}
	t.Score.Values[score.Graded] = 0
	if yes > no {
		t.Score.Values[score.Graded] = 1
	}
	return nil
}

// ended is why no further verdict can come.
func (x *execution) ended(ctx context.Context, by *gateway.Gateway) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return by.Fatal()
}

// question is what one grader is asked.
type question struct {
	path, prompt string
	verdicts     []string // one of which it must give
}

func absolute() []string { return []string{gradedRight, gradedWrong} }

// gradedBefore is what is recorded of the calls at a path that graded a trial; nil for
// nothing.
func gradedBefore(recorded *record.Trial, path string) *record.Trial {
	if recorded == nil {
		return nil
	}
	calls := slices.DeleteFunc(slices.Clone(recorded.Grading), func(c record.Call) bool {
		return c.Path != path && !strings.HasPrefix(c.Path, path+"/")
	})
	return &record.Trial{Transcript: &record.Transcript{Calls: calls}}
}

// vote is the verdict of one grader, whose calls it adds to the trial. Neither the
// method nor the epoch is in their keys: an answer that was graded once is known.
func (x *execution) vote(ctx context.Context, by *gateway.Gateway, q question, t, recorded *record.Trial) (string, error) {
	host := by.Host(gateway.Trial{ID: record.TrialID{Sample: t.ID.Sample}, Recorded: gradedBefore(recorded, q.path)})
	verdict, err := askGrader(ctx, host, q)
	report := host.Report()
	t.Grading, t.Provider = append(t.Grading, report.Calls...), t.Provider+report.Provider
	return verdict, err
}
