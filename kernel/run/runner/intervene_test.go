package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"noema/cache"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/kernel/task/policy"
	"noema/methods"
	"noema/methods/anot"
	"noema/methods/generalanot"
)

// vary carries a run out again with its one method as it is and under interventions.
func vary(t testing.TB, e Setup, store *cache.Store, of *Result, all ...record.Intervention) *Result {
	t.Helper()
	base := e.Methods[0]
	e.Methods = []Method{base}
	for _, v := range all {
		m := base
		v.Of = base.Label
		v.By = cmp.Or(v.By, record.ByPhase)
		m.Label, m.Intervention, m.Truth = base.Label+" "+v.Kind+" "+v.At, &v, simModel(t, "error=0")
		e.Methods = append(e.Methods, m)
	}
	r, err := e.Again(context.Background(), store, Quiet{}, of)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func creditOf(t testing.TB, r *Result, metrics ...string) *compare.Credit {
	t.Helper()
	c, err := compare.CreditOf(r.Run, r.Samples(), r.Trials, compare.Options{}, metrics...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// byValue lists names by falling value.
func byValue(values map[string]float64) []string {
	var names []string
	for n := range values {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(values[b], values[a]), strings.Compare(a, b)) })
	return names
}

// recovery is a method on a simulated model of which it is known what the mistakes of
// each phase cost.
type recovery struct {
	method methods.Method
	task   *task.Task
	phases map[string]string // options of the model without the mistakes of a phase
	rates  string
	truth  map[string]float64 // measured by the benchmark
	runs   int                // whose mean is taken
}

// recoveries are rates of error whose costs differ from phase to phase.
func recoveries(t testing.TB) []recovery {
	policies, err := policy.New(policy.Options{Restaurants: 5})
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]string{"P1": "error.request=0", "P2": "error.write=0", "P3": "error.judge=0&error.compute=0"}
	a := recovery{runs: 1, method: anot.New(), task: cafesTask(t, 40), phases: phases}
	phases = map[string]string{"seed": "error.request=0&error.write=0", "extract": "error.judge=0"}
	// A run compiles each policy once, so that one may be lucky.
	g := recovery{runs: 3, method: generalanot.New(), task: policies, phases: phases}
	with := func(r recovery, rates string, truth map[string]float64) recovery {
		r.rates, r.truth = rates, truth
		return r
	}
	return []recovery{
		with(a, "error=0&error.request=0.15&error.write=0.15&error.judge=0.005", map[string]float64{"P1": 0.21, "P2": 0.08, "P3": 0.01}),
		with(a, "error=0&error.request=0.01&error.write=0.1&error.judge=0.1&error.compute=0.1", map[string]float64{"P1": 0.01, "P2": 0.03, "P3": 0.41}),
		with(a, "error=0&error.request=0.06&error.judge=0.03&error.compute=0.3", map[string]float64{"P1": 0.06, "P2": 0.00, "P3": 0.33}),
		with(g, "error=0&error.request=0.1&error.judge=0.01", map[string]float64{"seed": 0.16, "extract": 0.01}),
		with(g, "error=0&error.request=0.005&error.judge=0.3", map[string]float64{"seed": 0.00, "extract": 0.38}),
	}
}

// TestCreditRecoversTheRanking: the intervention "truth" on recorded calls puts the
// phases in the order of what their mistakes cost.
func TestCreditRecoversTheRanking(t *testing.T) {
	if testing.Short() {
		t.Skip("a simulation, which shows nothing of what runs at once")
	}
	for i, c := range recoveries(t) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			if os.Getenv("NOEMA_BENCH") != "" {
				c.measure(t)
			}
			var all []record.Intervention
			for _, phase := range byValue(c.truth) {
				all = append(all, record.Intervention{Kind: record.Truth, At: phase})
			}
			found := map[string]float64{}
			for seed := range uint64(c.runs) {
				store := openStore(t, t.TempDir())
				e := Setup{Task: c.task, Methods: []Method{inProcess(c.method)}, Provider: simModel(t, c.rates), Experiment: Experiment{Seed: seed}}
				for _, p := range creditOf(t, vary(t, e, store, mustRun(t, e, store), all...)).Places {
					found[p.At] += p.Effects[0].Change.Difference.Value / float64(c.runs)
				}
			}
			t.Logf("truth %.3v, credit %.3v", c.truth, found)
			if !slices.Equal(byValue(c.truth), byValue(found)) {
				t.Errorf("credit ranks the phases %v, the truth is %v", byValue(found), byValue(c.truth))
			}
		})
	}
}

// measure checks what the mistakes of each phase cost: the score of runs in which
// that phase makes none, minus the score with them.
func (c recovery) measure(t *testing.T) {
	mean := func(model string) float64 {
		sum, seeds := 0.0, 30
		for seed := range seeds {
			e := Setup{
				Task: c.task, Methods: []Method{inProcess(c.method)}, Provider: simModel(t, model),
				Experiment: Experiment{Seed: uint64(seed + 100), Cache: "off"},
			}
			s, err := Summarize(mustRun(t, e, openStore(t, t.TempDir())))
			if err != nil {
				t.Fatal(err)
			}
			sum += s.Methods[0].Metrics[s.Comparison.Metric].Value / float64(seeds)
		}
		return sum
	}
	all := mean(c.rates)
	for phase, without := range c.phases {
		cost := mean(overridden(c.rates, without)) - all
		t.Logf("%s: %s costs %.3f", c.rates, phase, cost)
		if math.Abs(cost-c.truth[phase]) > 0.06 { // three standard errors
			t.Errorf("%s: the mistakes of %s cost %.3f, want %.2f", c.rates, phase, cost, c.truth[phase])
		}
	}
}

// overridden is a model's options with some replaced.
func overridden(options, others string) string {
	values := map[string]string{}
	for _, o := range []string{options, others} {
		for part := range strings.SplitSeq(o, "&") {
			name, value, _ := strings.Cut(part, "=")
			values[name] = value
		}
	}
	var parts []string
	for name, value := range values {
		parts = append(parts, name+"="+value)
	}
	return strings.Join(parts, "&")
}
