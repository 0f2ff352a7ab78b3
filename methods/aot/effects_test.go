package aot_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
)

// sequence is a model that says one text after the other, and keeps what it was
// asked.
type sequence struct {
	replies []string
	asked   []methods.Request
}

func (m *sequence) Complete(_ context.Context, r methods.Request) (methods.Completion, error) {
	m.asked = append(m.asked, r)
	return methods.Completion{Text: m.replies[len(m.asked)-1], Finish: methods.FinishStop}, nil
}

// TestEffectsMustSayHowTheyAreUndone: a model that leaves it out is asked again,
// and told for which atoms; "none" is an answer, too, and calls nothing.
func TestEffectsMustSayHowTheyAreUndone(t *testing.T) {
	const plan = `{"atoms":[{"id":1,"kind":"tool","name":"book","input":{"room":"A"}UNDO},{"id":2,"kind":"tool","name":"add","input":{"a":1,"b":2}},{"id":3,"kind":"final","name":"report","input":{"answer":"<result_of_1>"},"dependsOn":[2]}]}`
	for undo, asks := range map[string]int{``: 2, `,"compensate":null`: 2, `,"compensate":{"name":"none"}`: 1, `,"compensate":{"name":"cancel","input":{"booking":"<result_of_1>"}}`: 1} {
		m := &sequence{replies: []string{strings.Replace(plan, "UNDO", undo, 1), strings.Replace(plan, "UNDO", `,"compensate":{"name":"none"}`, 1)}}
		d := &desk{}
		a, _ := solve(t, problem(methods.Text, ""), m, d)
		if len(m.asked) != asks || a.Outcome != methods.Answered {
			t.Errorf("%s: %d questions, outcome %s %s", undo, len(m.asked), a.Outcome, a.Reason)
		}
		if last := m.asked[len(m.asked)-1].Messages; asks == 2 && !strings.Contains(last[len(last)-1].Content, `atom 1: "book" has an effect`) {
			t.Errorf("%s: the second question says %q", undo, last[len(last)-1].Content)
		}
		if want := []string{`atom/1 book {"room":"A"}`, `atom/2 add {"a":1,"b":2}`}; !slices.Equal(d.made(), want) {
			t.Errorf("%s: calls %q", undo, d.made())
		}
	}
}

// TestCompensationsAreTriedMoreOften than the atoms themselves.
func TestCompensationsAreTriedMoreOften(t *testing.T) {
	d := &desk{fail: func(c methods.ToolCall) (string, bool) {
		return "try later", strings.HasPrefix(c.Path, "atom/7/undo") && c.Path != "atom/7/undo/r5"
	}}
	s, err := run(t, bookings, d, aot.Options{})
	if err == nil || err.Error() != "atom 4 failed: division by zero" {
		t.Errorf("got %v", err)
	}
	if got, want := statuses(s), `2 undone "booking of B", 7 undone "booking of A", 3 undone "booking of C", 4 failed , 5 skipped `; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

// TestWhatAnUndoneAtomLedToRunsAgain: a booking that hung on one that was undone is
// no more than that one, though nothing undid it itself.
func TestWhatAnUndoneAtomLedToRunsAgain(t *testing.T) {
	const plan = `{"atoms":[
	 {"id":1,"kind":"tool","name":"book","input":{"room":"A"},"compensate":{"name":"cancel","input":{"booking":"<result_of_1>"}}},
	 {"id":2,"kind":"tool","name":"book","input":{"room":"of <result_of_1>"},"compensate":{"name":"none"}},
	 {"id":3,"kind":"tool","name":"book","input":{"room":"C"},"compensate":{"name":"none"}},
	 {"id":4,"kind":"tool","name":"weekday","input":{"date":"x"},"dependsOn":[2,3]},
	 {"id":5,"kind":"final","name":"report","input":{"answer":"<result_of_4>"}}]}`
	d := &desk{fail: func(c methods.ToolCall) (string, bool) { return "closed", c.Name == "weekday" }}
	s, err := run(t, plan, d, aot.Options{})
	if err == nil || statuses(s) != `1 undone "booking of A", 2 done "booking of of booking of A", 3 done "booking of C", 4 failed , 5 skipped ` {
		t.Fatalf("%s, %v", statuses(s), err)
	}
	var kept []int
	again := &desk{}
	s, err = run(t, plan, again, aot.Options{State: &s, OnKept: func(k aot.Kind, a aot.AtomState) error {
		kept = append(kept, a.ID)
		return nil
	}})
	want := []string{`atom/1 book {"room":"A"}`, `atom/2 book {"room":"of booking of A"}`, `atom/4 weekday {"date":"x"}`}
	if err != nil || !slices.Equal(again.made(), want) || !slices.Equal(kept, []int{3}) {
		t.Errorf("calls %q, kept %v, %v", again.made(), kept, err)
	}
}
