package lab

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/methods"
)

// Labelling asks a person which answers of a run are right, to calibrate the models
// that graded them. It shows no method and no verdict, and asks sample by sample in a
// random order, all answers to a sample together: labels correct a comparison only if
// they are of samples drawn at random, and if each has the answers of all methods.
type Labelling struct {
	File  string      // where the labels are kept
	Items []LabelItem // not yet labelled, in the order to ask
	Done  int         // answers of the run that are labelled or skipped
	run   *Result
	last  []LabelItem // judged by this Labelling, for Back
}

// LabelItem is one answer to judge, with what its graders were shown, as people read
// it. Methods that gave the same are judged at once.
type LabelItem struct {
	Question  string
	Context   string // empty if there is none
	Reference string // empty if there is none
	Given     string // the answer
	Rubric    string // what is right
	Answer    record.Label
}

// Of identifies the answer in an address or a form.
func (i LabelItem) Of() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(i.Answer.Of())))
}

// Labelling begins to label a run, or goes on with it. The seed decides the order.
func (r *Result) Labelling(seed uint64) (*Labelling, error) {
	if len(r.Run.Config.Graders) == 0 {
		return nil, Misused(fmt.Errorf("label run %s: no model graded it: compare with --scorer 'graded?model=MODEL' first", r.Run.ID))
	}
	store, err := r.lab.Store()
	if err != nil {
		return nil, err
	}
	labels, err := runner.ReadLabels(store, r.Run.ID)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, l := range labels {
		known[l.Of()] = true
	}
	grading, _ := r.Task.Scorer.Grading()
	answers := map[string][]record.Label{}
	out := &Labelling{File: runner.LabelFile(store, r.Run.ID), run: r}
	for _, t := range r.Trials {
		l := record.Label{Sample: t.ID.Sample, Answer: t.Answer.Value}
		same := func(other record.Label) bool { return other.Of() == l.Of() }
		if !t.Infra && t.Answer.Outcome == methods.Answered && !slices.ContainsFunc(answers[l.Sample], same) {
			answers[l.Sample] = append(answers[l.Sample], l)
		}
	}
	rng := rand.New(rand.NewPCG(seed, 0x1abe1))
	samples := r.Samples()
	for _, i := range rng.Perm(len(samples)) {
		s := samples[i]
		list := answers[s.ID]
		slices.SortFunc(list, func(a, b record.Label) int { return bytes.Compare(a.Answer, b.Answer) })
		for _, j := range rng.Perm(len(list)) {
			if known[list[j].Of()] {
				out.Done++
				continue
			}
			out.Items = append(out.Items, LabelItem{
				Question: s.Problem.Query, Context: runner.Shown(s.Problem.Context), Reference: runner.Shown(s.Target),
				Given: runner.Shown(list[j].Answer), Rubric: runner.Rubric(grading, s.Scored()), Answer: list[j],
			})
		}
	}
	return out, nil
}

// Judge keeps the verdict on the first item and takes it off the list.
func (l *Labelling) Judge(j record.Judgement) error {
	if len(l.Items) == 0 {
		return errors.New("label: every answer is labelled")
	}
	label := l.Items[0].Answer
	label.Label = j
	store, err := l.run.lab.Store()
	if err == nil {
		err = runner.AddLabels(store, l.run.Run.ID, label)
	}
	if err == nil {
		l.last, l.Items, l.Done = append(l.last, l.Items[0]), l.Items[1:], l.Done+1
	}
	return err
}

// Back asks for the last answer again, whose next label takes the place of the one that
// it has. It reports whether there is one.
func (l *Labelling) Back() bool {
	n := len(l.last) - 1
	if n < 0 {
		return false
	}
	l.Items, l.last, l.Done = append([]LabelItem{l.last[n]}, l.Items...), l.last[:n], l.Done-1
	return true
}

// Import adds labels that were made elsewhere, as JSON Lines of [record.Label], and
// returns how many there are and how many of them are about answers of the run.
func (l *Labelling) Import(from io.Reader) (all, known int, err error) {
	labels, err := record.ReadLabels(from)
	if err != nil {
		return 0, 0, fmt.Errorf("import labels: %w", err)
	}
	about := map[string]bool{}
	for _, t := range l.run.Trials {
		about[record.Label{Sample: t.ID.Sample, Answer: t.Answer.Value}.Of()] = true
	}
	kept := slices.DeleteFunc(slices.Clone(labels), func(x record.Label) bool { return !about[x.Of()] })
	store, err := l.run.lab.Store()
	if err == nil && len(kept) > 0 {
		err = runner.AddLabels(store, l.run.Run.ID, kept...)
	}
	return len(labels), len(kept), err
}
