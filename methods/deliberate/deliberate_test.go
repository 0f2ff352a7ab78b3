package deliberate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/methods"
	"noema/methods/deliberate"
	"noema/methods/methodtest"
)

// answers are replies to a question of each kind, right ones first.
func answers(kind methods.AnswerKind) []string {
	switch kind {
	case methods.Ranking:
		return []string{"[2, 1]", "[1, 3]", "[4]"}
	case methods.Choice:
		return []string{"yes", "no", "maybe"}
	case methods.Set:
		return []string{`["Cora", "Dune"]`, `["Dune"]`, `[]`}
	case methods.Fields:
		return []string{`{"name": "Brio", "price": 1}`, `{"name": "Alba", "price": 2}`, `{"name": 3}`}
	case methods.Text:
		return []string{"Brio", "Alba", ""}
	}
	return []string{"4", "5", "-0.25"}
}

// player replies to every prompt of the methods in its form, and what it says is drawn
// from the request: right or wrong, and, at the rate of faults, unusable.
type player struct {
	kind   methods.AnswerKind
	salt   uint64
	faults float64
}

func (p player) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	h := fnv.New64a()
	raw, err := json.Marshal([]any{r.Messages, r.Draw, r.Sampling, p.salt})
	if err != nil {
		return methods.Completion{}, err
	}
	_, _ = h.Write(raw)
	draw := rand.New(rand.NewPCG(h.Sum64(), 1))
	return methods.Completion{Text: p.say(r, draw), Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1, OutputTokens: 7}}, nil
}

func (p player) say(r methods.Request, draw *rand.Rand) string {
	if draw.Float64() < p.faults {
		return []string{"I cannot say.", "{", "", `{"answer": `, "[]", "Answer: ", `{"next": 5, "best": "x"}`, strings.Repeat("x", 20_000)}[draw.IntN(8)]
	}
	one := func(texts ...string) string { return texts[draw.IntN(len(texts))] }
	name := ""
	if r.Schema != nil {
		name = r.Schema.Name
	}
	answer := one(answers(p.kind)...)
	switch name {
	case "next":
		return fmt.Sprintf(`{"next": [%q, %q]}`, one("a = 1", "b = 2", "Answer: "+answer), one("c = 3", "d = 4"))
	case "value":
		return fmt.Sprintf(`{"value": %q}`, one("sure", "likely", "impossible"))
	case "vote":
		return fmt.Sprintf(`{"best": %d}`, 1+draw.IntN(2))
	case "faults":
		return one(`{"faults": []}`, `{"faults": ["step 2 is wrong", "it has no unit"]}`)
	case "lessons":
		return `{"lessons": ["read the data first"]}`
	case "parts":
		return one(`{"parts": []}`, `{"parts": ["the names", "the prices"]}`)
	case "answer":
		raw := answer
		if p.kind == methods.Choice || p.kind == methods.Text {
			raw = fmt.Sprintf("%q", answer)
		}
		return `{"answer": ` + raw + `}`
	}
	return "First this, then that.\nAnswer: " + answer
}

// CallTool plays the tool python: a program that holds an answer prints it, and any other
// fails.
func (p player) CallTool(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct{ Program string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return methods.ToolResult{}, err
	}
	if _, printed, ok := strings.Cut(args.Program, "Answer: "); ok {
		return methods.ToolResult{Content: "working\nAnswer: " + printed + "\n"}, nil
	}
	return methods.ToolResult{Content: "NameError", IsError: true}, nil
}

// tools are those that a method works by.
func tools(m methods.Method) (specs []methods.ToolSpec) {
	for _, name := range m.(methods.Describer).Describe().Tools {
		specs = append(specs, methods.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`), Pure: true})
	}
	return specs
}

// TestContracts puts every method through the conformance suite, with every kind of
// answer and a model that plays along and sometimes does not.
func TestContracts(t *testing.T) {
	for n, name := range slices.Sorted(maps.Keys(deliberate.All())) {
		m := deliberate.All()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := methodtest.Cases(m.(methods.Describer).Describe())
			other := 1 + n%(len(cases)-1) // each kind of answer takes seconds: all have two, and together they have all
			for i, c := range cases {
				if i > 0 && (testing.Short() || i != other) {
					continue
				}
				c.Sampled = true
				c.Model, c.Tools = player{c.Problem.Answer.Kind, 3, 0.1}, player{}
				c.Problem.Tools = tools(m)
				methodtest.Run(t, m, c)
			}
		})
	}
}

// narrow lets n calls of a trial through at a time, in whatever order they come.
func narrow(n int) methodtest.HostOption {
	slots := make(chan struct{}, n)
	return methodtest.Before(func(ctx context.Context, _ methodtest.Step) error {
		slots <- struct{}{}
		<-slots
		return ctx.Err()
	})
}

// dials are options of every method, drawn at random, and the calls that a trial with
// them can make at most, each retry counted.
func dials(r *rand.Rand, name string) (options map[string]any, most int) {
	n := func(limit int) int { return 1 + r.IntN(limit) }
	a, b, c, votes := n(4), n(3), n(3), n(2)
	options = map[string]any{"retries": 1}
	if slices.ContainsFunc(deliberate.All()[name].(methods.Describer).Describe().Options, func(o methods.Option) bool { return o.Name == "judged_by" }) && r.IntN(2) == 0 {
		options["judged_by"] = "strong"
	}
	switch name {
	case "tot":
		options["breadth"], options["width"], options["depth"], options["votes"] = a, b, c, votes
		options["search"], options["judge"] = []string{"breadth", "depth"}[r.IntN(2)], "value"
		most = c*a*(1+b*votes) + 1
		if options["search"] == "depth" {
			options["visits"] = a
			most = a*(1+b*votes) + 1
		} else if r.IntN(2) == 0 {
			options["judge"] = "vote"
		}
	case "got":
		options["parts"], options["branch"], options["rounds"] = a+1, b, c
		most = 1 + (a+1)*2*b + 2*b + 2*c
	case "mcts":
		options["simulations"], options["width"], options["depth"] = a, b, c
		most = a * (1 + 2*b)
	case "self-refine":
		options["rounds"], most = a, 1+2*a
	case "reflexion":
		options["trials"], options["memory"], most = a, b, 3*a
	case "debate":
		options["agents"], options["rounds"], most = a+1, b, (a+1)*(b+1)
	case "mixture-of-agents":
		options["agents"], options["layers"], most = a, b, a*b+1
	case "best-of-n":
		options["draws"], options["judge"], options["votes"] = a, []string{"value", "pairs"}[r.IntN(2)], votes
		most = a + max(a*votes, a*(a-1))
	case "escalate":
		options["by"], options["tries"], options["draws"] = []string{"effort", "retry", "warming"}[r.IntN(3)], a, b
		most = max(2*a, 4+b)
	case "pal":
		options["draws"], most = a, a
	case "budget-forcing":
		options["waits"], options["think"] = a, []int{0, 5, 20}[r.IntN(3)]
		most = a + 2
	}
	return options, 2 * most
}

// TestEveryTrial draws problems, dials and models, errors among their replies, and holds
// each trial to what is true of all: the same calls, events and answer whether calls come
// one by one or 64 at a time; no more calls than the dials allow; no path twice; a well-formed answer; a graph whose edges have ends.
func TestEveryTrial(t *testing.T) {
	t.Parallel()
	outcomes := map[methods.Outcome]int{}
	for name, m := range deliberate.All() {
		cases := methodtest.Cases(m.(methods.Describer).Describe())
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 2))
			p := cases[r.IntN(len(cases))].Problem
			options, most := dials(r, name)
			p.Seed, p.Options, p.Tools = seed, marshal(t, options), tools(m)
			model := player{p.Answer.Kind, seed, []float64{0, 0.1, 0.5}[r.IntN(3)]}
			one, many := methodtest.NewHost(model, narrow(1), methodtest.WithTools(model)), methodtest.NewHost(model, narrow(64), methodtest.WithTools(model))
			a, err := m.Solve(t.Context(), p, one)
			b, again := m.Solve(t.Context(), p, many)
			if err != nil || again != nil {
				t.Fatalf("%s %s: %v, %v", name, p.Options, err, again)
			}
			log := one.Transcript()
			if d := log.Diff(many.Transcript()); d != "" || string(a.Value) != string(b.Value) || a.Outcome != b.Outcome {
				t.Fatalf("%s %s: %s against %s: %s", name, p.Options, a.Value, b.Value, d)
			}
			if err := p.Answer.Check(a); err != nil {
				t.Errorf("%s %s: %v", name, p.Options, err)
			}
			if len(log.Calls) > most {
				t.Errorf("%s %s: %d calls, want at most %d", name, p.Options, len(log.Calls), most)
			}
			places := map[string]bool{}
			for _, c := range log.Calls {
				if want := judgeOf(options, c.Request); c.Request.By != want {
					t.Errorf("%s %s: %s is asked of the model %q, want %q", name, p.Options, c.Request.Path, c.Request.By, want)
				}
				if at := c.Request.Path; places[at] {
					t.Errorf("%s %s: two calls at %s", name, p.Options, at)
				} else {
					places[at] = true
				}
			}
			checkGraph(t, name, a, log)
			outcomes[a.Outcome]++
		}
	}
	if outcomes[methods.Answered] < 300 || outcomes[methods.Unparsed]+outcomes[methods.Defaulted] < 20 {
		t.Errorf("the trials ended so: %v", outcomes)
	}
}

// judgeOf is the model that a call is for: judgements are for the one that an option names.
func judgeOf(options map[string]any, r methods.Request) string {
	if judge, ok := options["judged_by"]; ok && r.Schema != nil && slices.Contains([]string{"value", "vote", "faults"}, r.Schema.Name) {
		return judge.(string)
	}
	return ""
}

func checkGraph(t *testing.T, name string, a methods.Answer, log methodtest.Transcript) {
	t.Helper()
	var drawn *methods.Graph
	for _, e := range log.Events {
		if e.Kind == methods.GraphDrawn {
			drawn = &methods.Graph{}
			if err := json.Unmarshal(e.Data, drawn); err != nil {
				t.Fatal(err)
			}
		}
	}
	if drawn == nil {
		if a.Outcome == methods.Answered {
			t.Errorf("%s: an answered trial draws no graph", name)
		}
		return
	}
	ids := map[string]bool{}
	for _, n := range drawn.Nodes {
		ids[n.ID] = true
	}
	for _, e := range drawn.Edges {
		if !ids[e.From] || !ids[e.To] || e.From == e.To {
			t.Errorf("%s: edge %v has no ends in %v", name, e, slices.Sorted(maps.Keys(ids)))
		}
	}
}

func marshal(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// script is a model that replies by the call path, and notes its prompts.
type script struct {
	replies map[string]string
	other   string

	mu    sync.Mutex
	asked map[string]string // the last message by path
}

func (s *script) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]string{}
	}
	s.asked[r.Path] = r.Messages[len(r.Messages)-1].Content
	text, ok := s.replies[r.Path]
	if !ok {
		text = s.other
	}
	return methods.Completion{Text: text, Finish: methods.FinishStop, Usage: methods.Usage{OutputTokens: 10}}, nil
}

func solve(t *testing.T, m methods.Method, options string, s *script) (methods.Answer, methodtest.Transcript) {
	t.Helper()
	h := methodtest.NewHost(s)
	p := methods.Problem{ID: "1", Query: "How many?", Answer: methods.AnswerSpec{Kind: methods.Number}, Options: json.RawMessage(options)}
	a, err := m.Solve(t.Context(), p, h)
	if err != nil {
		t.Fatal(err)
	}
	return a, h.Transcript()
}
