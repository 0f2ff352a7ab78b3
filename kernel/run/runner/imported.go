package runner

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"noema/cache"
	"noema/kernel/base/redact"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/compare"
	"noema/kernel/result/predictions"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
	"noema/methods/decimal"
	"noema/methods/reply"
)

// Import makes a run of answers that another harness has predicted.
type Import struct {
	Task     *task.Task
	File     *predictions.File
	Pairs    predictions.Pairs // of File and Task
	Label    string            // of the method
	Model    methods.ModelID
	Digest   string // SHA-256 of the file, in hex
	Command  []string
	Redactor *redact.Redactor
}

// Do scores the answers as those of any method and records the run. It is finished
// and has no root hash, since no call of its trials is recorded. Samples without a
// prediction are not part of it; an epoch that one lacks is left out as a failure.
func (i Import) Do(ctx context.Context, store *cache.Store) (*Result, error) {
	config, samples, err := i.config()
	if err != nil {
		return nil, err
	}
	method := Method{Label: i.Label, Plugin: record.Plugin{Method: i.Label, Path: i.File.Name, Digest: i.Digest, NoCalls: true}}
	from := imported{from: record.Imported{Harness: i.File.Harness, File: i.File.Name, Digest: i.Digest}}
	x := newExecution(Setup{Task: i.Task, Methods: []Method{method}, Command: i.Command, Redactor: i.Redactor}, from, store, Quiet{}, samples)
	if err := errors.Join(x.checkTests(), x.openGateways(gateway.Options{Store: store, Provider: none.New(provider.Info{ID: i.Model}), Redactor: i.Redactor})); err != nil {
		return nil, err
	}
	trials, err := i.trials(ctx, x, config, samples)
	if err != nil {
		return nil, err
	}
	digest, err := config.Digest()
	if err != nil {
		return nil, err
	}
	runs, err := Runs(ctx, store)
	if err != nil {
		return nil, err
	}
	unlock, err := x.create(ctx, config, digest, runs)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, t := range trials {
		if err := x.saveTrial(ctx, t); err != nil {
			return nil, err
		}
	}
	x.run.Status, x.run.Ended, x.run.Notes = record.Finished, time.Now().UTC(), slices.Concat(x.run.Notes, i.notes(trials))
	return &Result{Recorded: compare.Recorded{Run: x.run, Task: i.Task, Trials: trials}}, x.save(ctx)
}

// config is what the run is of: the samples that have predictions, and a method whose
// code is the file.
func (i Import) config() (record.Config, []task.Sample, error) {
	digest, err := i.Task.Digest()
	if err != nil {
		return record.Config{}, nil, err
	}
	c := record.Config{
		Task:    record.Task{Name: i.Task.Name, Version: i.Task.Version, Config: i.Task.Config, Digest: digest},
		Model:   record.Model{ID: i.Model},
		Methods: []record.Method{{Label: i.Label, Name: "imported", Version: i.File.Harness, Code: i.Digest}},
		Epochs:  i.File.Epochs(),
	}
	var samples []task.Sample
	for _, s := range i.Task.Samples {
		if len(i.Pairs.Of[s.ID]) > 0 {
			samples = append(samples, s)
			c.Task.Samples = append(c.Task.Samples, s.ID)
		}
	}
	c.TextRules, c.Reading = textRules(i.Task, samples), reply.Rules
	if c.Size() > maxTrials {
		return c, nil, Misused(fmt.Errorf("import %s: %d trials are more than %d", i.File.Name, c.Size(), maxTrials))
	}
	return c, samples, Misused(checkNames(c))
}

// trials are the scored predictions, in canonical order.
func (i Import) trials(ctx context.Context, x *execution, c record.Config, samples []task.Sample) ([]*record.Trial, error) {
	unread, first := 0, ""
	var trials []*record.Trial
	for _, s := range samples {
		for epoch := range c.Epochs {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t, err := i.trial(ctx, x, record.TrialID{Method: i.Label, Sample: s.ID, Epoch: epoch}, s)
			if err != nil {
				return nil, Misused(fmt.Errorf("import: %w", err))
			}
			if t.Answer.Outcome == methods.Unparsed || t.Answer.Outcome == methods.Defaulted {
				unread++
				if first == "" {
					first = fmt.Sprintf("sample %q: %s", s.ID, t.Answer.Reason)
				}
			}
			trials = append(trials, t)
		}
	}
	if unread == len(trials) && i.File.Harness == predictions.Rows {
		return nil, Misused(fmt.Errorf("import %s: no prediction could be read as the answer that the task asks for; the first, of %s: name the column of answers \"answer\"", i.File.Name, first))
	}
	return trials, nil
}

// hundredfold reports whether an answer is off its target by a factor of 100.
func hundredfold(t *record.Trial) bool {
	answer, err := decimal.Parse(string(t.Answer.Value))
	target, bad := decimal.Parse(string(t.Target))
	if err != nil || bad != nil || answer.Sign() == 0 || target.Sign() == 0 {
		return false
	}
	times := answer.Quo(answer, target)
	return times.Cmp(big.NewRat(100, 1)) == 0 || times.Cmp(big.NewRat(1, 100)) == 0
}

func (i Import) trial(ctx context.Context, x *execution, id record.TrialID, s task.Sample) (*record.Trial, error) {
	t := &record.Trial{ID: id, Transcript: &record.Transcript{}, Started: time.Now().UTC()}
	var err error
	if _, t.Target, err = s.Present(0, false); err != nil {
		return nil, err
	}
	list := i.Pairs.Of[s.ID]
	at := slices.IndexFunc(list, func(p predictions.Prediction) bool { return p.Epoch == id.Epoch })
	switch {
	case at < 0:
		i.leaveOut(t, fmt.Sprintf("%s has no prediction for epoch %d", i.File.Name, id.Epoch+1))
	case list[at].Failure != "":
		i.leaveOut(t, list[at].Failure)
		t.Usage = list[at].Usage
	default:
		answer, err := list[at].To(s.Problem.Answer)
		if i.Task.Scorer.Tests() {
			answer, err = list[at].Verbatim()
		}
		if err != nil {
			return nil, err
		}
		t.Usage = list[at].Usage
		if list[at].Cut {
			t.Events = append(t.Events, methods.Event{Kind: methods.ReplyCut, Level: 1, Text: "the reply was cut at the token limit"})
		}
		conclude(t, i.Task.Scorer, s, answer, nil, nil)
		if i.Task.Scorer.Tests() {
			if err := x.test(ctx, t, nil); err != nil {
				return nil, err
			}
		}
	}
	redactTrial(i.Redactor, t)
	return t, t.Seal()
}

// leaveOut makes a trial one that says nothing about the method.
func (i Import) leaveOut(t *record.Trial, why string) {
	t.Infra, t.Failure = true, clip(why)
	t.Answer = methods.Answer{Outcome: methods.Failed, Reason: "see failure"}
}

// notes say where the answers are from, and what was left out.
func (i Import) notes(trials []*record.Trial) []string {
	paired, scaled := 0, 0
	for _, t := range trials {
		if hundredfold(t) {
			scaled++
		}
	}
	for _, list := range i.Pairs.Of {
		paired += len(list)
	}
	notes := append([]string{fmt.Sprintf("imported from %s (%s): its calls were not recorded and cannot be replayed; noema scored the answers itself; %d of its %d predictions are on %d of the %d samples",
		i.File.Name, i.File.Harness, paired, len(i.File.All), len(i.Pairs.Of), len(i.Task.Samples))}, slices.Concat(i.File.Notes, i.Pairs.Notes)...)
	if scaled > 0 && i.Task.Samples[0].Problem.Answer.Percent == "" {
		notes = append(notes, fmt.Sprintf("%d of %d answers are exactly 100 times their targets, or a hundredth of them: if replies are in percent, write percent=fraction behind the task", scaled, len(trials)))
	}
	if i.Pairs.ByQuestion {
		notes = append(notes, "samples were paired by their questions, since the ids in the file are not those of the task")
	}
	if n := len(i.Pairs.Missing); n > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d samples have no prediction and are left out: %s", n, len(i.Task.Samples), few(i.Pairs.Missing)))
	}
	if n := len(i.Pairs.Foreign); n > 0 {
		notes = append(notes, fmt.Sprintf("left out, since the task has no such sample: %s (%d of the file)", few(i.Pairs.Foreign), n))
	}
	return notes
}

// few lists the first of some ids.
func few(ids []string) string {
	const most = 5
	text := make([]string, min(len(ids), most))
	for i := range text {
		text[i] = fmt.Sprintf("%.40s", ids[i])
	}
	if len(ids) > most {
		text = append(text, "…")
	}
	return strings.Join(text, ", ")
}
