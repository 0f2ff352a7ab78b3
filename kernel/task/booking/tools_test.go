package booking

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// TestHostileCallsChangeNothing: each is an error for the method, not for the run.
func TestHostileCallsChangeNothing(t *testing.T) {
	m := made(t, Options{N: 5})
	c := &caller{session: sessionOf(t, m, m.Samples[4], 1), t: t} // with a reservation to swap
	mine := c.state.list()[0].ID
	other := sessionOf(t, m, m.Samples[4], 2)
	theirs, err := other.Call(t.Context(), methods.ToolCall{Name: "hold", Arguments: json.RawMessage(`{"offers":["` + c.free() + `"],"seats":1}`), Path: "x"})
	if err != nil || theirs.IsError {
		t.Fatal(theirs, err)
	}
	before := c.snapshot()
	for _, h := range []struct{ tool, args, want string }{
		{"hold", `{"offers":["X1"],"seats":1}`, "unknown offer"},
		{"hold", `{"offers":["` + c.free() + `"],"seats":-1}`, "seats"},
		{"hold", `{"offers":["` + c.free() + `"],"seats":0}`, "seats"},
		{"hold", `{"offers":["` + c.free() + `"],"seats":1e300}`, "seats"},
		{"hold", `{"offers":["` + c.free() + `"],"seats":NaN}`, "invalid character"},
		{"hold", `{"offers":["` + c.free() + `"],"seats":1.5}`, "seats"},
		{"hold", `{"offers":[],"seats":1}`, "offers"},
		{"hold", `{"offers":{"offers":[{"offer":"C1"}]},"seats":1}`, "unknown offer"},
		{"hold", `{"offers":{"x":1},"seats":1}`, "result of search"},
		{"hold", `{"offers":[` + strings.Repeat(`"T1",`, 60) + `"T1"],"seats":1}`, "offers"},
		{"hold", `{"seats":1}`, "offers"},
		{"hold", `[]`, "wrong arguments"},
		{"hold", `{`, ""},
		{"hold", strings.Repeat(" ", 70_000), "shorten"},
		{"book", `{"reservation":"R-0"}`, "no reservation"},
		{"book", `{"reservation":` + theirs.Content + `}`, "no reservation"},
		{"book", `{"reservation":"` + mine + `"}`, "paid already"},
		{"book", `{"reservation":{}}`, "want a reservation"},
		{"pay", `{"reservations":["` + mine + `"]}`, "paid already"},
		{"pay", `{"reservations":[]}`, "reservations"},
		{"pay", `{"reservations":["R-0"],"amount":-5}`, "amount"},
		{"pay", `{"reservations":[` + theirs.Content + `]}`, "no reservation"},
		{"cancel", `{"reservation":"` + strings.Repeat("x", 5000) + `"}`, "no reservation"},
		{"cancel", `{"reservation":` + theirs.Content + `}`, "no reservation"},
		{"search", `{"kind":"boat","city":"Arlen","day":"Monday"}`, "kind"},
		{"search", `{"kind":"train","city":"Nowhere","day":"Monday"}`, "no train"},
		{"search", `{"kind":"train","city":"Arlen","day":"Monday","under":-3}`, "under"},
	} {
		r, ok := c.call(h.tool, h.args)
		if ok || !strings.Contains(r.Content, h.want) || len(r.Content) > 600 {
			t.Errorf("%s(%.80s): %.200q", h.tool, h.args, r.Content)
		}
		if now := c.snapshot(); !reflect.DeepEqual(now, before) {
			t.Fatalf("%s(%.80s) changed %v to %v", h.tool, h.args, before, now)
		}
	}
	if _, err := c.session.Call(t.Context(), methods.ToolCall{Name: "steal"}); !errors.Is(err, methods.ErrUnknownTool) {
		t.Error(err)
	}
}

// TestTwiceIsRefused: a step that was done is not done again.
func TestTwiceIsRefused(t *testing.T) {
	m := made(t, Options{N: 1})
	c := &caller{session: sessionOf(t, m, m.Samples[0], 1), t: t}
	r, _ := c.call("hold", map[string]any{"offers": []string{c.free()}, "seats": 1})
	whole := map[string]any{"reservation": json.RawMessage(r.Content)}
	all := map[string]any{"reservations": []json.RawMessage{json.RawMessage(r.Content)}}
	if r, ok := c.call("pay", all); ok || !strings.Contains(r.Content, "book it first") {
		t.Errorf("a hold is paid: %s", r.Content)
	}
	for _, step := range []struct {
		tool string
		args any
	}{{"book", whole}, {"pay", all}, {"cancel", whole}} {
		if r, ok := c.call(step.tool, step.args); !ok {
			t.Errorf("%s: %s", step.tool, r.Content)
		}
		before := c.snapshot()
		if r, ok := c.call(step.tool, step.args); ok || !reflect.DeepEqual(c.snapshot(), before) {
			t.Errorf("%s twice: %s", step.tool, r.Content)
		}
	}
	if c.state.money != 4000 || len(c.state.have) != 0 {
		t.Errorf("left %d and %v", c.state.money, c.state.have)
	}
}

// free is an offer with seats left.
func (c *caller) free() string {
	i := slices.IndexFunc(c.world.offers, func(o Offer) bool { return o.seats > 2 })
	return c.world.offers[i].ID
}

// snapshot is the state as a value.
func (c *caller) snapshot() any {
	taken := maps.Clone(c.state.taken)
	maps.DeleteFunc(taken, func(_ string, n int) bool { return n == 0 })
	return []any{c.state.money, taken, c.state.list(), maps.Clone(c.state.cancelled)}
}

// TestAnySequenceKeepsTheBooks makes random calls, sensible and not. After each,
// no money is lost or made, no seat is sold twice, and the score's books, which
// know nothing but the results in any order, say the same as the state.
// Another session that is told the results finds the same state.
func TestAnySequenceKeepsTheBooks(t *testing.T) {
	m := made(t, Options{N: 10, Fail: 0.05})
	for run := range 60 {
		rng := rand.New(rand.NewPCG(uint64(run), 9))
		s := m.Samples[run%len(m.Samples)]
		c := &caller{session: sessionOf(t, m, s, uint64(run)), t: t}
		start := c.state.worth()
		twin := &caller{session: sessionOf(t, m, s, uint64(run)), t: t}
		ids := []string{"R-0", ""}
		for _, r := range c.accounts[s.ID].Mine {
			ids = append(ids, r.ID)
		}
		for range 80 {
			name, args := randomCall(rng, c, ids)
			r, ok := c.call(name, args)
			if err := twin.Restore(methods.ToolCall{Name: name}, r); err != nil {
				t.Fatal(err)
			}
			if _ = twin.Restore(methods.ToolCall{Name: name}, r); ok && name == "hold" {
				var made Reservation
				_ = json.Unmarshal([]byte(r.Content), &made)
				ids = append(ids, made.ID)
			}
			if c.state.worth() != start || c.state.money < 0 {
				t.Fatalf("run %d: %s(%v): worth %d, was %d; money %d", run, name, args, c.state.worth(), start, c.state.money)
			}
			for offer, n := range c.state.taken {
				if o := c.world.byID[offer]; n > o.seats && len(c.accounts[s.ID].Mine) == 0 {
					t.Fatalf("run %d: %d of %d seats of %s taken", run, n, o.seats, offer)
				}
			}
		}
		if !reflect.DeepEqual(c.snapshot(), twin.snapshot()) {
			t.Fatalf("run %d: restored\n%v\nwant\n%v", run, twin.snapshot(), c.snapshot())
		}
		rng.Shuffle(len(c.effects), func(i, j int) { c.effects[i], c.effects[j] = c.effects[j], c.effects[i] })
		checkScore(t, c, s.Target)
	}
}

// worth is the money with the price of what is paid.
func (s *state) worth() int {
	sum := s.money
	for _, r := range s.have {
		if r.State == paid {
			sum += r.Price
		}
	}
	return sum
}

func randomCall(rng *rand.Rand, c *caller, ids []string) (string, any) {
	id := func() string { return ids[rng.IntN(len(ids))] }
	switch name := pick(rng, []string{"hold", "hold", "book", "book", "pay", "cancel", "account", "search"}); name {
	case "hold":
		offers := []string{c.world.offers[rng.IntN(40)].ID, c.world.offers[rng.IntN(40)].ID}
		return name, map[string]any{"offers": offers, "seats": rng.IntN(6)}
	case "pay":
		return name, map[string]any{"reservations": []string{id(), id()}[rng.IntN(2):]}
	case "book", "cancel":
		return name, map[string]any{"reservation": id()}
	case "search":
		return name, map[string]any{"kind": "train", "city": "Arlen", "day": pick(rng, days[:])}
	default:
		return name, map[string]any{}
	}
}

// checkScore compares the score's books with the state.
func checkScore(t *testing.T, c *caller, target json.RawMessage) {
	t.Helper()
	var want Target
	if err := json.Unmarshal(target, &want); err != nil {
		t.Fatal(err)
	}
	left := map[string]int{}
	for _, p := range want.Want {
		left[fmt.Sprint(p)]++
	}
	extra, anew, old, bal, missing := 0, 0, 0, 1.0, len(want.Want)
	for id, r := range c.state.have {
		mine := slices.ContainsFunc(want.Mine, func(m Reservation) bool { return m.ID == id })
		if !mine {
			anew++
		}
		switch key := fmt.Sprint(Place{r.Offer, r.Seats}); {
		case r.State == paid && left[key] > 0:
			left[key]--
			missing--
		case mine:
			old++
		default:
			extra++
		}
		if r.State != paid {
			bal = 0
		}
	}
	clean, success := 0.0, 0.0
	if extra == 0 && (old == 0 || anew == 0) {
		clean = 1
	}
	if missing+extra+old == 0 {
		success = 1
	}
	by, err := score.Named(Name).For(methods.AnswerSpec{Kind: methods.Number})
	if err != nil {
		t.Fatal(err)
	}
	got, err := score.Trial(by, methods.AnswerSpec{Kind: methods.Number}, methods.Answer{Outcome: methods.Failed}, target, c.effects)
	if err != nil || got.Values[score.Clean] != clean || got.Values[score.Balanced] != bal || got.Values[score.Success] != success {
		t.Fatalf("score %v, %v; want clean %v, balanced %v, %d missing; state %v", got.Values, err, clean, bal, missing, c.state.list())
	}
}

// TestManyAtOnce: calls at the same time keep the books, too.
func TestManyAtOnce(t *testing.T) {
	m := made(t, Options{N: 1})
	s := sessionOf(t, m, m.Samples[0], 3)
	offer := (&caller{session: s}).free()
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			r, err := s.Call(t.Context(), methods.ToolCall{Name: "hold", Arguments: json.RawMessage(`{"offers":["` + offer + `"],"seats":1}`), Path: fmt.Sprint(i)})
			if err == nil {
				err = s.Restore(methods.ToolCall{}, r)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := s.world.byID[offer].seats; s.state.taken[offer] != n || len(s.state.have) != n {
		t.Errorf("%d seats taken by %d holds, there are %d", s.state.taken[offer], len(s.state.have), n)
	}
}
