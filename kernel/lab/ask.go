package lab

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/run/runner"
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
	Answer string `json:"answer" part:"ask" default:"text" doc:"form of the answer: number, text, set, set:a,b, choice:a,b, fields:a,b or ranking:a,b"`
}

// AskMethods are asked where no method is named.
const AskMethods = "direct,cot"

// The task of a question, its one sample and its version.
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
	found, err := l.ask(q)
	return l.newResult(found, err), err
}

func (l *Lab) ask(q Asking) (*runner.Result, error) {
	if len(q.Methods) == 0 {
		q.Methods = strings.Split(AskMethods, ",")
	}
	t, err := l.question(q)
	if err != nil {
		return nil, err
	}
	if _, _, err := task.EnvironmentOf(t.Environment, "", t.Samples[0].Problem); err != nil {
		return nil, Misused(fmt.Errorf("ask with the tools of %q: %w: leave --task out, or compare methods on the task's own samples with \"noema compare --task %s\"",
			q.Task, cmp.Or(errors.Unwrap(err), err), files.Word(q.Task)))
	}
	s := runner.Setup{Command: slices.Clone(os.Args), Redactor: l.o.Redactor}
	if s.Experiment, err = q.Experiment.Complete(); err != nil {
		return nil, err
	}
	s.Task, s.Question = t, q.Query
	if s.Provider, err = l.modelOf(s.Experiment, s.Experiment.Model); err != nil {
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
		return fmt.Errorf("method %q works by the tool %q, which the question does not come with: --corpus FOLDER gives tools that search, --task those of a task, such as a logs.yaml%s",
			m.Label, lacks[0], task.Missing(lacks[0]))
	}
	return nil
}
