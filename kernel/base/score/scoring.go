package score

import (
	"slices"
	"strings"

	"noema/methods"
)

// Scoring is how the answers of a task are scored: read once, from the name that a task,
// a file or a user gives, and the value of all who score. The zero value scores each kind
// of answer as [For] does. As text it is its name.
type Scoring struct {
	name    string
	by      Scorer  // nil for that of the answer's kind
	grading Grading // has models if some of them grade
	err     error   // why the name stands for no scorer
}

// own is the table of scorers that tasks name, for answers that need more than a
// comparison with the target.
func own() map[string]Scorer {
	return map[string]Scorer{"game24": game24Scorer{}, "research": researchScorer{}, "booking": bookingScorer{}, "tests": testsScorer{}}
}

// Named is the scoring of a name: one of a task's own, or that of [Choose]. Of a name
// that stands for nothing, [Scoring.For] tells so, since such a task can still be shown.
func Named(name string) Scoring {
	if name == "" {
		return Scoring{}
	}
	if by := own()[name]; by != nil {
		return Scoring{name: name, by: by}
	}
	return chosen(name)
}

// Choose is the scoring by the scorers that a user named, of which the first decides.
// The rubric of one that grades is its text.
func Choose(scorers []string) (Scoring, error) {
	scorers = slices.Clone(scorers)
	for i, one := range scorers {
		if g, err := ParseGrading(one); err == nil {
			scorers[i] = g.String()
		}
	}
	s := chosen(strings.Join(scorers, separator))
	return s, s.err
}

func chosen(name string) Scoring {
	s := Scoring{name: name}
	s.by, s.err = parseChosen(name)
	scorers := strings.Split(name, separator)
	if i := slices.IndexFunc(scorers, isGrading); i >= 0 && s.err == nil {
		s.grading, s.err = ParseGrading(scorers[i])
	}
	return s
}

// String is the name, which [Named] reads back.
func (s Scoring) String() string { return s.name }

// IsZero reports whether each kind of answer is scored as [For] does.
func (s Scoring) IsZero() bool { return s.name == "" }

// Chosen reports whether a user could name it: it is not a task's own.
func (s Scoring) Chosen() bool {
	_, ok := s.by.(chosenScorer)
	return ok
}

// For is the scorer of answers to spec. It is an error if there is none of the name.
func (s Scoring) For(spec methods.AnswerSpec) (Scorer, error) {
	if s.by == nil && s.err == nil {
		return For(spec), nil
	}
	return s.by, s.err
}

// Grading is how models grade; false if none does.
func (s Scoring) Grading() (Grading, bool) { return s.grading, len(s.grading.Models) > 0 }

// ByEffects reports whether trials are scored by what their tools have done.
func (s Scoring) ByEffects() bool {
	_, ok := s.by.(EffectScorer)
	return ok
}

// Tests reports whether answers are programs, which pass tests or fail.
func (s Scoring) Tests() bool { return s.by == Scorer(testsScorer{}) }

// Normalizes reports whether it compares texts by [Normalize], so that they are scored by
// the rules of version [TextRules].
func (s Scoring) Normalizes() bool {
	c, chosen := s.by.(chosenScorer)
	return s.IsZero() || chosen && slices.Contains(c.names, F1)
}

// MarshalText implements encoding.TextMarshaler.
func (s Scoring) MarshalText() ([]byte, error) { return []byte(s.name), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It takes any name, as [Named] does.
func (s *Scoring) UnmarshalText(text []byte) error {
	*s = Named(string(text))
	return nil
}
