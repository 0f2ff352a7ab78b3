package task

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/score"
	"noema/methods"
)

// Scored is t with a note on its scorer, if that is one of those that users choose. It
// refuses a task whose scorer noema does not have, such as a model that grades.
func (t *Task) Scored() (*Task, error) {
	if _, err := t.Scorer.For(methods.AnswerSpec{Kind: methods.Text}); err != nil {
		return nil, fmt.Errorf("task %q names a scorer that noema does not have, %q: choose another with --scorer: %s", t.Name, t.Scorer, score.Chosen)
	}
	return t.with(t.Scorer, t.Scorer.String(), "the task names"), nil
}

// with is t with a note on who chose a scorer, if that is one of those to choose from and
// not the task's own.
func (t *Task) with(by score.Scoring, scorer, why string) *Task {
	if !by.Chosen() {
		return t
	}
	noted := *t
	noted.Notes = append(slices.Clone(t.Notes), fmt.Sprintf("scored by %.200s, as %s", strings.ReplaceAll(scorer, "\n", ", "), why))
	return &noted
}

// ScoredBy is t with other scorers. Its trials keep their seeds, so that their calls
// are found in the store.
func (t *Task) ScoredBy(scorers []string) (*Task, error) {
	if _, unknown := t.Scorer.For(methods.AnswerSpec{Kind: methods.Text}); unknown == nil && !t.Scorer.IsZero() && !t.Scorer.Chosen() {
		return nil, fmt.Errorf("task %q has a scorer of its own, %q, and other scorers cannot read its targets: leave --scorer out", t.Name, t.Scorer)
	}
	rubrics, err := withRubrics(scorers)
	if err != nil {
		return nil, err
	}
	by, err := score.Choose(rubrics)
	if err != nil {
		return nil, err
	}
	other := *t
	if !t.Scorer.IsZero() {
		other = *t.with(by, strings.Join(scorers, "\n"), "--scorer says; the task names "+t.Scorer.String())
	}
	other.Scorer = by
	if other.SeedDigest == "" {
		if other.SeedDigest, err = t.Digest(); err != nil {
			return nil, err
		}
	}
	return &other, other.CheckTargets()
}

// CheckTargets finds the first target that its scorer cannot read.
func (t *Task) CheckTargets() error {
	for _, s := range t.Samples {
		if !s.Scored() {
			continue
		}
		by, err := t.Scorer.For(s.Problem.Answer)
		if err == nil {
			_, err = by.Score(s.Problem.Answer, methods.Answer{Outcome: methods.Unparsed}, s.Target)
		}
		if err != nil {
			return fmt.Errorf("task %q, sample %q: %w", t.Name, s.ID, err)
		}
	}
	return nil
}

// withRubrics has the text of a grader's rubric in the place of its file, so that a run
// says by what it was graded.
func withRubrics(scorers []string) ([]string, error) {
	scorers = slices.Clone(scorers)
	for i, one := range scorers {
		g, err := score.ParseGrading(one)
		file, named := strings.CutPrefix(g.Rubric, "@")
		if err != nil || !named {
			continue // what is wrong with it is said where scorers are chosen
		}
		raw, err := files.Read(file, files.MaxText)
		if err != nil {
			return nil, fmt.Errorf("scorer %.100q: read the rubric: %w", one, err)
		}
		g.Rubric = strings.TrimSpace(string(raw))
		scorers[i] = g.String()
	}
	return scorers, nil
}
