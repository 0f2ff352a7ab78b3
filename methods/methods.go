// Package methods is noema's vocabulary: every noun that a reasoning method
// and the kernel share, and the contract between them. It imports the
// standard library alone, so a method written against it builds anywhere.
//
// A [Method] turns a [Problem] into an [Answer]. It reaches models, tools and
// the store only through its [Host], so that the kernel can record, replay,
// meter and compare what it does. A Problem has no word for the target: a
// method cannot see the answer that it is scored against.
//
// The same contract stands in plugins/internal/wire/method.proto for methods
// that run in their own process and in other languages.
package methods

import (
	"context"
	"encoding/json"
	"slices"
)

// Method solves problems. Solve must honour ctx: after cancellation it
// returns within 100 ms and leaves no goroutine behind. It must be safe for
// concurrent use, and all its randomness must come from Problem.Seed.
//
// An error means that the method could not say anything at all; a method that
// fell back on a default returns an Answer with [Defaulted] instead. An error
// from the Host that wraps [ErrBudget] is either returned as it is or turned
// into an Answer with outcome [OverBudget].
type Method interface {
	Solve(ctx context.Context, p Problem, h Host) (Answer, error)
}

// Describer is the optional second interface of a Method: what it is called,
// what it answers and which options it takes. A method without it is known by
// its plugin's name and takes no options.
type Describer interface {
	Describe() Description
}

// Description is what a method says of itself. Name, Version and
// PromptVersion are part of its identity: whoever changes what a method sends
// or concludes changes one of them.
type Description struct {
	Name          string       // as written after --methods, for example "anot"
	Version       string       // of the algorithm, for example "1"
	PromptVersion string       // of the prompts; empty if it has none
	Summary       string       // one line for listings
	Answers       []AnswerKind // the kinds it can answer; empty means all
	Tools         []string     // the tools that it works by; see [Description.Lacks]
	Options       []Option     // what Problem.Options may hold
}

// Kinds with a condition, for Description.Answers alone: the method answers the
// kind only where the problem has labels. LabelledSet are sets whose members are
// among AnswerSpec.Labels, VerdictFields fields of which one is [Verdict].
const (
	LabelledSet   AnswerKind = "set of given labels"
	VerdictFields AnswerKind = "fields with a verdict"
)

// CanAnswer reports whether the method can answer problems of this form.
func (d Description) CanAnswer(s AnswerSpec) bool {
	labelled := len(s.Labels) > 0
	return d.Supports(s.Kind) || labelled && s.Kind == Set && d.Supports(LabelledSet) || labelled && s.Kind == Fields && d.Supports(VerdictFields)
}

// Supports reports whether the method can answer all problems of kind k.
func (d Description) Supports(k AnswerKind) bool {
	for _, have := range d.Answers {
		if have == k {
			return true
		}
	}
	return len(d.Answers) == 0
}

// AnyTool in Description.Tools stands for whichever tools a problem has.
const AnyTool = "*"

// Lacks returns the tools that the method cannot do without and that are not
// among those offered. A method that lists [AnyTool] works by what it is offered,
// and without tools as well. One that lists none reads, and calls no tool. Where a
// task's tools can find part of what its problems' Context holds, that part is left
// out for methods that list such a tool: they get the question, and search.
func (d Description) Lacks(offered []ToolSpec) []string {
	var lacks []string
	for _, name := range d.Tools {
		if name != AnyTool && !slices.ContainsFunc(offered, func(t ToolSpec) bool { return t.Name == name }) {
			lacks = append(lacks, name)
		}
	}
	return lacks
}

// Option describes one option of a method, a task or a model.
type Option struct {
	Name    string
	Type    OptionType
	Default string   // as a user would type it; empty for none
	Choices []string // the allowed values, when there are few
	Doc     string   // one line
}

// ModelName is the type of an option's field that names a model of the experiment, which is
// refused before the first call where there is no such model; empty for the first.
type ModelName string

// OptionType is the JSON type that an option's value must have.
type OptionType string

// The option types.
const (
	BoolOption   OptionType = "bool"
	IntOption    OptionType = "int"
	NumberOption OptionType = "number"
	StringOption OptionType = "string"
	ModelOption  OptionType = "model" // a text, the name of a model of the experiment: see [Request.By]
)

// The types that only declarations read on the kernel's side have, such as an
// experiment's: options of methods have the four above.
const (
	DurationOption OptionType = "duration" // as in "90s"
	ListOption     OptionType = "list"
	MapOption      OptionType = "map"
)

// Problem is everything that a method may see of a sample.
type Problem struct {
	ID      string          // the sample's id, for events and errors; carries no information on the target
	Query   string          // the request in natural language
	Context json.RawMessage // structured data as a JSON object; null or empty if there is none
	Tools   []ToolSpec      // what Host.CallTool can be asked to do
	Answer  AnswerSpec      // which kind of answer is wanted
	Seed    uint64          // the trial's random seed, the only source of randomness
	Options json.RawMessage // the method's options as a JSON object; see DecodeOptions
}

// Model answers requests.
type Model interface {
	Complete(ctx context.Context, r Request) (Completion, error)
}

// Toolbox runs the tools of the problem's environment on the kernel's side.
type Toolbox interface {
	CallTool(ctx context.Context, c ToolCall) (ToolResult, error)
}

// SeedStore keeps method seeds: artefacts that a method compiles once and
// reuses over many problems, such as a Formula Seed.
//
// Seed returns what is stored under key, or runs build, stores its result and
// returns that. Of several trials that ask at once, one builds and the others
// wait. Model and tool calls that build makes must use the context it is
// given: they are then seeded by the key and charged to the run, not to the
// trial that happened to come first, so a seed never depends on arrival order.
type SeedStore interface {
	Seed(ctx context.Context, key SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error)
}

// SeedKey names a method seed. The kernel adds the identity of the method and
// of the model, so two methods never share a seed by accident.
type SeedKey struct {
	Kind    string // what it is, for example "formula"
	Content string // what it was built from, for example the formula text
}

// Tracer receives events.
type Tracer interface {
	Emit(e Event)
}

// Host is what a method can reach. Every call is recorded under its call
// path. A Host is safe for concurrent use and serves one trial.
type Host interface {
	Model
	Toolbox
	SeedStore
	Tracer
}
