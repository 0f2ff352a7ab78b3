package compare

import "noema/kernel/result/record"

// Headline is the measure that a trial is judged by first, with its name. There
// is none for a trial that the infrastructure failed.
func Headline(t *record.Trial) (name string, value float64, ok bool) {
	if t.Infra {
		return "", 0, false
	}
	return t.Score.Headline()
}

// Right reports whether a trial earned the full score on its headline.
func Right(t *record.Trial) bool {
	_, v, ok := Headline(t)
	return ok && v >= 1
}

// Wrong reports whether a trial says something about its method and is not right.
// One without a target is neither right nor wrong.
func Wrong(t *record.Trial) bool { return !t.Infra && t.HasTarget() && !Right(t) }

// Tally is the headline of a method while its trials come in, in any order.
// When all are there its mean is that of [Describe].
type Tally struct {
	samples map[string][]float64 // of each sample, its epochs' values
}

// Add counts a trial, unless it has no headline.
func (t *Tally) Add(trial *record.Trial) {
	if _, v, ok := Headline(trial); ok {
		if t.samples == nil {
			t.samples = map[string][]float64{}
		}
		t.samples[trial.ID.Sample] = append(t.samples[trial.ID.Sample], v)
	}
}

// Mean is the mean so far, with the number of samples that it is over.
func (t *Tally) Mean() (mean float64, n int) {
	for _, epochs := range t.samples {
		mean += sum(epochs) / float64(len(epochs))
	}
	return mean / float64(len(t.samples)), len(t.samples)
}
