package methodtest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/methods"
	"noema/methods/methodtest"
)

func request(path string, draw int) methods.Request {
	return methods.Request{Messages: methods.Ask("q"), Path: path, Draw: draw}
}

// The transcript is the same in whatever order the calls came.
func TestTranscriptOrder(t *testing.T) {
	record := func(order ...int) methodtest.Transcript {
		h := methodtest.NewHost(methodtest.Reply("r"))
		for _, i := range order {
			if _, err := h.Complete(t.Context(), request(fmt.Sprint("P", i%2), i/2)); err != nil {
				t.Fatal(err)
			}
			if _, err := h.CallTool(t.Context(), methods.ToolCall{Name: "x", Path: fmt.Sprint("T", i)}); !errors.Is(err, methods.ErrUnknownTool) {
				t.Fatalf("unknown tool: %v", err)
			}
			h.Emit(methods.Event{Path: fmt.Sprint("E", i), Kind: "x"})
		}
		return h.Transcript()
	}
	a, b := record(0, 1, 2, 3), record(3, 1, 0, 2)
	if d := a.Diff(b); d != "" {
		t.Errorf("the order of arrival shows: %s", d)
	}
	if d := a.Diff(record(0, 1, 2)); d == "" {
		t.Error("a missing call makes no difference")
	}
	if d := record(0, 1, 2).Diff(a); d == "" {
		t.Error("a further call makes no difference")
	}
	if got := a.Calls[1].Request; got.Path != "P0" || got.Draw != 1 {
		t.Errorf("second call is %q draw %d", got.Path, got.Draw)
	}
}

// A method may reuse its message list; what was sent stays recorded.
func TestHostCopiesRequests(t *testing.T) {
	h := methodtest.NewHost(methodtest.Reply("r"))
	r := request("P", 0)
	if _, err := h.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Messages[0].Content = "changed"
	if got := h.Transcript().Calls[0].Request.Messages[0].Content; got != "q" {
		t.Errorf("recorded %q", got)
	}
}

// Empty and absent lists are the same on the wire, so they are here; events of
// one path keep their order, and even what is not JSON is compared.
func TestDiff(t *testing.T) {
	emit := func(events ...methods.Event) methodtest.Transcript {
		h := methodtest.NewHost(nil)
		for _, e := range events {
			h.Emit(e)
		}
		return h.Transcript()
	}
	a, b := methods.Event{Path: "P", Kind: "a"}, methods.Event{Path: "P", Kind: "b"}
	empty := a
	empty.Data = json.RawMessage{}
	bad := a
	bad.Data = json.RawMessage("{no")
	for _, c := range []struct {
		name string
		x, y methodtest.Transcript
		same bool
	}{
		{"empty data", emit(a), emit(empty), true},
		{"order within a path", emit(a, b), emit(b, a), false},
		{"not JSON", emit(bad), emit(a), false},
		{"not JSON twice", emit(bad), emit(bad), true},
		{"nothing", emit(), emit(), true},
	} {
		if d := c.x.Diff(c.y); (d == "") != c.same {
			t.Errorf("%s: Diff = %q", c.name, d)
		}
	}
}

func TestHostHonoursContext(t *testing.T) {
	asked := false
	h := methodtest.NewHost(methodtest.ModelFunc(func(context.Context, methods.Request) (methods.Completion, error) {
		asked = true
		return methods.Completion{}, nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Complete(ctx, request("P", 0)); !errors.Is(err, context.Canceled) || asked {
		t.Errorf("Complete = %v, model asked: %t", err, asked)
	}
	if _, err := h.CallTool(ctx, methods.ToolCall{}); !errors.Is(err, context.Canceled) {
		t.Errorf("CallTool = %v", err)
	}
}

// Of many that want a seed one builds, a failed build is tried again, and a
// waiter's cancellation is its own.
func TestSeeds(t *testing.T) {
	h := methodtest.NewHost(methodtest.Reply("r"))
	key := methods.SeedKey{Kind: "formula", Content: "x"}
	if _, err := h.Seed(t.Context(), key, func(context.Context) ([]byte, error) { return nil, errors.New("no") }); err == nil {
		t.Fatal("a failed build gave a seed")
	}

	building, finish := make(chan struct{}), make(chan struct{})
	builds := 0
	build := func(ctx context.Context) ([]byte, error) {
		builds++
		close(building)
		<-finish
		c, err := h.Complete(ctx, request("S", 0))
		return []byte(c.Text), err
	}
	var wg sync.WaitGroup
	get := func() {
		if v, err := h.Seed(t.Context(), key, build); err != nil || string(v) != "r" {
			t.Errorf("Seed = %q, %v", v, err)
		}
	}
	wg.Go(get)
	<-building
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Seed(ctx, key, build); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled waiter got %v", err)
	}
	wg.Go(get)
	close(finish)
	wg.Wait()
	if calls := h.Transcript().Calls; builds != 1 || len(calls) != 1 || calls[0].Building != "formula" {
		t.Errorf("%d builds, calls %+v", builds, calls)
	}
}

// A build that panics leaves no waiter behind.
func TestSeedBuildPanics(t *testing.T) {
	h := methodtest.NewHost(nil)
	key := methods.SeedKey{Kind: "k"}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		h.Seed(t.Context(), key, func(context.Context) ([]byte, error) { panic("x") })
	}()
	v, err := h.Seed(t.Context(), key, func(context.Context) ([]byte, error) { return []byte("y"), nil })
	if err != nil || string(v) != "y" {
		t.Errorf("Seed = %q, %v", v, err)
	}
}

// voter asks three times at temperature 1, as its options say.
type voter struct{}

func (voter) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	for draw := range 12 {
		r := request("vote", draw)
		r.Sampling = methods.Sampling{Temperature: 1, Seed: p.Seed}
		if _, err := h.Complete(ctx, r); err != nil {
			return methods.Answer{}, err
		}
	}
	return methods.TextAnswer("Brio"), nil
}

// Draws of one path are told apart, and a case may allow sampling.
func TestSampledCase(t *testing.T) {
	c := methodtest.Cases(methods.Description{Answers: []methods.AnswerKind{methods.Text}})
	if len(c) != 1 {
		t.Fatalf("%d cases for one kind", len(c))
	}
	var faults []methodtest.Fault
	for _, r := range methodtest.Rules() {
		faults = append(faults, r.Check(t.Context(), voter{}, c[0])...)
	}
	if len(faults) == 0 {
		t.Error("temperature 1 is not a fault in a case without sampling")
	}
	c[0].Sampled = true
	methodtest.Run(t, voter{}, c[0])
}

// careless forgets the seed and the path.
type careless struct{}

func (careless) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	c, err := h.Complete(ctx, methods.Request{Messages: methods.Ask(p.Query)})
	return methods.TextAnswer(strings.ToValidUTF8(c.Text, "?")), err
}

func ExampleRules() {
	cases := methodtest.Cases(methods.Description{Answers: []methods.AnswerKind{methods.Text}})
	for _, rule := range methodtest.Rules() {
		for _, fault := range rule.Check(context.Background(), careless{}, cases...) {
			fmt.Println(fault)
		}
	}
	// Output:
	// text/calls: call "", draw 0 has no path
	// text/calls: call "", draw 0 has seed 0, not the problem's 20260401
}

func ExampleHost() {
	host := methodtest.NewHost(methodtest.Reply("Brio"))
	answer, err := careless{}.Solve(context.Background(), methods.Problem{Query: "the cheapest?"}, host)
	fmt.Println(string(answer.Value), err)
	for _, call := range host.Transcript().Calls {
		fmt.Println(call.Request.Messages[0].Content, "→", call.Completion.Text)
	}
	// Output:
	// "Brio" <nil>
	// the cheapest? → Brio
}
