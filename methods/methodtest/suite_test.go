package methodtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/methods"
)

// solver is a method made of one function.
type solver func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error)

func (f solver) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	return f(ctx, p, h)
}

// described is a solver that says what it is.
type described struct {
	solver
	methods.Description
}

func (d described) Describe() methods.Description { return d.Description }

// ask makes one call as a method should.
func ask(ctx context.Context, p methods.Problem, h methods.Host, path, prompt string) (string, error) {
	c, err := h.Complete(ctx, methods.Request{
		Messages: methods.Ask(prompt), Sampling: methods.Sampling{Seed: p.Seed}, Path: path,
	})
	return c.Text, err
}

// parse turns a reply into an answer, or says that it is none.
func parse(p methods.Problem, reply string) methods.Answer {
	value := json.RawMessage(strings.TrimSpace(reply))
	if !json.Valid(value) {
		value, _ = json.Marshal(strings.TrimSpace(reply)) // a string always encodes
	}
	a := methods.Answer{Value: value, Outcome: methods.Answered}
	if err := p.Answer.Check(a); err != nil {
		return methods.Answer{Outcome: methods.Unparsed, Reason: err.Error()}
	}
	return a
}

// good uses everything that a Host offers, as the contract wants it: a seed,
// concurrent calls, a tool, events and a last call that gives the answer.
func good(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	h.Emit(methods.Event{Path: "P1", Phase: "P1", Kind: methods.PhaseStart, Text: "three parts", Level: 1})
	prefix, err := h.Seed(ctx, methods.SeedKey{Kind: "prefix", Content: "1"}, func(ctx context.Context) ([]byte, error) {
		text, err := ask(ctx, p, h, "S", "a prefix")
		return []byte(text), err
	})
	if err != nil {
		return methods.Answer{}, err
	}
	errs := make([]error, 3)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = ask(ctx, p, h, fmt.Sprintf("P1/c%d", i+1), fmt.Sprintf("%s part %d of %s", prefix, i+1, p.Query))
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return methods.Answer{}, err
	}
	for _, tool := range p.Tools {
		if _, err := h.CallTool(ctx, methods.ToolCall{Name: tool.Name, Arguments: json.RawMessage(`{}`), Path: "T/" + tool.Name}); err != nil {
			return methods.Answer{}, err
		}
	}
	reply, err := ask(ctx, p, h, "P2", p.Query)
	if errors.Is(err, methods.ErrBudget) {
		return methods.Answer{Outcome: methods.OverBudget, Reason: err.Error()}, nil
	}
	if err != nil {
		return methods.Answer{}, err
	}
	return parse(p, reply), nil
}

func goodDescribed() methods.Method {
	return described{good, methods.Description{Name: "good-1", Options: []methods.Option{
		{Name: "draws", Type: methods.IntOption, Default: "3"}, {Name: "t", Type: methods.NumberOption, Default: "0.5"},
		{Name: "on", Type: methods.BoolOption, Default: "true"},
		{Name: "how", Type: methods.StringOption, Default: "a", Choices: []string{"a", "b"}}, {Name: "free", Type: methods.StringOption},
	}}}
}

// toolCase is a problem with a tool.
func toolCase() Case {
	c := Cases(methods.Description{})[0]
	c.Name = "tools"
	c.Problem.Tools = []methods.ToolSpec{{Name: "clock", Parameters: json.RawMessage(`{}`), Pure: true}}
	c.Tools = ToolFunc(func(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
		return methods.ToolResult{Content: "noon"}, nil
	})
	return c
}

func TestGoodMethodsPass(t *testing.T) {
	cases := append(Cases(methods.Description{}), toolCase())
	Run(t, goodDescribed(), cases...)
	Same(t, goodDescribed(), solver(good), cases...)
}

// A method that makes no call passes too: there is nothing to fail.
func TestMethodWithoutCalls(t *testing.T) {
	constant := solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
		return methods.RankingAnswer([]int{1}), nil
	})
	for _, f := range faultsOf(t, constant, Cases(methods.Description{})[0]) {
		t.Error(f)
	}
}

// faultsOf are those of m under every rule.
func faultsOf(t *testing.T, m methods.Method, c Case) (faults []Fault) {
	t.Helper()
	for _, r := range Rules() {
		faults = append(faults, r.Check(t.Context(), m, c)...)
	}
	return faults
}

func TestCaseWithoutModel(t *testing.T) {
	faults := faultsOf(t, solver(good), Case{Name: "x"})
	if len(faults) != len(Rules()) || faults[0].String() != "x/describe: the case has no model" {
		t.Errorf("faults %v", faults)
	}
}

func TestSameTellsDifferences(t *testing.T) {
	other := func(change func(methods.Request) methods.Request, end func(methods.Answer, error) (methods.Answer, error)) solver {
		return func(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
			return end(good(ctx, p, changing{h, change}))
		}
	}
	keep := func(r methods.Request) methods.Request { return r }
	as := func(a methods.Answer, err error) (methods.Answer, error) { return a, err }
	for name, c := range map[string]struct {
		m    methods.Method
		want string
	}{
		"another prompt": {other(func(r methods.Request) methods.Request {
			r.Messages = methods.Ask("please " + r.Messages[0].Content)
			return r
		}, as), "please"},
		"another answer": {other(keep, func(a methods.Answer, err error) (methods.Answer, error) {
			a.Evidence = []methods.Evidence{{Source: "x"}}
			return a, err
		}), "Evidence"},
		"another error": {other(keep, func(a methods.Answer, err error) (methods.Answer, error) {
			if err != nil {
				err = errors.New("lost on the way")
			}
			return a, err
		}), "after \"budget exhausted\" at call 1"},
		"another description": {described{good, methods.Description{Name: "other"}}, "describe: description"},
		"no call at all": {solver(func(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
			return methods.RankingAnswer([]int{2, 1}), nil
		}), "only the first has call"},
	} {
		faults := Differences(t.Context(), goodDescribed(), c.m, Cases(methods.Description{})[0])
		if len(faults) != 1 || !strings.Contains(faults[0].String(), c.want) {
			t.Errorf("%s: faults %v, want one with %q", name, faults, c.want)
		}
	}
}

// changing is a Host that changes requests on their way.
type changing struct {
	methods.Host
	change func(methods.Request) methods.Request
}

func (c changing) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	return c.Host.Complete(ctx, c.change(r))
}
