package generalanot

import (
	"context"
	"errors"
	"fmt"

	"noema/methods"
	work "noema/methods/internal/trial"
	"noema/methods/reply"
)

// Method is General ANoT. It has no state: one value serves any number of
// trials.
type Method struct{}

var (
	_ methods.Method    = Method{}
	_ methods.Describer = Method{}
)

func New() methods.Method { return Method{} }

// options are declared by their tags; see [methods.OptionsOf].
type options struct {
	Filter         string  `json:"filter" default:"words" choices:"words,substring,none,semantic,union" doc:"how keywords pick reviews: as whole words, as any part of the text, not at all, by their meaning, or by words or meaning"`
	Threshold      float64 `json:"threshold" default:"0.3" min:"-1" max:"1" doc:"similarity of meaning from which a review is picked, by filters that need a task with embeddings"`
	Compile        string  `json:"compile" default:"one" choices:"one,three" doc:"compile in one call, or in three: structure, extraction, computation"`
	Rounds         int     `json:"rounds" default:"3" min:"1" doc:"how often the policy, or a step of compiling it, may be compiled until it is valid"`
	Passes         int     `json:"passes" default:"1" min:"1" max:"25" doc:"how often each review is read; the majority decides each field, ties go to the earliest pass"`
	Temperature    float64 `json:"temperature" default:"0.7" min:"0" max:"2" doc:"temperature of the passes after the first"`
	Retries        int     `json:"retries" default:"2" min:"0" doc:"how often a review is asked about again after an unusable reply"`
	MaxFailed      int     `json:"max_failed" default:"0" min:"0" doc:"how many extractions may fail while the outcome is still answered"`
	MaxReviewChars int     `json:"max_review_chars" default:"0" min:"0" doc:"characters shown of a review; 0 for what the Formula Seed says"`
	Strategy       string  `json:"strategy" default:"head" choices:"head,tail,head+tail" doc:"which part of a review longer than max_review_chars is kept"`
	MaxTokens      int     `json:"max_tokens" default:"0" min:"0" doc:"output limit of one call; 0 for the provider's own"`
	Seed           string  `json:"seed" doc:"a Formula Seed as JSON, to be used instead of compiling the policy"`
}

// Describe implements [methods.Describer].
func (Method) Describe() methods.Description {
	return methods.Description{
		Name:          "general-anot",
		Version:       "3",
		PromptVersion: promptVersion,
		Summary:       "compiles the task once, extracts from each relevant review, computes fields, a choice or a score for each item",
		Answers:       []methods.AnswerKind{methods.Fields, methods.Ranking, methods.Choice},
		Options:       methods.OptionsOf(options{}),
	}
}

type trial struct {
	work.Trial
	opts     options
	contexts []*Context // one, or one for each item of a ranking
	texts    string     // choices: what the texts of the context are
	shown    string     // what compiling shows of the problem
}

// Solve implements [methods.Method]. The value of the answer holds the output
// fields that are defined; one that is not is absent.
//
// The outcome is Answered if every extraction succeeded (but for max_failed of
// them) and every output field is defined; of a ranking, if any score is. Lost
// extractions make it Failed if the provider lost them and Unparsed if the
// replies were unusable, with the value computed from the rest; without any
// extraction there is no value. A formula that failed makes it Failed. It is
// Refused if the policy did not compile to a valid seed, and OverBudget at the
// budget, both without a value. A ranking is always given: it is Defaulted and
// drawn from the trial's seed where nothing else orders the items.
func (Method) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	t, err := newTrial(p, h)
	var a methods.Answer
	if err == nil {
		a, err = t.solve(ctx)
	}
	if err == nil {
		return a, nil
	}
	outcome, ended := work.Ending(ctx, "general-anot", err, "")
	var refused *refusedError
	if outcome == "" && ctx.Err() == nil && errors.As(err, &refused) {
		outcome = methods.Refused
	}
	if outcome == "" {
		return methods.Answer{}, ended
	}
	return t.without(outcome, err), nil
}

// maxReason bounds a reason, in bytes.
const maxReason = 1000

func newTrial(p methods.Problem, h methods.Host) (*trial, error) {
	t := &trial{Trial: work.Trial{Problem: p, Host: h}}
	if !(Method{}).Describe().Supports(p.Answer.Kind) {
		return t, fmt.Errorf("cannot answer a problem of kind %q: only fields, rankings and choices", p.Answer.Kind)
	}
	if n := p.Answer.N; p.Answer.Kind == methods.Ranking && (n < 1 || n > maxItems) {
		return t, fmt.Errorf("cannot rank %d items, only 1 to %d", n, maxItems)
	}
	err := methods.DecodeOptions(p, &t.opts)
	t.MaxTokens = t.opts.MaxTokens
	return t, err
}

// read decodes the problem's context.
func (t *trial) read() error {
	var err error
	var one *Context
	switch t.Answer.Kind {
	case methods.Ranking:
		t.contexts, err = readItems(t.Context)
	case methods.Choice:
		if len(t.Answer.Labels) < 2 {
			return &refusedError{"read problem", fmt.Sprintf("a choice needs two labels or more, not %d", len(t.Answer.Labels))}
		}
		one, t.texts, err = readMaterial(t.Context, t.Query)
	default:
		if one, err = ParseContext(t.Context); err != nil {
			return err
		}
	}
	if err != nil {
		return &refusedError{"read problem", err.Error()}
	}
	if one != nil {
		t.contexts = []*Context{one}
	}
	return nil
}

func (t *trial) solve(ctx context.Context) (methods.Answer, error) {
	if err := t.read(); err != nil {
		return methods.Answer{}, err
	}
	p, err := t.program(ctx)
	if err != nil {
		return methods.Answer{}, err
	}
	relevant, err := t.filter(ctx, p)
	if err != nil {
		return methods.Answer{}, err
	}
	found, err := t.extract(ctx, p, relevant)
	if err != nil {
		return methods.Answer{}, err
	}
	if t.Answer.Kind == methods.Ranking {
		return t.rank(ctx, p, relevant, found)
	}
	if len(relevant) > 0 && len(found.list) == 0 {
		a := methods.Answer{}.As(found.outcome(), found.reason(len(relevant)))
		t.emit(phaseCompute, methods.StepError, 1, nil, "nothing to compute from: %s", a.Reason)
		return a, nil
	}
	r, err := t.compute(ctx, p, found.list)
	if err != nil {
		return methods.Answer{}, err
	}
	return t.conclude(p, found, r, len(relevant)), nil
}

// without is the answer of a trial that ended early: of a ranking, a drawn one.
func (t *trial) without(o methods.Outcome, cause error) methods.Answer {
	reason := reply.OneLine(cause.Error(), maxReason)
	if t.Answer.Kind != methods.Ranking {
		return methods.Answer{}.As(o, reason)
	}
	t.emit(phaseCompute, methods.Fallback, 1, nil, "the ranking is drawn at random: %s", reason)
	return methods.RankingAnswer(t.drawn()[:t.named()]).As(o, reason)
}

// The phases, with which call paths begin.
const (
	phaseCompile = "compile"
	phaseFilter  = "filter"
	phaseExtract = "extract"
	phaseCompute = "compute"
)

// emit sends an event of the phase that path begins with. Data may be nil.
func (t *trial) emit(path string, kind methods.EventKind, level int, data any, format string, args ...any) {
	if data != nil {
		data = plainJSON(data)
	}
	t.Emit(path, kind, level, data, format, args...)
}
