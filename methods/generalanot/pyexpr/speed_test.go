package pyexpr

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

const countFormula = "sum(1 for e in extractions if e['a']=='x' and e['b']=='y')"

// extractionList is n extractions, of which about a ninth count.
func extractionList(tb testing.TB, n int) Value {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{
			"a": []string{"x", "none", "mild"}[i%3], "b": []string{"y", "firsthand", "secondhand"}[i/3%3],
			"stars": 1 + i%5, "date": "2024-05-01",
		}
	}
	v, err := FromGo(out)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// pythonSeconds is the best of CPython's times for countFormula over n.
func pythonSeconds(tb testing.TB, n int) float64 {
	path, err := exec.LookPath("python3")
	if err != nil {
		tb.Skip("no python3 on this machine to compare with")
	}
	script := fmt.Sprintf(`
import time
extractions = [{'a': ['x', 'none', 'mild'][i %% 3], 'b': ['y', 'firsthand', 'secondhand'][i // 3 %% 3], 'stars': 1 + i %% 5, 'date': '2024-05-01'} for i in range(%d)]
code = compile(%q, 'f', 'eval')
best = 1e9
for _ in range(15):
    t = time.perf_counter()
    eval(code)
    best = min(best, time.perf_counter() - t)
print(best)`, n, countFormula)
	out, err := exec.Command(path, "-c", script).Output()
	if err != nil {
		tb.Fatal(err)
	}
	best, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		tb.Fatal(err)
	}
	return best
}

// BenchmarkCount prints how many times as fast as CPython it is.
func BenchmarkCount(b *testing.B) {
	const n = 100_000
	env := map[string]Value{"extractions": extractionList(b, n)}
	e, err := Compile(countFormula)
	if err != nil {
		b.Fatal(err)
	}
	py, best := pythonSeconds(b, n), time.Hour
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := e.Eval(b.Context(), env, Limits{}); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(best.Seconds()*1e9/n, "ns/item")
	b.ReportMetric(py*1e9/n, "cpython-ns/item")
	b.ReportMetric(py/best.Seconds(), "x-cpython")
}

// dag is a Formula Seed's thirty steps, each with the steps before it as names.
func dag() (names, formulas []string) {
	add := func(name, formula string) { names, formulas = append(names, name), append(formulas, formula) }
	for i, a := range []string{"x", "none", "mild"} {
		for j, b := range []string{"y", "firsthand", "secondhand"} {
			add(fmt.Sprintf("n%d%d", i, j), fmt.Sprintf("sum(1 for e in extractions if e['a']==%q and e['b']==%q)", a, b))
		}
	}
	for i := range 9 {
		add(fmt.Sprintf("s%d", i), fmt.Sprintf("n%d%d * %d + n00 / max(1, len(extractions))", i/3, i%3, i+1))
	}
	for i := range 9 {
		add(fmt.Sprintf("t%d", i), fmt.Sprintf("s%d * 0.9 ** %d if s%d > 2 else round(s%d, 2)", i, i, i, i))
	}
	add("stars", "sum(e['stars'] for e in extractions) / max(1, len(extractions))")
	add("risk", "max(0.0, min(20.0, sum([t0, t1, t2, t3, t4, t5, t6, t7, t8]) / 100 - stars))")
	add("verdict", "'Low Risk' if risk < 4 else ('High Risk' if risk < 8 else 'Critical Risk')")
	return names, formulas
}

func runDAG(tb testing.TB, extractions Value) Value {
	env := map[string]Value{"extractions": extractions}
	names, formulas := dag()
	for i, f := range formulas {
		e, err := Compile(f)
		if err != nil {
			tb.Fatal(err)
		}
		if env[names[i]], err = e.Eval(tb.Context(), env, Limits{}); err != nil {
			tb.Fatalf("%s = %s: %v", names[i], f, err)
		}
	}
	return env["verdict"]
}

func BenchmarkDAG(b *testing.B) {
	list := extractionList(b, 200)
	if names, _ := dag(); len(names) != 30 {
		b.Fatalf("%d steps, want 30", len(names))
	}
	for b.Loop() {
		runDAG(b, list)
	}
}

// TestSpeed holds the two promises of speed. Another process may take the
// processor, so each has a few rounds to be kept in.
func TestSpeed(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" || raceEnabled {
		t.Skip("measures time, which other work on the machine disturbs: set NOEMA_BENCH=1")
	}
	const n = 100_000
	env := map[string]Value{"extractions": extractionList(t, n)}
	e, err := Compile(countFormula)
	if err != nil {
		t.Fatal(err)
	}
	list := extractionList(t, 200)
	dagTime := best(func() { runDAG(t, list) })
	if dagTime > 2*time.Millisecond {
		t.Errorf("thirty steps over 200 extractions took %v, want under 2 ms", dagTime)
	}
	var count, py time.Duration
	for range 4 {
		count = best(func() {
			if v, err := e.Eval(t.Context(), env, Limits{}); err != nil || v != Value(Int(11112)) {
				t.Fatal(v, err)
			}
		})
		if py = time.Duration(pythonSeconds(t, n) * float64(time.Second)); count <= py {
			break
		}
	}
	t.Logf("100,000 extractions: %v, CPython %v; thirty steps: %v", count, py, dagTime)
	if count > py {
		t.Errorf("100,000 extractions took %v, CPython needs %v", count, py)
	}
}

// best is the shortest of some times that do takes.
func best(do func()) time.Duration {
	shortest := time.Hour
	for range 15 {
		start := time.Now()
		do()
		shortest = min(shortest, time.Since(start))
	}
	return shortest
}
