package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
)

// score names the scorers in noema's words. The first one decides.
func (t *evalTask) score(d *Dataset) error {
	var names []string
	for i, s := range t.Scorers {
		if strings.HasPrefix(s.Name, "model_graded_") {
			if i == 0 {
				d.Scorer = score.Named(s.Name) // a run refuses it without a scorer of the user's
				return nil
			}
			d.Notes = append(d.Notes, fmt.Sprintf("the scorer %s of %s is not used: a model grades it", s.Name, evalName))
			continue
		}
		name, note, err := scorerOf(s)
		if err != nil {
			return err
		}
		if note != "" {
			d.Notes = append(d.Notes, note)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 || len(names) == 1 && (names[0] == score.Exact || names[0] == score.Letter) {
		return nil // as answers of this kind are compared anyway: texts without case and punctuation, labels as they are
	}
	var err error
	d.Scorer, err = score.Choose(names)
	return err
}

// scorerOf is noema's scorer for one of Inspect's, with a note where they differ.
func scorerOf(s part) (name, note string, err error) {
	text := func(arg string) string { v, _ := s.Args[arg].(string); return v }
	yes := func(arg string) bool { v, _ := s.Args[arg].(bool); return v }
	switch s.Name {
	case "exact", "f1", "choice", "math", "includes":
		return s.Name, "", nil
	case "answer": // methods give their answer alone, without "ANSWER:" before it
		if text("pattern") == "letter" {
			return score.Letter, "", nil
		}
		return score.Exact, "", nil
	case "pattern":
		if _, cased := s.Args["ignore_case"]; !cased || yes("ignore_case") {
			return score.Pattern + ":(?i)" + text("pattern"), "", nil
		}
		return score.Pattern + ":" + text("pattern"), "", nil
	case "match":
		switch at := cmp.Or(text("location"), "end"); {
		case yes("numeric"):
			return score.Numeric, "", nil
		case at == "exact":
			return score.Exact, "", nil
		case at == "any":
			return score.Includes, "", nil
		default:
			return score.Includes, fmt.Sprintf("the scorer match of %s looks at the %s of an answer; here it is includes, which looks everywhere", evalName, at), nil
		}
	}
	return "", "", fmt.Errorf("scorer %q: want includes, match, pattern, answer, exact, f1, choice, math, model_graded_qa or model_graded_fact", s.Name)
}
