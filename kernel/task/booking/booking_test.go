package booking

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/methods"
)

func made(t testing.TB, o Options) *task.Task {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sessionOf is the environment of a trial on a sample.
func sessionOf(t testing.TB, m *task.Task, s task.Sample, seed uint64) *session {
	t.Helper()
	p, _, err := s.Present(seed, false)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Environment.(task.PerTrial).Of(p)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*session)
}

// caller makes calls of a session, each with a path of its own.
type caller struct {
	*session
	t       testing.TB
	n       int
	effects []methods.ToolResult // of calls that were not refused
}

func (c *caller) call(name string, args any) (methods.ToolResult, bool) {
	c.t.Helper()
	raw, ok := args.(string)
	if !ok {
		b, err := json.Marshal(args)
		if err != nil {
			c.t.Fatal(err)
		}
		raw = string(b)
	}
	c.n++
	r, err := c.session.Call(c.t.Context(), methods.ToolCall{Name: name, Arguments: json.RawMessage(raw), Path: fmt.Sprint("c", c.n)})
	if err != nil {
		c.t.Fatal(err)
	}
	if !r.IsError {
		c.effects = append(c.effects, r)
	}
	return r, !r.IsError
}

// carryOut does by hand what a wish asks for: each thing is searched and
// held, and all of it is booked and paid, or given back.
func (c *caller) carryOut(w Wish) (total int) {
	var held []string
	done := true
	for _, item := range w.Items {
		args := map[string]any{"seats": item.Seats}
		found, ok := c.call("search", item.Search())
		args["offers"] = json.RawMessage(found.Content)
		if ok {
			found, ok = c.call("hold", args)
		}
		if !ok && item.Or != "" {
			found, ok = c.call("search", map[string]any{"kind": item.Or, "city": item.City, "day": item.Day})
			args["offers"] = json.RawMessage(found.Content)
			if ok {
				found, ok = c.call("hold", args)
			}
		}
		if done = done && ok; ok {
			var r Reservation
			_ = json.Unmarshal([]byte(found.Content), &r)
			held, total = append(held, r.ID), total+r.Price
		}
	}
	for _, id := range held {
		if done {
			c.call("book", map[string]any{"reservation": id})
		}
	}
	if done {
		_, done = c.call("pay", map[string]any{"reservations": held})
	}
	if done && w.Swap != "" {
		c.call("cancel", map[string]any{"reservation": w.Swap})
	}
	if done {
		return total
	}
	for _, id := range held {
		c.call("cancel", map[string]any{"reservation": id})
	}
	return 0
}

// TestEveryRequestHasItsEnd reads each request in its words, carries it out with
// the tools, and finds the end that the target names. Half of them end with
// nothing new.
func TestEveryRequestHasItsEnd(t *testing.T) {
	for seed := range uint64(3) {
		m, nothing := made(t, Options{N: 200, Seed: seed}), 0
		by, err := score.Named(Name).For(methods.AnswerSpec{Kind: methods.Number})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range m.Samples {
			w, err := ReadWish(s.Problem.Query)
			if err != nil {
				t.Fatal(err)
			}
			c := &caller{session: sessionOf(t, m, s, 1), t: t}
			total := c.carryOut(w)
			got, err := score.Trial(by, s.Problem.Answer, methods.NumberAnswer(float64(total)), s.Target, c.effects)
			if want := map[string]float64{score.Success: 1, score.Clean: 1, score.Balanced: 1, score.Accuracy: 1}; err != nil || !reflect.DeepEqual(got.Values, want) {
				t.Errorf("%s: %v, %v: %s", s.ID, got.Values, err, s.Problem.Query)
			}
			if s.Metadata["end"] == "nothing" {
				nothing++
			}
		}
		if nothing != len(m.Samples)/2 {
			t.Errorf("%d of %d end with nothing", nothing, len(m.Samples))
		}
	}
}

// TestSolveSeesTwoRightEnds: equal prices make a request that must not be asked.
func TestSolveSeesTwoRightEnds(t *testing.T) {
	offer := Offer{ID: "T1", Kind: "train", City: "Arlen", Day: "Monday", Price: 30, seats: 5}
	twin := offer
	twin.ID = "T2"
	w := Wish{Items: []Item{{Kind: "train", City: "Arlen", Day: "Monday", Seats: 2}}}
	if end, err := Solve([]Offer{offer}, w, Account{Money: 100}); err != nil || end.Total != 60 || len(end.Left) != 1 {
		t.Errorf("%+v, %v", end, err)
	}
	if end, err := Solve([]Offer{offer}, w, Account{Money: 59}); err != nil || !end.Short || len(end.Left) != 0 {
		t.Errorf("%+v, %v", end, err)
	}
	if _, err := Solve([]Offer{offer, twin}, w, Account{Money: 100}); err == nil || !strings.Contains(err.Error(), "equally right") {
		t.Error(err)
	}
}

// TestWishesSurviveTheirWords for every wording.
func TestWishesSurviveTheirWords(t *testing.T) {
	w, rng := newWorld(1), rand.New(rand.NewPCG(1, 2))
	for i := range 2000 {
		wish, _ := w.draw(groups[i%len(groups)], rng)
		text := say(wish, rng)
		if got, err := ReadWish(text); err != nil || !reflect.DeepEqual(got, wish) {
			t.Fatalf("%+v became %+v (%v): %s", wish, got, err, text)
		}
	}
	for _, text := range []string{"", "Book the cheapest train", "five seats on the cheapest train to Arlen on Monday"} {
		if _, err := ReadWish(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestTaskIsTheSameForEver, and its digest tells tasks with other offers or
// failures apart.
func TestTaskIsTheSameForEver(t *testing.T) {
	var digests []string
	for _, o := range []Options{{}, {}, {Fail: 0.1}, {Seed: 1}} {
		d, err := made(t, o).Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d[:12])
	}
	if digests[0] != digests[1] || digests[0] == digests[2] || digests[0] == digests[3] {
		t.Errorf("digests %v", digests)
	}
	if want := "2eb8e8e3ae15"; digests[0] != want {
		t.Errorf("digest %s, want %s: another task needs another version", digests[0], want)
	}
	if _, err := New(Options{Fail: 1.5}); err == nil {
		t.Error("a rate of 1.5 passes")
	}
}

// TestFailuresBelongToCalls: as many as asked for, the same whenever the call is
// made, and others for another seed or path.
func TestFailuresBelongToCalls(t *testing.T) {
	m := made(t, Options{N: 5, Fail: 0.1})
	outcomes := func(seed uint64, backwards bool) (fails []bool) {
		s := sessionOf(t, m, m.Samples[0], seed)
		fails = make([]bool, 2000)
		for i := range fails {
			if backwards {
				i = len(fails) - 1 - i
			}
			r, err := s.Call(t.Context(), methods.ToolCall{Name: "account", Arguments: json.RawMessage(`{}`), Path: fmt.Sprint("p", i)})
			if fails[i] = r.IsError; err != nil || r.IsError && !strings.Contains(r.Content, "nothing was done") {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		return fails
	}
	a := outcomes(1, false)
	count := len(slices.DeleteFunc(slices.Clone(a), func(failed bool) bool { return !failed }))
	if count < 150 || count > 250 {
		t.Errorf("%d of 2000 calls failed, want about 200", count)
	}
	if !slices.Equal(a, outcomes(1, true)) || slices.Equal(a, outcomes(2, false)) {
		t.Error("failures depend on the order, or not on the seed")
	}
}
