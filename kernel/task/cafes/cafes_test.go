package cafes

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"noema/kernel/task"
	"noema/methods"
)

// presented is a problem's context as a method decodes it.
type presented struct {
	Items   []map[string]any    `json:"items"`
	Friends map[string][]string `json:"friends"`
}

func generate(t *testing.T, o Options) *task.Task {
	t.Helper()
	tk, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return tk
}

func contextOf(t *testing.T, s task.Sample) presented {
	t.Helper()
	var p presented
	if err := json.Unmarshal(s.Problem.Context, &p); err != nil {
		t.Fatalf("%s: %v", s.ID, err)
	}
	return p
}

// TestOneAnswer proves every request from what a method sees: the query is
// read, and its conditions are checked on each presented item. At N = 50 the
// presented items are all there are.
func TestOneAnswer(t *testing.T) {
	for _, o := range []Options{{}, {N: 50}, {N: 2, Seed: 1}, {N: 50, Seed: 1<<64 - 1}} {
		t.Run(o.String(), func(t *testing.T) {
			for _, s := range generate(t, o).Samples {
				p := contextOf(t, s)
				tree, err := ParseRequest(s.Problem.Query)
				if err != nil {
					t.Fatalf("%s: %v", s.ID, err)
				}
				var right []int
				for i, item := range p.Items {
					if tree.holds(item, p.Friends) {
						right = append(right, i+1)
					}
				}
				if string(s.Target) != strings.ReplaceAll(fmt.Sprint(right), " ", ",") {
					t.Errorf("%s: %s\nsatisfied by %v, target %s", s.ID, s.Problem.Query, right, s.Target)
				}
				if s.Problem.Answer.N != len(p.Items) {
					t.Errorf("%s: N is %d, there are %d items", s.ID, s.Problem.Answer.N, len(p.Items))
				}
			}
		})
	}
}

// TestNested holds the sets of items against each other: growing N adds items
// and changes nothing else.
func TestNested(t *testing.T) {
	smaller := generate(t, Options{N: 2})
	for _, n := range []int{10, 11, 50} {
		larger := generate(t, Options{N: n})
		for i, s := range smaller.Samples {
			l := larger.Samples[i]
			if s.ID != l.ID || s.Problem.Query != l.Problem.Query || s.Metadata["gold"] != l.Metadata["gold"] {
				t.Fatalf("N=%d: %s asks %q of %s, before %s asked %q of %s", n,
					l.ID, l.Problem.Query, l.Metadata["gold"], s.ID, s.Problem.Query, s.Metadata["gold"])
			}
			have := itemNames(t, l)
			for _, name := range itemNames(t, s) {
				if !slices.Contains(have, name) {
					t.Fatalf("N=%d: %s lost %q", n, l.ID, name)
				}
			}
			if slices.Sort(have); len(slices.Compact(have)) != n {
				t.Fatalf("N=%d: %s has %d different items", n, l.ID, len(have))
			}
		}
		smaller = larger
	}
}

func itemNames(t *testing.T, s task.Sample) []string {
	var out []string
	for _, item := range contextOf(t, s).Items {
		out = append(out, item["name"].(string))
	}
	return out
}

func TestDefaultTask(t *testing.T) {
	tk := generate(t, Options{})
	if len(tk.Samples) != 100 || tk.Config != "n=10&requests=100&seed=0" {
		t.Fatalf("%d samples, config %q", len(tk.Samples), tk.Config)
	}
	gold, position, queries := map[string]int{}, map[string]int{}, map[string]bool{}
	size, near := 0, 0
	for i, s := range tk.Samples {
		if s.ID != fmt.Sprintf("R%02d", i) || s.Group != fmt.Sprintf("G%02d", i/10+1) {
			t.Errorf("sample %d is %s of %s", i, s.ID, s.Group)
		}
		if want := (methods.AnswerSpec{Kind: methods.Ranking, N: 10, K: 5}); fmt.Sprint(s.Problem.Answer) != fmt.Sprint(want) {
			t.Errorf("%s wants %+v", s.ID, s.Problem.Answer)
		}
		gold[s.Metadata["gold"]]++
		position[string(s.Target)]++
		queries[s.Problem.Query] = true
		size += len(s.Problem.Context)
		var n int
		if _, err := fmt.Sscan(s.Metadata["near_misses"], &n); err != nil || n < 1 {
			t.Errorf("%s has %q near misses", s.ID, s.Metadata["near_misses"])
		}
		near += n
	}
	if len(gold) != 50 || len(position) != 10 || len(queries) != 100 {
		t.Errorf("%d cafes are gold, at %d positions, for %d queries", len(gold), len(position), len(queries))
	}
	for name, n := range gold {
		if n != 2 {
			t.Errorf("%s is gold %d times", name, n)
		}
	}
	for p, n := range position {
		if n != 10 {
			t.Errorf("gold is at %s %d times of 100", p, n)
		}
	}
	if mean := size / 100; mean > 13_500 {
		t.Errorf("a problem has %d bytes on average", mean)
	}
	if near < 400 {
		t.Errorf("%d near misses in 100 problems", near)
	}
}

// TestGoldIsNotConspicuous guards against answers without reading the
// request: by stars, by number of reviews, by length.
func TestGoldIsNotConspicuous(t *testing.T) {
	extremes := map[string]int{}
	for _, s := range generate(t, Options{}).Samples {
		var c struct{ Items []json.RawMessage }
		if err := json.Unmarshal(s.Problem.Context, &c); err != nil {
			t.Fatal(err)
		}
		var gold []int
		if err := json.Unmarshal(s.Target, &gold); err != nil {
			t.Fatal(err)
		}
		for name, measure := range map[string]func(json.RawMessage) float64{
			"longest":  func(r json.RawMessage) float64 { return float64(len(r)) },
			"shortest": func(r json.RawMessage) float64 { return -float64(len(r)) },
			"trues":    func(r json.RawMessage) float64 { return float64(strings.Count(string(r), "true")) },
		} {
			best := 0
			for i := range c.Items {
				if measure(c.Items[i]) > measure(c.Items[best]) {
					best = i
				}
			}
			if best == gold[0]-1 {
				extremes[name]++
			}
		}
	}
	for name, n := range extremes {
		if n > 25 { // chance is 10; 25 is five standard deviations above
			t.Errorf("the %s item is right %d times of 100", name, n)
		}
	}
}

func TestRequestsDependOnSeedAndIndexOnly(t *testing.T) {
	all := generate(t, Options{})
	few := generate(t, Options{Requests: 25})
	if len(few.Samples) != 25 {
		t.Fatalf("%d samples", len(few.Samples))
	}
	var asked []string
	for _, s := range all.Samples {
		asked = append(asked, s.Group+s.Problem.Query)
	}
	perGroup := map[string]int{}
	for i, s := range few.Samples {
		perGroup[s.Group]++
		if !slices.Contains(asked, s.Group+s.Problem.Query) {
			t.Errorf("%s is not among the 100 requests: %s", s.ID, s.Problem.Query)
		}
		if s.ID != fmt.Sprintf("R%02d", i) {
			t.Errorf("sample %d is %s", i, s.ID)
		}
	}
	if perGroup["G01"] != 3 || perGroup["G10"] != 2 {
		t.Errorf("groups have %v", perGroup)
	}
	if other := generate(t, Options{Seed: 5}); other.Samples[0].Problem.Query == all.Samples[0].Problem.Query {
		t.Error("another seed asks the same")
	}
}

// TestGolden holds the digest of the default task. If it changes on purpose,
// so must version.
func TestGolden(t *testing.T) {
	for o, want := range map[Options]string{
		{}:                             "7d87ca174fe8a05a90314b50c2266a4cf75aefa841582cd6895401732e73366d",
		{N: 50, Requests: 10, Seed: 7}: "0e29e88bce3eee97d804623b48aa32cab1fb25eb84bb89d7fd48a6545f51e2f7",
	} {
		for range 2 {
			got, err := generate(t, o).Digest()
			if err != nil || got != want {
				t.Errorf("%s: digest %s (%v), want %s", o, got, err, want)
			}
		}
	}
}

// TestGroups prints what the package comment says of the groups, and holds
// that nearly every conjunct decides against some cafe.
func TestGroups(t *testing.T) {
	w := newWorld(0)
	requests, err := w.requests(Options{N: 10, Requests: 100})
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ leaves, conjuncts, decisive, near int }
	table := map[string]tally{}
	for _, r := range requests {
		c := table[r.group]
		c.leaves += len(r.tree.Leaves())
		c.near += r.nearMisses.size()
		for _, f := range r.failing {
			c.conjuncts++
			c.decisive += min(1, bits.OnesCount64(uint64(f)))
		}
		table[r.group] = c
	}
	for g := range 10 {
		c := table[fmt.Sprintf("G%02d", g+1)]
		t.Logf("G%02d: %.1f conditions, %.1f near misses of 49, %d of %d conjuncts decisive",
			g+1, float64(c.leaves)/10, float64(c.near)/10, c.decisive, c.conjuncts)
		if c.decisive*10 < c.conjuncts*7 || c.near < 50 {
			t.Errorf("G%02d is too easy: %+v", g+1, c)
		}
	}
}

// TestNoDoubt holds that nothing in a review puts a mention in doubt and that
// nobody whose friends are asked for writes reviews.
func TestNoDoubt(t *testing.T) {
	for _, aside := range lexicon().Asides {
		for _, topic := range Topics() {
			if Mentions(aside, topic) {
				t.Errorf("%q names %q", aside, topic)
			}
		}
		if tree, err := ParseRequest(aside); err == nil {
			t.Errorf("%q sounds like the condition %v", aside, tree)
		}
	}
	w := newWorld(3)
	for _, c := range w.cafes {
		seen := map[string]bool{}
		for _, r := range c.Reviews {
			if seen[r.Author] || slices.Contains(w.askers, r.Author) {
				t.Errorf("%s: a second review or one by an asker: %s", c.Name, r.Author)
			}
			seen[r.Author] = true
			if strings.Contains(r.Text, "{") {
				t.Errorf("%s: %q", c.Name, r.Text)
			}
		}
	}
	for a, friends := range w.friends {
		for _, b := range friends {
			if a == b || !slices.Contains(w.friends[b], a) {
				t.Errorf("%s lists %s, who does not list them", a, b)
			}
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []Options{{N: 51}, {N: 1}, {Requests: 501}, {Requests: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
