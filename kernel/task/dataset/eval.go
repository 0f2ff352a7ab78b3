package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/base/score"
	"noema/kernel/task/table"
)

// evalTask is a task of an eval.yaml.
//
// Source: inspect_ai/_eval/task/hf.py of inspect-ai 0.3.285, which runs these files.
// Differs: solvers are not used, because the method is what is compared; epochs are the
// experiment's.
type evalTask struct {
	ID     string `yaml:"id"`
	Config string `yaml:"config"`
	Split  string `yaml:"split"`
	Fields struct {
		Input    any `yaml:"input"`
		Target   any `yaml:"target"`
		Choices  any `yaml:"choices"`
		Metadata any `yaml:"metadata"`
		ID       any `yaml:"id"`
		Image    any `yaml:"input_image"`
		Sandbox  any `yaml:"sandbox"`
		Files    any `yaml:"files"`
		Setup    any `yaml:"setup"`
	} `yaml:"field_spec"`
	Shuffle bool   `yaml:"shuffle_choices"`
	Epochs  int    `yaml:"epochs"`
	Reducer string `yaml:"epoch_reducer"`
	Solvers []part `yaml:"solvers"`
	Scorers []part `yaml:"scorers"`
}

// part is a solver or a scorer.
type part struct {
	Name string         `yaml:"name"`
	Args map[string]any `yaml:"args"`
}

// readEval takes from an eval.yaml what d lacks: config, split, mapping and scorer.
func readEval(raw []byte, o Options, d *Dataset) error {
	var file struct {
		Tasks []evalTask `yaml:"tasks"`
	}
	err := files.YAML(raw, &file)
	if err == nil && len(file.Tasks) == 0 {
		err = errors.New("it has no tasks")
	}
	if err != nil && o.Task == "" { // other tools have files of this name
		d.Notes = append(d.Notes, evalName+" is not in the form of Community Evals, and not used")
		return nil
	}
	if err != nil {
		return misnamed("task=%s: %s: %w", o.Task, evalName, err)
	}
	t, err := pick(file.Tasks, o, d)
	if err != nil || t == nil {
		return err
	}
	if err := t.into(d); err != nil {
		return misnamed("%s: task %q: %w: write input= and target= to read the rows without it", evalName, t.ID, err)
	}
	return nil
}

// pick is the task that is asked for: by its id, or the only one for the config and the
// split; nil if there is none for these.
func pick(tasks []evalTask, o Options, d *Dataset) (*evalTask, error) {
	var ids []string
	var found []*evalTask
	for i := range tasks {
		t := &tasks[i]
		ids = append(ids, t.ID)
		if o.Task != "" && t.ID != o.Task || o.Task == "" && (other(o.Config, t.Config) || other(o.Split, t.Split)) {
			continue
		}
		found = append(found, t)
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case o.Task != "":
		return nil, misnamed("there is no task %q in its %s: it has %s", o.Task, evalName, strings.Join(ids, ", "))
	case len(found) > 1:
		return nil, misnamed("write task= for one of the tasks of its %s: %s", evalName, strings.Join(ids, ", "))
	}
	d.Notes = append(d.Notes, evalName+" has no task for this config and split, and is not used")
	return nil, nil
}

func other(asked, has string) bool { return asked != "" && has != "" && asked != has }

// into takes over what the task says.
func (t *evalTask) into(d *Dataset) (err error) {
	for _, f := range []struct {
		name  string
		value any
	}{{"input_image", t.Fields.Image}, {"sandbox", t.Fields.Sandbox}, {"files", t.Fields.Files}, {"setup", t.Fields.Setup}} {
		if f.value != nil {
			return fmt.Errorf("field_spec has %q: methods read text alone, without images and sandboxes", f.name)
		}
	}
	m := table.Mapping{Whole: true}
	var input, target, id []string
	for _, f := range []struct {
		name  string
		value any
		one   bool
		into  *[]string
	}{
		{"input", t.Fields.Input, true, &input}, {"target", t.Fields.Target, true, &target}, {"id", t.Fields.ID, true, &id},
		{"choices", t.Fields.Choices, false, &m.Choices}, {"metadata", t.Fields.Metadata, false, &m.Metadata},
	} {
		if *f.into, err = columns(f.value); err != nil || f.one && len(*f.into) > 1 {
			return fmt.Errorf("field_spec: %s: want a column, not %.80v", f.name, f.value)
		}
	}
	if input == nil {
		return errors.New("field_spec has no input")
	}
	m.Input, m.Target, m.ID = input[0], first(target), first(id)
	m.Shuffle = t.Shuffle && m.Choices != nil
	d.Config, d.Split, d.Mapping = t.Config, t.Split, m
	d.Counted = m.Choices != nil && !strings.HasPrefix(m.Target, "literal:")
	if err := t.score(d); err != nil {
		return err
	}
	t.note(d)
	return nil
}

// columns are a column or a list of them.
func columns(value any) (names []string, err error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		list = []any{value}
	}
	for _, item := range list {
		name, ok := item.(string)
		if !ok || name == "" {
			return nil, errors.New("not a text")
		}
		names = append(names, name)
	}
	return names, nil
}

func first(names []string) string {
	if names == nil {
		return ""
	}
	return names[0]
}

// inText finds columns that a template shows.
var inText = regexp.MustCompile(`\{(\w+)\}`)

// note says what is not taken over.
func (t *evalTask) note(d *Dataset) {
	var names, shown []string
	for _, s := range t.Solvers {
		names = append(names, s.Name)
		for _, m := range inText.FindAllStringSubmatch(fmt.Sprint(s.Args["template"]), -1) {
			if slices.Contains(d.Mapping.Metadata, m[1]) {
				shown = append(shown, m[1])
			}
		}
	}
	if names != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("the solvers of %s are not used, because methods are what is compared: %s", evalName, strings.Join(names, ", ")))
	}
	if shown != nil {
		d.Notes = append(d.Notes, fmt.Sprintf("their template shows columns that methods do not see here: write context=%s to show them", strings.Join(shown, ",")))
	}
	if t.Epochs > 1 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s has %d epochs, reduced by %s: give --epochs %[2]d, whose scores are averaged", evalName, t.Epochs, cmp.Or(t.Reducer, "mean")))
	}
}

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
