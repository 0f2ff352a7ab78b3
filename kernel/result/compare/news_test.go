package compare

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
)

// names reads "a, b and c".
func names(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(text, " and ", ", "), func(r rune) bool { return r == ',' || r == ' ' })
}

// TestTheNewsSaysWhatIsProven: over random winners of up to seven methods, the sentence
// claims just the pairs that have a winner, names those that are shown to be equivalent,
// and calls open no pair of either.
func TestTheNewsSaysWhatIsProven(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	clause := regexp.MustCompile(`^(.+) (beats?|loses? to) (.+?)( on accuracy)?$`)
	best := regexp.MustCompile(`^(.+) is the best on accuracy: better than each of the other (\d+)$`)
	kinds := map[string]int{}
	for range 5000 {
		c := &Comparison{Metric: "accuracy"}
		n := 3 + random.IntN(5)
		share := random.Float64()
		for i := range n {
			c.Methods = append(c.Methods, MethodStats{Method: fmt.Sprint("m", i), Metrics: map[string]Merit{
				"accuracy": {Value: score.Metric{Defined: true, Value: random.Float64()}}}})
		}
		var won, equal []string
		for i := range n {
			for j := range i {
				p := Pair{A: c.Methods[j].Method, B: c.Methods[i].Method}
				if random.Float64() < share {
					winner, loser := p.A, p.B
					if c.Methods[i].Metrics["accuracy"].Value.Value > c.Methods[j].Metrics["accuracy"].Value.Value {
						winner, loser = p.B, p.A
					}
					p.Winner = winner
					won = append(won, winner+">"+loser)
				} else if random.IntN(2) == 0 {
					p.Metrics = map[string]Difference{"accuracy": {Equivalence: &Equivalence{Margin: 0.1, Equivalent: true}}}
					equal = append(equal, p.A+" and "+p.B)
				}
				c.Pairs = append(c.Pairs, p)
			}
		}
		said, rest := c.verdict(), ""
		if part := best.FindStringSubmatch(said); part != nil {
			kinds["best"]++
			for _, m := range c.Methods {
				if m.Method != part[1] && !slices.Contains(won, part[1]+">"+m.Method) {
					t.Fatalf("%s\nwins %v", said, won)
				}
			}
			continue
		}
		var claimed []string
		for part := range strings.SplitSeq(said, "; ") {
			if list, ok := strings.CutPrefix(part, "equivalent within 0.1: "); ok {
				if list = strings.TrimSuffix(list, " on accuracy"); list != strings.Join(equal, ", ") {
					t.Fatalf("%s\nequivalent %v", said, equal)
				}
				equal = nil
				kinds["equivalent"]++
				continue
			}
			found := clause.FindStringSubmatch(part)
			if found == nil {
				rest = part
				continue
			}
			for _, a := range names(found[1]) {
				for _, b := range names(found[3]) {
					if strings.HasPrefix(found[2], "lose") {
						claimed = append(claimed, b+">"+a)
					} else {
						claimed = append(claimed, a+">"+b)
					}
				}
			}
		}
		if equal != nil {
			t.Fatalf("%s\ndoes not say that %v are equivalent", said, equal)
		}
		slices.Sort(claimed)
		slices.Sort(won)
		if !slices.Equal(claimed, won) {
			t.Fatalf("%s\nclaims %v\nwins   %v", said, claimed, won)
		}
		open := func(names []string) bool {
			return slices.ContainsFunc(c.Pairs, func(p Pair) bool {
				return slices.Contains(names, p.A) && slices.Contains(names, p.B) && p.Winner == "" && p.Metrics == nil
			})
		}
		if strings.HasPrefix(rest, "nothing is proven on accuracy: ") {
			kinds["nothing"]++
			if len(won) > 0 || !slices.ContainsFunc(c.Pairs, func(p Pair) bool { return p.Metrics == nil }) {
				t.Fatalf("%s\nwins %v", said, won)
			}
			continue
		}
		text, left := strings.CutSuffix(rest, " nothing is proven")
		if !left {
			kinds["all told"]++
			continue
		}
		kinds["open"]++
		among := names(strings.TrimPrefix(strings.TrimPrefix(text, "between "), "among "))
		if !open(among) {
			t.Fatalf("%s\nof these all is told", said)
		}
		for _, p := range c.Pairs {
			if slices.Contains(among, p.A) && slices.Contains(among, p.B) && p.Winner != "" {
				t.Fatalf("%s\nwins %v", said, won)
			}
		}
	}
	if len(kinds) < 5 {
		t.Errorf("one-sided: %v", kinds)
	}
}

// TestBeatsAreTheWins: the samples that are listed as wins are as many as the comparison
// counts, over random scores with failed and missing trials.
func TestBeatsAreTheWins(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	total := 0
	for range 200 {
		d := Data{Methods: []string{"a", "b", "c"}, Metrics: []string{"accuracy"}}
		for i := range 1 + random.IntN(30) {
			s := Sample{ID: fmt.Sprint("s", i), Cells: make([][]Cell, 3), Unscored: random.IntN(10) == 0}
			for m := range s.Cells {
				for epoch := range random.IntN(4) {
					cell := Cell{Epoch: epoch, Values: map[string]float64{"accuracy": float64(random.IntN(4)) / 3}, Infra: random.IntN(10) == 0}
					s.Cells[m] = append(s.Cells[m], cell)
				}
			}
			d.Samples = append(d.Samples, s)
		}
		c, err := Compare(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		beats, err := d.Winners()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range c.Pairs {
			wins, err := beats(p.A, p.B)
			losses, errLosses := beats(p.B, p.A)
			if err != nil || errLosses != nil {
				t.Fatal(err, errLosses)
			}
			m := p.Metrics[c.Metric]
			if len(wins) != m.Wins || len(losses) != m.Losses {
				t.Fatalf("%s against %s: %d and %d samples are listed, %d and %d counted", p.A, p.B, len(wins), len(losses), m.Wins, m.Losses)
			}
			total += m.Wins
		}
	}
	if total < 500 {
		t.Errorf("only %d wins", total)
	}
	beats, err := (Data{Methods: []string{"a"}, Metrics: []string{"accuracy"}}).Winners()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := beats("a", "z"); err == nil || !strings.Contains(err.Error(), `"z"`) {
		t.Errorf("an unknown method: %v", err)
	}
}
