package attack

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"noema/kernel/model/provider/sim"
	"noema/kernel/task"
	"noema/kernel/task/arithmetic"
	"noema/kernel/task/cafes"
	"noema/kernel/task/policy"
	"noema/methods"
	"noema/methods/baseline"
	"noema/methods/methodtest"
)

func tasks(t *testing.T) []*task.Task {
	t.Helper()
	a, err := cafes.New(cafes.Options{N: 10, Requests: 20})
	if err != nil {
		t.Fatal(err)
	}
	b, err := policy.New(policy.Options{Restaurants: 2})
	if err != nil {
		t.Fatal(err)
	}
	return []*task.Task{a, b}
}

// TestEveryAttackBites and leaves targets, and what decides them, as they are: a
// reader that makes no mistake still finds every right answer.
func TestEveryAttackBites(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	reader, err := sim.New(sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, clean := range tasks(t) {
		for i, name := range slices.Concat(Names(), Names()) {
			a := Attack{name, 0.5, i >= len(Names())}
			attacked, err := a.Apply(clean, 1)
			if err != nil {
				t.Fatal(err)
			}
			changed, wrong := 0, 0
			for i, s := range attacked.Samples {
				if !bytes.Equal(s.Target, clean.Samples[i].Target) {
					t.Errorf("%s on %s: target of %s changed", a, clean.Name, s.ID)
				}
				if !bytes.Equal(s.Problem.Context, clean.Samples[i].Problem.Context) {
					changed++
				}
				if !json.Valid(s.Problem.Context) {
					t.Fatalf("%s on %s: the data of %s is no JSON any more", a, clean.Name, s.ID)
				}
				if answer(t, reader, s.Problem) != answer(t, reader, clean.Samples[i].Problem) {
					wrong++
				}
			}
			if changed*2 < len(attacked.Samples) {
				t.Errorf("%s on %s: only %d of %d samples changed", a, clean.Name, changed, len(attacked.Samples))
			}
			if wrong > 0 {
				t.Errorf("%s on %s: a reader without mistakes answers %d of %d otherwise", a, clean.Name, wrong, len(attacked.Samples))
			}
		}
	}
}

// answer is what direct says on a model that does not err.
func answer(t *testing.T, m sim.Provider, p methods.Problem) string {
	t.Helper()
	a, err := baseline.Direct().Solve(t.Context(), p, methodtest.NewHost(m))
	if err != nil {
		t.Fatal(err)
	}
	if p.Answer.Kind == methods.Ranking {
		items, err := a.Ranking()
		if err != nil {
			t.Fatal(err)
		}
		return string(rune('0' + items[0]))
	}
	return string(a.Value)
}

func TestTheSameSeedGivesTheSameTexts(t *testing.T) {
	for _, clean := range tasks(t) {
		digest := func(a Attack, seed uint64) string {
			made, err := a.Apply(clean, seed)
			if err != nil {
				t.Fatal(err)
			}
			d, err := made.Digest()
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		a := Attack{Name: "typo", Rate: 0.2}
		first, again := digest(a, 1), digest(a, 1)
		if first != again || first == digest(a, 2) || first == digest(Attack{Name: "typo", Rate: 0.3}, 1) {
			t.Errorf("%s: texts do not follow the seed and the rate", clean.Name)
		}
	}
}

func TestWhatBitesNothingIsRefused(t *testing.T) {
	plainTask, err := arithmetic.New(arithmetic.Options{N: 3})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Attack{Name: "typo", Rate: 1}).Apply(plainTask, 0); err == nil || !strings.Contains(err.Error(), "no reviews") {
		t.Errorf("a task without reviews gives %v", err)
	}
	little := &task.Task{Name: "little", Samples: []task.Sample{{ID: "a", Problem: methods.Problem{
		Query: "vegan waffles?", Context: json.RawMessage(`{"reviews":[{"author":"Ann","text":"The waffles are vegan."}]}`)}}}}
	if _, err := (Attack{Name: "typo", Rate: 1}).Apply(little, 0); err == nil || !strings.Contains(err.Error(), "the attack changes nothing") {
		t.Errorf("an attack on what decides gives %v", err)
	}
	for _, bad := range []string{"", "typo", "typo:0", "typo:2", "typo:NaN", "rain:0.5", "typo:x", "typo:0.5?scope=some"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is an attack", bad)
		}
	}
	for _, good := range []string{"fake-positive:0.25", "typo:1?scope=all"} {
		if a, err := Parse(good); err != nil || a.String() != good {
			t.Errorf("%v (%v)", a, err)
		}
	}
}

// TestOnlyTheTextChanges: what is changed is found by its place, though its bytes
// stand in other fields as well, and nothing is not changed into something.
func TestOnlyTheTextChanges(t *testing.T) {
	for raw, want := range map[string]string{
		`{"items":[{"tags":[],"reviews":[]},{"reviews":[{"author":"Pleasant","text":"Pleasant"}]}]}`:                                                  `{"items":[{"tags":[],"reviews":[]},{"reviews":[{"author":"Pleasant","text":"Plaesant"}]}]}`,
		`{"items":[{"n":1,"reviews":[{"text":"Pleasant"}]}, {"n":1,"reviews":[{"text":"Pleasant"}]}],"copy":{"n":1,"reviews":[{"text":"Pleasant"}]}}`: "",
		`{"tags":[{"text":"Pleasant"}],"reviews": [{"text":"Pleasant"}]}`:                                                                             `{"tags":[{"text":"Pleasant"}],"reviews": [{"text":"Plaesant"}]}`,
	} {
		w := work{Attack: Attack{Name: "typo", Rate: 1}, rng: rand.New(rand.NewPCG(1, 1))}
		got, err := w.context(json.RawMessage(raw))
		if err != nil || !json.Valid(got) {
			t.Errorf("%s becomes %s, %v", raw, got, err)
		}
		same := func(s string) string { // which letters are swapped is drawn
			for _, typo := range []string{"Plaesant", "Pelasant", "Plesaant", "Pleaasnt", "Pleasnat", "Pleasatn", "Peasant"} {
				s = strings.ReplaceAll(s, typo, "Plaesant")
			}
			return s
		}
		if want != "" && same(string(got)) != want {
			t.Errorf("%s becomes %s", raw, got)
		}
		if want == "" && (strings.Count(string(got), "Pleasant") != 1 || !strings.HasSuffix(string(got), `"copy":{"n":1,"reviews":[{"text":"Pleasant"}]}}`)) {
			t.Errorf("%s becomes %s", raw, got)
		}
	}
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(1, n)) }
