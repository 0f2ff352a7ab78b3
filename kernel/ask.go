package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"noema/kernel/runner"
	"noema/kernel/task"
	"noema/methods"
)

// Asking is a question whose right answer is not known, for one or more methods.
// The fields of the embedded experiment say how it is asked; those that choose
// samples have no meaning. Task names the task whose tools the methods get, and
// may be empty.
type Asking struct {
	Experiment
	Query string // the question
	About
}

// About says what a question is about and what it asks for.
type About struct {
	Corpus string `json:"corpus" part:"ask" doc:"what methods can search: a folder of Markdown, HTML or text, a .jsonl of paragraphs, or the URL of a MediaWiki server"`
	Answer string `json:"answer" part:"ask" default:"text" doc:"form of the answer: number, text, set, choice:a,b, fields:a,b or ranking:a,b"`
}

// AskMethods are asked where no method is named.
const AskMethods = "direct,cot"

// The task of a question.
const (
	askName    = "ask"
	askSample  = "question"
	askVersion = "1"
)

// MaxQuestion bounds a question, in bytes.
const MaxQuestion = 1 << 20

// Ask puts a question to methods and records it as a run, which shows the answers
// side by side, replays and compares as any other. Asked again, it makes no call.
// A method that cannot answer in this form, or lacks its tools, is refused before
// a call is made.
func (l *Lab) Ask(q Asking) (*Result, error) {
	if len(q.Methods) == 0 {
		q.Methods = strings.Split(AskMethods, ",")
	}
	t, err := l.question(q)
	if err != nil {
		return nil, err
	}
	s := runner.Setup{Command: slices.Clone(os.Args), Redactor: l.o.Redactor}
	if s.Experiment, err = q.Experiment.Complete(); err != nil {
		return nil, err
	}
	s.Task, s.Question = t, q.Query
	if s.Provider, err = l.modelOf(s.Experiment); err != nil {
		return nil, err
	}
	ctx := l.o.Context()
	if s.Methods, err = l.OpenMethods(ctx, s.Experiment.Methods, q.MethodOptions); err != nil {
		return nil, err
	}
	for i, m := range s.Methods {
		if err := able(m, t); err != nil {
			return nil, Misused(fmt.Errorf("ask: %w", err))
		}
		s.Methods[i].Shuffle = false // items are numbered as they were asked for
	}
	return l.carryOut(s)
}

// able refuses a method that cannot answer the question, with the cure.
func able(m runner.Method, t *Task) error {
	if kind := t.Samples[0].Problem.Answer.Kind; !m.Description.Supports(kind) {
		return fmt.Errorf("method %q cannot answer with a %s: it answers %s; name another form by --answer, or another method",
			m.Label, kind, runner.AnyOf(m.Description.Answers))
	}
	var offered []methods.ToolSpec
	if t.Environment != nil {
		offered = t.Environment.Tools()
	}
	if lacks := m.Description.Lacks(offered); len(lacks) > 0 {
		return fmt.Errorf("method %q works by the tool %q, which the question does not come with: --corpus FOLDER gives tools that search, --task those of a task, such as a logs.yaml",
			m.Label, lacks[0])
	}
	return nil
}

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
		t, err = l.withEmbeddings(options, func() (*Task, error) { return l.o.Catalog.Task(Spec{Options: options}) })
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
