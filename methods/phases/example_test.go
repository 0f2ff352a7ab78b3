package phases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/methods/phases"
	"noema/methods/reply"
)

// twoThenBest is a method of a user's own: two drafts, of which the better is refined by
// what the other has.
type twoThenBest struct{}

type options struct {
	phases.Options
	Votes int `json:"votes" default:"1" min:"1" doc:"how often each draft is judged"`
}

func (twoThenBest) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	var o options
	t, err := phases.Start(p, h, &o, &o.Options)
	if err != nil {
		return t.End(ctx, "two-then-best", reply.Reading{}, err)
	}
	r, err := solve(ctx, t, o)
	return t.End(ctx, "two-then-best", r, err)
}

func solve(ctx context.Context, t *phases.Trial, o options) (reply.Reading, error) {
	drafts, err := t.Drafts(ctx, []methods.Request{t.Reason("draft/1", 0, 0.7), t.Reason("draft/2", 1, 0.7)})
	if err != nil {
		return reply.Reading{}, err
	}
	values, err := t.Values(ctx, "judge", phases.Texts(drafts), o.Votes, 0.7)
	if err != nil {
		return reply.Reading{}, err
	}
	best := drafts[phases.Best(values, 1)[0]]
	last, err := t.Draft(ctx, t.Reconsider("merge", 0, 0, "Improve the solution above.", t.Show("merge", "solution", best.Text)))
	return last.Reading, err
}

func Example() {
	model := methodtest.ModelFunc(func(_ context.Context, r methods.Request) (methods.Completion, error) {
		text := map[string]string{
			"draft/1": "2 and 2 are 5.\nAnswer: 5", "draft/2": "2 and 2 are 4.\nAnswer: 4",
			"judge/v1": `{"value": "impossible"}`, "judge/v2": `{"value": "sure"}`, "merge": "It is as said.\nAnswer: 4",
		}[r.Path]
		return methods.Completion{Text: text}, nil
	})
	h := methodtest.NewHost(model)
	p := methods.Problem{Query: "How much is 2 and 2?", Answer: methods.AnswerSpec{Kind: methods.Number}}
	a, err := twoThenBest{}.Solve(context.Background(), p, h)
	fmt.Println(string(a.Value), a.Outcome, err)
	for _, c := range h.Transcript().Calls {
		if c.Request.Path == "merge" {
			fmt.Print(c.Request.Messages[0].Content)
		}
	}
	// Output:
	// 4 answered <nil>
	// How much is 2 and 2?
	//
	// <solution>
	// 2 and 2 are 4.
	// Answer: 4
	// </solution>
	// Improve the solution above. End with one last line of this form:
	// Answer: number
}

// TestBest: the largest come first, equal ones in their order, and never more than asked.
func TestBest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		values := make([]int, r.IntN(9))
		for i := range values {
			values[i] = r.IntN(4)
		}
		k := r.IntN(10)
		got := phases.Best(values, k)
		if len(got) != min(k, len(values)) {
			t.Fatalf("%d of %v: %v", k, values, got)
		}
		for i := 1; i < len(got); i++ {
			if a, b := got[i-1], got[i]; values[a] < values[b] || values[a] == values[b] && a > b {
				t.Fatalf("%d of %v: %v", k, values, got)
			}
		}
		for i, v := range values {
			if !slices.Contains(got, i) && len(got) > 0 && v > values[got[len(got)-1]] {
				t.Fatalf("%d of %v: %v lacks %d", k, values, got, i)
			}
		}
	}
}

// TestVerdict: the scale is that of the paper, by which one sure outweighs any number of
// others that are drawn in practice.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		v            phases.Verdict
		value, share float64
	}{
		{phases.Verdict{}, 0, 0}, {phases.Verdict{Sure: 3}, 60, 1}, {phases.Verdict{Likely: 2}, 2, 0.5},
		{phases.Verdict{Impossible: 1}, 0.001, 0}, {phases.Verdict{Sure: 1, Likely: 1, Impossible: 1}, 21.001, 0.5},
	} {
		if c.v.Value() != c.value || c.v.Share() != c.share {
			t.Errorf("%+v: %v, %v", c.v, c.v.Value(), c.v.Share())
		}
	}
}
