package compare

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// verdictTable has what the whole simulation of the verdict found, beside its peers.
const verdictTable = "testdata/verdicts.txt"

const verdictHead = `# What NOEMA_BENCH=1 NOEMA_TEST_PYTHON=python go test -run 'TestStudyVerdict$' -timeout 2h ./kernel/result/compare found, in per cent. 0/1 scores;
# without a difference, two methods part on 37 %% of the samples, and a second and third model scores as the first on half of them.
# null: all methods are equal. winner: the first is better by 0.1 on every task, by 0.05 where there are 20. turns: it is that much better, but worse
# by 0.2 on the smallest task. evens out: it is worse by 0.2 there, and better on the others by so much that the means over tasks are equal.
# One standard error of a share p of N studies is sqrt(p(1-p)/N): of 5 %%, 0.9 of 600 and 1.5 of 200.
#   false: studies in which any pair has a winner though it has none, or the other. found: pairs of unequal methods that have their winner.
#   holds: studies in which all intervals of pairs hold. turned: studies in which the task that turns is named.
#   like these: pairs whose interval for tasks like these lies on a side of 0, on the wrong one and on the right one; noema names no winner by it.
#   pooled: t of all samples of all tasks. mixed: d ~ 1 + (1 | task) of each pair by statsmodels, Wald's z, of the first %d studies (%d of 4 methods), and how
#   many fits failed or did not converge. ranks: Friedman's test over tasks, then Nemenyi's; of two methods Wilcoxon's. All peers by pair, Bonferroni.
#                                      noema                                 like these     pooled         mixed model             ranks
#                            studies   false  found  holds  turned           wrong  right   false  found   false  found  failed    false  found
`

// mixedStudies are of how many studies a mixed model is fitted, by the number of methods: a fit
// takes as long as a hundred verdicts.
var mixedStudies = map[int]int{2: 200, 4: 50}

// spread are the sizes of 20 tasks between 20 and 500 samples, in even steps of a logarithmic
// scale.
func spread() (sizes []int) {
	for i := range 20 {
		sizes = append(sizes, int(math.Round(20*math.Pow(25, float64(i)/19))))
	}
	return sizes
}

// verdictWorlds are the studies that a verdict is promised for: by methods, tasks, models and truth.
func verdictWorlds(methods []int, models []int) (all []studyWorld) {
	for _, sizes := range [][]int{{20}, {500}, {20, 50, 100, 200, 500}, spread()} {
		better, rest := 0.1, float64(len(sizes)-1)
		if len(sizes) == 20 {
			better = 0.05
		}
		for _, count := range methods {
			for _, m := range models {
				for _, w := range []studyWorld{
					{name: "null", even: true}, {name: "winner", effect: better, even: true},
					{name: "turns", effect: better, turn: -0.2 - better}, {name: "evens out", effect: 0.2 / rest, turn: -0.2 - 0.2/rest},
				} {
					if len(sizes) == 1 && w.turn != 0 {
						continue
					}
					w.sizes, w.methods, w.models, w.alike, w.draw = sizes, count, m, 0.5, solved(0.5, 0)
					tasks := fmt.Sprintf("%d task", len(sizes))
					if len(sizes) > 1 {
						tasks += "s"
					} else {
						tasks += fmt.Sprint(" of ", sizes[0])
					}
					w.name = fmt.Sprintf("%-9s %d × %-13s × %d", w.name, count, tasks, m)
					all = append(all, w)
				}
			}
		}
	}
	return all
}

// peers are what other rules found in the same studies, in shares; NaN where one does not apply.
type peers struct {
	PooledFalse, PooledFound            float64
	MixedFalse, MixedFound, MixedFailed float64
	RanksFalse, RanksFound              float64
}

// verdicts draws studies and judges them, and gives the same ones to the peers if there is a Python.
func (w studyWorld) verdicts(t *testing.T, python string, seed uint64, studies int) (f studyFound, p *peers) {
	r := rand.New(rand.NewPCG(seed, 4))
	give, done := func([]CellData) {}, func() {}
	if python != "" {
		p = new(peers)
		give, done = w.askPeers(t, python, p)
	}
	for range studies {
		cells := w.cells(r)
		give(cells)
		f.add(t, w, cells, 1/float64(studies))
	}
	done()
	return f, p
}

// askPeers starts the peers. give gives them a study, and done waits for what they found.
func (w studyWorld) askPeers(t *testing.T, python string, found *peers) (give func([]CellData), done func()) {
	t.Helper()
	command := exec.CommandContext(t.Context(), python, "testdata/peers.py")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	command.Stdout = &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	file := bufio.NewWriter(in)
	line := json.NewEncoder(file)
	encode := func(v any) {
		if err := line.Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	encode(map[string]any{"methods": w.methods, "mixed": mixedStudies[w.methods], "truth": w.truth(Difference{A: "m0"})})
	give = func(cells []CellData) { encode(w.means(cells)) }
	return give, func() {
		if err := file.Flush(); err != nil {
			t.Fatal(err)
		}
		in.Close()
		if err := command.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(out.String()), found); err != nil {
			t.Fatalf("%v: %s", err, &out)
		}
	}
}

// means are what methods score on the samples of each task, the models of a sample averaged.
func (w studyWorld) means(cells []CellData) (tasks [][][]float64) {
	for at := 0; at < len(cells); at += w.models {
		task := make([][]float64, w.methods)
		for m := range task {
			task[m] = make([]float64, len(cells[at].Data.Samples))
			for _, c := range cells[at : at+w.models] {
				for i, s := range c.Data.Samples {
					task[m][i] += s.Cells[m][0].Values["x"] / float64(w.models)
				}
			}
		}
		tasks = append(tasks, task)
	}
	return tasks
}

// TestStudyVerdict holds the verdict of studies to what it promises: false winners in at most 5 %,
// and intervals that hold in at least 95 %, up to three standard errors of the simulation. The
// whole of it fits other rules to the same studies, and keeps a table.
func TestStudyVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	bench, python := os.Getenv("NOEMA_BENCH") != "", os.Getenv("NOEMA_TEST_PYTHON")
	worlds := verdictWorlds([]int{2, 4}, []int{1, 3})
	if bench {
		worlds = verdictWorlds([]int{2, 4, 8}, []int{1, 3})
	} else {
		python = ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, verdictHead, mixedStudies[2], mixedStudies[4])
	for i, w := range worlds {
		studies := 60
		switch {
		case bench && len(w.sizes) < 20:
			studies = 600
		case bench:
			studies = 200
		case len(w.sizes) == 20:
			studies = 25
		}
		f, p := w.verdicts(t, python, uint64(i), studies)
		fmt.Fprintln(&b, f.verdictRow(w, studies, p))
		most := 0.05 + 3*math.Sqrt(0.05*0.95/float64(studies))
		if f.winners > most || f.holds < 1-most || w.tested() && f.interactions > most {
			t.Errorf("%s of %d studies: false winners %.3f, intervals hold %.3f, false interactions %.3f", w.name, studies, f.winners, f.holds, f.interactions)
		}
	}
	if bench {
		if err := os.WriteFile(verdictTable, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// verdictRow is a world as the table has it.
func (f studyFound) verdictRow(w studyWorld, studies int, p *peers) string {
	share := func(x float64, known bool) string {
		if !known || math.IsNaN(x) || x < 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f", 100*x)
	}
	apart, tasks := w.truth(Difference{A: "m0"}) != 0, len(w.sizes)
	row := fmt.Sprintf("%-30s %4d  %6s %6s %6s %7s           %6s %6s", w.name, studies, share(f.winners, true), share(f.found, apart), share(f.holds, true),
		share(f.named, w.turn != 0), share(f.beyond, tasks >= fewestTasks), share(f.beyondFound, apart && tasks >= fewestTasks))
	if p == nil {
		return row
	}
	return row + fmt.Sprintf("  %6s %6s  %6s %6s  %6s   %6s %6s", share(p.PooledFalse, true), share(p.PooledFound, apart),
		share(p.MixedFalse, true), share(p.MixedFound, apart), share(p.MixedFailed, true), share(p.RanksFalse, true), share(p.RanksFound, apart))
}
