package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"noema/kernel/task"
	"noema/methods"
)

func generated(t *testing.T, o Options) *task.Task {
	t.Helper()
	made, err := New(o)
	if err != nil {
		t.Fatalf("%s: %v", o, err)
	}
	return made
}

// reviewsOf are the reviews of a sample as a method sees them.
func reviewsOf(t *testing.T, s task.Sample) []review {
	t.Helper()
	var context struct{ Reviews []review }
	if err := json.Unmarshal(s.Problem.Context, &context); err != nil {
		t.Fatal(err)
	}
	return context.Reviews
}

// read is what a reader of the texts alone makes of a sample's reviews.
func read(t *testing.T, s task.Sample, p Policy) []Review {
	t.Helper()
	var out []Review
	for _, r := range reviewsOf(t, s) {
		date, err := time.Parse(time.DateOnly, r.Date)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, Review{Labels: p.Read(r.Text), Stars: r.Stars, Year: date.Year(), Useful: r.Useful})
	}
	return out
}

// TestSolvable holds that the gold follows from the problem alone: whoever
// reads the policy's text and the reviews' texts and computes gets the
// target, at every K. It also holds the gold's own code against the policies.
func TestSolvable(t *testing.T) {
	for _, o := range []Options{{Restaurants: 60}, {K: 50, Restaurants: 12, Seed: 1}, {K: 100, Restaurants: 6, Seed: 2}, {K: 200, Restaurants: 6, Seed: 3}} {
		for _, s := range generated(t, o).Samples {
			p, ok := FindPolicy(s.Problem.Query)
			if !ok {
				t.Fatalf("%s has no known policy", s.ID)
			}
			got, err := json.Marshal(p.Compute(read(t, s, p)))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, s.Target) {
				t.Errorf("%s of %s: computed %s, target %s", s.ID, o, got, s.Target)
			}
		}
	}
}

// TestGoldAgrees compares the two statements of each policy on facts of all
// kinds, far from what restaurants have.
func TestGoldAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, name := range Names() {
		p, _ := Find(name)
		for range 1500 {
			reviews := make([]Review, rng.IntN(25))
			for i := range reviews {
				l := Labels{}
				for _, f := range p.Fields {
					l[f.Name] = f.Values[rng.IntN(len(f.Values))].Name
				}
				if l[p.Fields[0].Name] == None || l[p.Fields[1].Name] == None {
					l[p.Fields[0].Name], l[p.Fields[1].Name] = None, None
				}
				reviews[i] = Review{Labels: l, Stars: 1 + rng.IntN(5), Year: 2018 + rng.IntN(8), Useful: rng.IntN(9)}
			}
			want := byHand(name, reviews)
			if got := p.Compute(reviews); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: the policy gives %v, the gold %v", name, got, want)
			}
		}
	}
}

// TestPython holds that the policies' Python expressions give the targets
// under CPython, where there is one.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	type job struct {
		Steps       []Step
		Extractions []map[string]any
		Target      json.RawMessage
		ID          string
	}
	var jobs []job
	for _, s := range generated(t, Options{Restaurants: 40, Seed: 9}).Samples {
		p, _ := Find(s.Group)
		j := job{Steps: p.Steps(), Target: s.Target, ID: s.ID}
		for _, r := range read(t, s, p) {
			if r.Labels.Silent() {
				continue // a filter drops them; the result must not change
			}
			e := map[string]any{"stars": r.Stars, "year": r.Year, "useful": r.Useful}
			for f, v := range r.Labels {
				e[f] = v
			}
			j.Extractions = append(j.Extractions, e)
		}
		jobs = append(jobs, j)
	}
	in, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", `
import json, sys
for job in json.load(sys.stdin):
    env = {"extractions": job["Extractions"] or []}
    for s in job["Steps"]:
        env[s["Name"]] = eval(s["Python"], env)
    for name, want in job["Target"].items():
        if env[name] != want:
            print(job["ID"], name, repr(env[name]), repr(want))
print("done")`)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(out)) != "done" {
		t.Errorf("python: %s", out)
	}
}

// TestBalance holds that no level of a verdict has 60 % of the restaurants,
// for every policy, K and several seeds.
func TestBalance(t *testing.T) {
	for _, k := range []int{25, 50, 100, 200} {
		for seed := range uint64(3) {
			levels := map[string]map[string]int{}
			for _, s := range generated(t, Options{K: k, Restaurants: 10, Seed: seed}).Samples {
				if levels[s.Group] == nil {
					levels[s.Group] = map[string]int{}
				}
				levels[s.Group][s.Metadata["verdict"]]++
				if n := len(reviewsOf(t, s)); n != k {
					t.Errorf("%s has %d reviews, not %d", s.ID, n, k)
				}
			}
			for group, count := range levels {
				for verdict, n := range count {
					if n > 4 || len(count) != 3 {
						t.Errorf("k=%d seed=%d: %s is %q %d times of 10", k, seed, group, verdict, n)
					}
				}
			}
			if len(levels) != 6 {
				t.Errorf("%d policies", len(levels))
			}
		}
	}
}

// TestVaried holds that primitives vary and that reviews hold what misleads:
// what others told, what is feared, denials and instructions.
func TestVaried(t *testing.T) {
	for _, name := range Names() {
		p, _ := Find(name)
		values := map[string]map[string]bool{}
		accounts := map[string]int{}
		injected := 0
		for _, s := range generated(t, Options{Policy: name, Restaurants: 60}).Samples {
			var target map[string]json.RawMessage
			if err := json.Unmarshal(s.Target, &target); err != nil {
				t.Fatal(err)
			}
			for field, v := range target {
				if values[field] == nil {
					values[field] = map[string]bool{}
				}
				values[field][string(v)] = true
			}
			for _, r := range read(t, s, p) {
				accounts[r.Labels[p.Fields[1].Name]]++
			}
			injected += strings.Count(string(s.Problem.Context), "Ignore all previous") + strings.Count(string(s.Problem.Context), "SYSTEM:")
		}
		for field, seen := range values {
			if len(seen) < 2 {
				t.Errorf("%s: %s is always the same", name, field)
			}
		}
		for _, v := range p.Fields[1].Values {
			if accounts[v.Name] < 20 {
				t.Errorf("%s: %d reviews have %s %s", name, accounts[v.Name], p.Fields[1].Name, v.Name)
			}
		}
		if injected < 10 {
			t.Errorf("%s: %d instructions to the reader", name, injected)
		}
	}
}

// TestShape holds what methods and scorers rely on.
func TestShape(t *testing.T) {
	all := generated(t, Options{})
	if len(all.Samples) != 120 || all.Config != "k=25&policy=all&restaurants=20&seed=0" {
		t.Errorf("%d samples, config %q", len(all.Samples), all.Config)
	}
	ids := map[string]bool{}
	for _, s := range all.Samples {
		p, _ := Find(s.Group)
		if ids[s.ID] || !strings.HasPrefix(s.ID, s.Group+"-") {
			t.Errorf("id %q of group %q", s.ID, s.Group)
		}
		ids[s.ID] = true
		spec := s.Problem.Answer
		if spec.Kind != methods.Fields || !slices.Equal(spec.Names, append(p.Primitives(), "verdict")) || !slices.Equal(spec.Labels, p.Verdict.Labels[:]) {
			t.Errorf("%s: answer %+v", s.ID, spec)
		}
		answer := methods.Answer{Value: s.Target, Outcome: methods.Answered}
		fields, err := answer.Fields()
		if err != nil || spec.Check(answer) != nil || len(fields) != len(spec.Names) {
			t.Errorf("%s: target %s (%v)", s.ID, s.Target, err)
		}
		reviews := reviewsOf(t, s)
		if !slices.IsSortedFunc(reviews, func(a, b review) int { return strings.Compare(b.Date, a.Date) }) {
			t.Errorf("%s: the newest review does not come first", s.ID)
		}
		authors := map[string]bool{}
		for _, r := range reviews {
			if authors[r.Author] || r.Stars < 1 || r.Stars > 5 || r.Useful < 0 || r.Text == "" {
				t.Errorf("%s: review %+v", s.ID, r)
			}
			authors[r.Author] = true
		}
	}
	part := generated(t, Options{Policy: "noise", Restaurants: 4})
	for i, s := range part.Samples {
		if !reflect.DeepEqual(s, all.Samples[100+i]) {
			t.Errorf("%s alone differs from %s among all", s.ID, all.Samples[100+i].ID)
		}
	}
}

// TestGolden holds the digest of the default task. If it changes on purpose,
// so must version.
func TestGolden(t *testing.T) {
	for o, want := range map[Options]string{
		{}:                                  "cd3bac06fc89e0e98e63de15ded0b5bdd67139d93f2a29e095799dd9ef376c81",
		{Policy: "value", K: 100, Seed: 77}: "c7bb34027074630ae46ada91f336a6b1c35afba567cbd3e47eeadb6897a9379f",
	} {
		for range 2 {
			if got, err := generated(t, o).Digest(); err != nil || got != want {
				t.Errorf("%s: digest %s (%v), want %s", o, got, err, want)
			}
		}
	}
}

func TestManyRestaurants(t *testing.T) {
	names := map[string]bool{}
	for _, s := range generated(t, Options{Policy: "hygiene", Restaurants: 130}).Samples {
		names[s.Metadata["restaurant"]] = true
	}
	if len(names) != 130 {
		t.Errorf("130 restaurants have %d names", len(names))
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []Options{{K: 26}, {Restaurants: 501}, {Restaurants: -2}, {Policy: "weather"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	for _, name := range Names() {
		if made, err := New(Options{Policy: name, Restaurants: 1}); err != nil || len(made.Samples) != 1 {
			t.Errorf("policy %s: %v", name, err)
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

// TestDoubtful holds that scores are drawn again only where rounding could
// decide the verdict.
func TestDoubtful(t *testing.T) {
	for score, want := range map[float64]bool{4: false, 4.25: false, 3.995: true, 4.004: true, 4.02: false, 8.001: true, 7.5: false} {
		if got := doubtful(score, [2]float64{4, 8}); got != want {
			t.Errorf("doubtful(%v) = %v", score, got)
		}
	}
}
