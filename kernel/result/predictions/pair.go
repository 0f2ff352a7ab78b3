package predictions

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task"
)

// Pairs are the predictions of a file on the samples of a task.
type Pairs struct {
	Of map[string][]Prediction // by the task's id of the sample, at most one for each epoch
	// ByQuestion says that samples were found by their questions, since the file's
	// ids are not the task's.
	ByQuestion bool
	Missing    []string // ids of samples without a prediction, in the task's order
	Notes      []string // what a reader of the scores must know
	Foreign    []string // ids of predictions without a sample, in the file's order, each once
}

// Pair finds the samples that predictions are on: by id, if no question contradicts
// it, and else by question. Harnesses number samples in ways of their own, so ids
// alone may pair answers with the wrong questions: where a file has questions, ids
// under which it asks something else are an error, unless force says that the
// question is only worded otherwise. So is a file of which less than half finds its
// sample, which is of another task, unless force says that it is not.
func Pair(f *File, samples []task.Sample, force bool) (Pairs, error) {
	byID := make(map[string]task.Sample, len(samples))
	for _, s := range samples {
		byID[s.ID] = s
	}
	var conflict *Prediction
	known := 0
	for i, p := range f.All {
		s, ok := byID[p.ID]
		if ok {
			known++
		}
		if ok && !force && conflict == nil && !p.asks(s.Problem.Query) {
			conflict = &f.All[i]
		}
	}
	var found func(Prediction) (string, bool)
	if found = questions(samples); known > 0 && conflict == nil {
		found = func(p Prediction) (string, bool) { _, ok := byID[p.ID]; return p.ID, ok }
	}
	foreign, same, paired := map[string]bool{}, 0, 0
	pairs := Pairs{Of: map[string][]Prediction{}, ByQuestion: known == 0 || conflict != nil}
	for _, p := range f.All {
		if id, ok := found(p); ok {
			if err := errors.Join(p.rightIs(byID[id]), f.targetIs(p, byID[id])); err != nil {
				return pairs, err
			}
			if p.Option == 0 && f.column != "" && equals(p.Value, byID[id]) {
				same++
			}
			paired++
			pairs.Of[id] = append(pairs.Of[id], p)
		} else if !foreign[p.ID] {
			foreign[p.ID] = true
			pairs.Foreign = append(pairs.Foreign, p.ID)
		}
	}
	if len(pairs.Of) == 0 {
		return pairs, unpaired(f, samples, byID, conflict)
	}
	if most := min(len(samples), len(pairs.Of)+len(foreign)); 2*len(pairs.Of) < most && !force {
		return pairs, fmt.Errorf("pair predictions: only %d of the %d samples that %s names are among the %d of the task (others are such as %q): name the task that was answered, or --force to score these alone",
			len(pairs.Of), len(pairs.Of)+len(foreign), f.Name, len(samples), pairs.Foreign[0])
	}
	if same == paired {
		pairs.Notes = append(pairs.Notes, fmt.Sprintf("all %d predictions are the targets as they stand: if the column %q holds the right answers, name another, as in %s", paired, f.column, "FILE?answer=COLUMN"))
	}
	for _, s := range samples {
		if len(pairs.Of[s.ID]) == 0 {
			pairs.Missing = append(pairs.Missing, s.ID)
		}
	}
	return pairs, pairs.check()
}

// rightIs refuses a ranking of items that are not those of the sample in its order: the
// right one would stand elsewhere.
func (p Prediction) rightIs(s task.Sample) error {
	var right []int
	if p.Gold == 0 || json.Unmarshal(s.Target, &right) == nil && slices.Equal(right, []int{p.Gold}) {
		return nil
	}
	return fmt.Errorf("pair predictions: %s: the right item of sample %q is %d there, and %s in the task: name the same candidates, as in -T items=frequent -T n=10",
		p.Place, p.ID, p.Gold, s.Target)
}

// targetIs refuses a column that was taken for the task's targets and is not.
func (f *File) targetIs(p Prediction, s task.Sample) error {
	if f.right == "" || p.Right == nil || !s.Scored() || equals(p.Right, s) {
		return nil
	}
	return fmt.Errorf("pair predictions: %s: the column %q says %.60s for sample %q, whose target is %.60s, so that it may be the prediction: write which column is%s",
		p.Place, f.right, p.Right, s.ID, s.Target, f.lines)
}

// check refuses two predictions for one trial, as when two questions read the same.
func (p Pairs) check() error {
	for id, list := range p.Of {
		for i, one := range list {
			if j := slices.IndexFunc(list[:i], func(o Prediction) bool { return o.Epoch == one.Epoch }); j >= 0 {
				return fmt.Errorf("pair predictions: %s and %s are both on sample %q: keep one", list[j].Place, one.Place, id)
			}
		}
	}
	return nil
}

// asks reports whether a prediction may be on a question; one without questions may
// be on any. A text that is much shorter than the question is another field.
func (p Prediction) asks(query string) bool {
	bare := plain(question(query))
	query = plain(query)
	return len(p.Questions) == 0 || slices.ContainsFunc(p.Questions, func(q string) bool {
		q = plain(q)
		return strings.Contains(q, bare) || 2*len(q) >= len(bare) && strings.Contains(query, q)
	})
}

// question is a query without the options that a choice shows below it.
func question(query string) string {
	q, _, _ := strings.Cut(query, "\n\nA) ")
	return q
}

// questions finds samples by what they ask. The query of a choice shows its options
// below the question.
func questions(samples []task.Sample) func(Prediction) (string, bool) {
	ids := map[string]string{}
	add := func(text, id string) {
		if text = plain(text); text == "" {
			return
		}
		if other, twice := ids[text]; twice && other != id {
			id = "" // two samples ask it: neither is meant surely
		}
		ids[text] = id
	}
	for _, s := range samples {
		add(s.Problem.Query, s.ID)
		add(question(s.Problem.Query), s.ID)
	}
	return func(p Prediction) (string, bool) {
		for _, q := range p.Questions {
			if id := ids[plain(q)]; id != "" {
				return id, true
			}
		}
		return "", false
	}
}

// plain is a text without differences of space.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

// unpaired says why no prediction is on a sample.
func unpaired(f *File, samples []task.Sample, byID map[string]task.Sample, conflict *Prediction) error {
	p := f.All[0]
	if conflict != nil {
		p = *conflict
		return fmt.Errorf("pair predictions: %s: sample %q asks %.80q there, and %.80q in the task: name the task that was answered, or --force to pair by id",
			p.Place, p.ID, p.Questions[0], byID[p.ID].Problem.Query)
	}
	return fmt.Errorf("pair predictions: the task has no sample %q (%s) nor its question, and none of the others: its ids are such as %q",
		p.ID, p.Place, samples[0].ID)
}
