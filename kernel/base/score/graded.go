package score

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Graded is the measure that models give who grade: 1 if they find an answer right,
// 0 if wrong. A trial that they left without a verdict has none.
const Graded = "graded"

// Grading is a scorer that asks models: "graded?model=openai/gpt-5&rubric=TEXT". A
// scorer of this package makes no calls: who runs trials asks the graders.
type Grading struct {
	Models []string // as users write models; each is asked, and the majority decides
	Rubric string   // what is right; empty for what agrees with the reference
	Self   bool     // the model under test may grade itself
	// Pairwise asks the graders, too, which of two methods' answers to a sample is
	// better, in both orders.
	Pairwise bool
}

// Limits of a grading scorer: votes cost a call each, and rubrics are in every prompt.
const (
	maxGraders = 9
	maxRubric  = 64 << 10 // bytes
)

// ParseGrading reads a grading scorer. Its model may be repeated, or several models
// are separated by commas; a model with options of its own is written with %3F for
// its question mark.
func ParseGrading(text string) (Grading, error) {
	var g Grading
	name, query, _ := strings.Cut(text, "?")
	if name != Graded {
		return g, fmt.Errorf("want graded?model=MODEL&rubric=TEXT")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return g, err
	}
	for key, given := range values {
		switch {
		case key == "model":
			for _, list := range given {
				g.Models = append(g.Models, strings.Split(list, ",")...)
			}
		case len(given) > 1:
			return g, fmt.Errorf("%s is given %d times: keep one", key, len(given))
		case key == "rubric":
			g.Rubric = strings.TrimSpace(given[0])
		case key == "self" && yesNo(given[0]):
			g.Self = given[0] != "false"
		case key == "pairwise" && yesNo(given[0]):
			g.Pairwise = given[0] != "false"
		default:
			return g, fmt.Errorf("there is no option %.40q with the value %.40q: the options are model, rubric, pairwise and self (true or false)", key, given[0])
		}
	}
	return g, g.check()
}

// yesNo reports whether a text is the value of a switch; its name alone turns it on.
func yesNo(text string) bool { return text == "" || text == "true" || text == "false" }

func (g Grading) check() error {
	sorted := slices.Sorted(slices.Values(g.Models))
	switch {
	case len(g.Models) == 0 || slices.Contains(g.Models, ""):
		return fmt.Errorf("no model grades: name one, as in graded?model=openai/gpt-5")
	case len(g.Models) > maxGraders:
		return fmt.Errorf("%d graders: at most %d vote", len(g.Models), maxGraders)
	case len(slices.Compact(sorted)) < len(g.Models):
		return fmt.Errorf("a grader is named twice: its second vote would be its first")
	case len(g.Rubric) > maxRubric:
		return fmt.Errorf("the rubric has %d bytes: at most %d", len(g.Rubric), maxRubric)
	}
	return nil
}

// String is the scorer in the one form that [ParseGrading] reads back.
func (g Grading) String() string {
	v := url.Values{"model": g.Models}
	if g.Rubric != "" {
		v.Set("rubric", g.Rubric)
	}
	if g.Self {
		v.Set("self", "true")
	}
	if g.Pairwise {
		v.Set("pairwise", "true")
	}
	return Graded + "?" + v.Encode()
}

func isGrading(text string) bool { return text == Graded || strings.HasPrefix(text, Graded+"?") }
