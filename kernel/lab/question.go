package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"noema/kernel/task"
	"noema/methods"
)

// question makes the task of a question: one sample without a target, with the
// tools of what it is asked about.
func (l *Lab) question(q Asking) (*Task, error) {
	if err := checkQuestion(q.Query); err != nil {
		return nil, Misused(fmt.Errorf("ask: %w", err))
	}
	spec, items, err := task.ParseAnswer(orText(q.Answer))
	if err != nil {
		return nil, Misused(fmt.Errorf("ask: %w", err))
	}
	from, about, err := l.ground(q)
	if err != nil {
		return nil, err
	}
	context, err := withItems(from.Context, &spec, items)
	if err != nil {
		return nil, Misused(fmt.Errorf("ask: %w", err))
	}
	t := &Task{
		Name: askName, Version: askVersion, Summary: "a question without a known answer", Config: about, Source: q.source(),
		Environment: from.Environment,
		Samples:     []Sample{{ID: askSample, Problem: Problem{Query: q.Query, Context: context, Answer: spec}}},
	}
	if len(from.Samples) == 0 || from.Context != nil { // notes on what is asked about, and not on a task's own questions
		t.Notes = from.Notes
	}
	if about != "" {
		t.Version, err = versionOf(from)
	}
	return t, err
}

func orText(answer string) string {
	if answer == "" {
		return string(Text)
	}
	return answer
}

func checkQuestion(query string) error {
	switch {
	case strings.TrimSpace(query) == "":
		return errors.New("the question is empty")
	case len(query) > MaxQuestion:
		return fmt.Errorf("the question is larger than %d MiB: put long material into a folder and name it by --corpus", MaxQuestion>>20)
	case !utf8.ValidString(query):
		return errors.New("the question is not valid UTF-8: save it as UTF-8")
	}
	return nil
}

// source says where the tools are from, so that a fork finds them again. It is in no
// hash: a path is a matter of the machine.
func (q Asking) source() string {
	switch {
	case q.Corpus != "":
		return "corpus " + q.Corpus
	case q.Task != "":
		s, err := ParseSpec(q.Task)
		if err != nil {
			break // it is refused where it is opened
		}
		maps.Copy(s.Options, q.TaskOptions)
		return "task " + s.Label(s.Name)
	}
	return "a question"
}

// asked is the task of a stored question with its tools, if they are what they were.
func (l *Lab) asked(r *Result) (*Task, error) {
	kind, text, _ := strings.Cut(r.Run.Source, " ")
	q := Asking{Experiment: Experiment{Task: text}}
	if kind == "corpus" {
		q = Asking{About: About{Corpus: text}}
	}
	from, _, err := l.ground(q)
	if err != nil {
		return nil, err
	}
	t := *r.Task
	t.Environment = from.Environment
	t.Version, err = versionOf(from)
	return &t, err
}

// versionOf is the version of a question about something: other tools make another
// question.
func versionOf(from *Task) (string, error) {
	digest, err := from.Digest()
	if err != nil {
		return "", err
	}
	return askVersion + "+" + digest[:12], nil
}

// ground opens what a question is asked about, with its name; a task without tools
// if it is about nothing.
func (l *Lab) ground(q Asking) (t *Task, about string, err error) {
	switch {
	case q.Corpus != "" && q.Task != "":
		return nil, "", Misused(errors.New("ask: a corpus and a task exclude each other: leave one of them out"))
	case q.Corpus != "":
		options := map[string]string{"corpus": q.Corpus}
		if strings.HasPrefix(q.Corpus, "http://") || strings.HasPrefix(q.Corpus, "https://") {
			options = map[string]string{"wikipedia": q.Corpus}
		}
		maps.Copy(options, q.TaskOptions)
		t, err = l.withExtras(options, func() (*Task, error) { return l.o.Catalog.Task(l.o.Context(), Spec{Options: options}) })
		if err != nil {
			return nil, "", err
		}
		return t, t.Name, nil
	case q.Task != "":
		if t, err = l.Task(q.Task, q.TaskOptions); err != nil {
			return nil, "", err
		}
		return t, "task=" + t.Name, nil
	case len(q.TaskOptions) > 0:
		return nil, "", Misused(errors.New("ask: task options need a task or a corpus"))
	}
	return &Task{}, "", nil
}

// withItems puts the items to rank into a context. Without items of the user's own
// those of the task are ranked, if it has any.
func withItems(context json.RawMessage, spec *methods.AnswerSpec, items []string) (json.RawMessage, error) {
	if spec.Kind != Ranking {
		return context, nil
	}
	fields := map[string]json.RawMessage{}
	if len(context) > 0 {
		if err := json.Unmarshal(context, &fields); err != nil {
			return nil, fmt.Errorf("read the task's context: %w", err)
		}
	}
	if items == nil {
		var have []json.RawMessage
		if json.Unmarshal(fields[task.ItemsKey], &have) != nil || len(have) < 2 {
			return nil, errors.New("nothing to rank: name the items, as in ranking:tea,coffee")
		}
		spec.N, spec.K = len(have), min(5, len(have))
		return context, nil
	}
	raw, err := json.Marshal(items)
	if err != nil {
		return nil, err
	}
	fields[task.ItemsKey] = raw
	return json.Marshal(fields)
}
