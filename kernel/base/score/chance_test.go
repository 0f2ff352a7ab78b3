package score_test

import (
	"fmt"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// orders calls visit with every order of 1..n.
func orders(n int, visit func([]int)) {
	items := make([]int, n)
	for i := range items {
		items[i] = i + 1
	}
	var place func(at int)
	place = func(at int) {
		if at == n {
			visit(items)
			return
		}
		for i := at; i < n; i++ {
			items[at], items[i] = items[i], items[at]
			place(at + 1)
			items[at], items[i] = items[i], items[at]
		}
	}
	place(0)
}

// The chance level is what scoring every possible ranking gives on average.
func TestChanceIsTheMeanOverAllRankings(t *testing.T) {
	for _, c := range []struct {
		n, k int
		gold string
	}{{7, 5, `[3]`}, {7, 5, `[1,4]`}, {6, 3, `[2,3,6]`}, {4, 9, `[1,2]`}, {3, 0, `[1,2,3]`}, {1, 1, `[1]`}} {
		spec := methods.AnswerSpec{Kind: methods.Ranking, N: c.n, K: c.k}
		mean, count := map[string]float64{}, 0.0
		orders(c.n, func(items []int) {
			s, err := score.For(spec).Score(spec, methods.RankingAnswer(items), raw(c.gold))
			if err != nil {
				t.Fatal(err)
			}
			for name, v := range s.Values {
				mean[name] += v
			}
			count++
		})
		for name := range mean {
			mean[name] /= count
		}
		got, err := score.Chance(spec, raw(c.gold))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("n=%d k=%d gold=%s", c.n, c.k, c.gold), func(t *testing.T) { sameValues(t, got, mean) })
	}
}

func TestChanceOfLargeRankings(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Ranking, N: 1_000_000, K: 5}
	got, err := score.Chance(spec, raw(`[7]`))
	if err != nil {
		t.Fatal(err)
	}
	if h := got["hits@5"]; h < 4.99999e-6 || h > 5.00001e-6 {
		t.Errorf("hits@5 = %v, want 5e-6", h)
	}
}

func TestChanceOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		spec   methods.AnswerSpec
		target string
		want   map[string]float64
	}{
		{methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"a", "b", "c", "d"}}, `"a"`, map[string]float64{"accuracy": 0.25}},
		{methods.AnswerSpec{Kind: methods.Number}, `1`, nil},
		{methods.AnswerSpec{Kind: methods.Text}, `"x"`, nil},
		{methods.AnswerSpec{Kind: methods.Set}, `["x"]`, nil},
		{methods.AnswerSpec{Kind: methods.Fields}, `{"x":1}`, nil},
	} {
		got, err := score.Chance(c.spec, raw(c.target))
		if err != nil {
			t.Fatal(err)
		}
		sameValues(t, got, c.want)
	}
}
