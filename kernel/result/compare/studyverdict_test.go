package compare

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// verdictTable has what the whole simulation of the verdict found, beside its peers.
const verdictTable = "testdata/verdicts.txt"

const verdictHead = `# What NOEMA_BENCH=1 NOEMA_TEST_PYTHON=python go test -run 'TestStudyVerdict$' -timeout 3h ./kernel/result/compare found, in per cent of studies of 0/1
# scores, by methods, tasks (of 20 to 500 samples where there are several) and models. Without a difference, two methods part on 37 %% of the
# samples; a second and third model scores as the first on half of them.
# null: all methods are equal. winner: the first is better by 0.1 on every task, by 0.05 where there are 20. turns: it is that much better, but worse
# by 0.2 on a task of middle size. evens out: it is worse by 0.2 on the smallest, and better on the others by so much that the means over tasks are equal.
# One standard error of a share p of N studies is sqrt(p(1-p)/N): of 5 %%, 1.1 of 400, 1.5 of 200, 2.2 of 100, 2.8 of 60, 4.0 of 30; of 50 %%, 2.5, 3.5, 5.0, 6.5, 9.1.
#   false: a pair has a winner though it has none, or the other one. found: the pairs of unequal methods that have their winner. holds: the intervals of
#   all pairs hold. turned: the task that turns is named; alike: the difference is said to change though it does not (both of two methods).
#   like these: the interval for tasks like these leaves out 0 on the wrong side, and on the right one (of two methods); noema names no winner by it.
#   pooled: Student's t of all samples of all tasks. mixed: d ~ 1 + (1 | task) of each pair by statsmodels, Wald's z, of the first %d studies (%d of 4
#   methods), and the fits that failed or did not converge. ranks: Friedman over tasks, then Nemenyi; of two methods Wilcoxon. Pairs are corrected by Bonferroni.
#                                    noema                                 like these     pooled        mixed                 ranks
#                          studies   false  found  holds turned  alike  wrong  right  false  found  false  found failed  false  found
`

// mixedStudies are of how many studies a mixed model is fitted, by the number of methods: a fit
// takes as long as a hundred verdicts.
var mixedStudies = map[int]int{2: 100, 4: 10}

// spread are the sizes of 20 tasks between 20 and 500 samples, in even steps of a logarithmic
// scale.
func spread() (sizes []int) {
	for i := range 20 {
		sizes = append(sizes, int(math.Round(20*math.Pow(25, float64(i)/19))))
	}
	return sizes
}

// verdictWorlds are the studies that a verdict is promised for: by numbers of methods and of models.
func verdictWorlds(of ...[2]int) (all []studyWorld) {
	for _, sizes := range [][]int{{20}, {500}, {20, 50, 100, 200, 500}, spread()} {
		better, rest := 0.1, float64(len(sizes)-1)
		if len(sizes) == 20 {
			better = 0.05
		}
		for _, count := range of {
			for _, w := range []studyWorld{
				{name: "null", even: true}, {name: "winner", effect: better, even: true},
				{name: "turns", effect: better, turn: -0.2 - better}, {name: "evens out", effect: 0.2 / rest, turn: -0.2 - 0.2/rest},
			} {
				if len(sizes) == 1 && w.turn != 0 {
					continue
				}
				if w.sizes = slices.Clone(sizes); w.name == "turns" {
					w.sizes[0], w.sizes[len(sizes)/2] = sizes[len(sizes)/2], sizes[0]
				}
				tasks := fmt.Sprint(len(sizes))
				if len(sizes) == 1 {
					tasks += fmt.Sprintf(" (%d)", sizes[0])
				}
				w.methods, w.models, w.alike, w.draw = count[0], count[1], 0.5, solved(0.5, 0)
				w.name = fmt.Sprintf("%-9s %d × %-7s × %d", w.name, count[0], tasks, count[1])
				all = append(all, w)
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

// allVerdicts are the worlds of the table.
func allVerdicts() []studyWorld {
	return verdictWorlds([2]int{2, 1}, [2]int{2, 3}, [2]int{4, 1}, [2]int{4, 3}, [2]int{8, 1}, [2]int{8, 3})
}

// TestStudyVerdictTable: the committed table has every world, and each keeps what is promised.
func TestStudyVerdictTable(t *testing.T) {
	raw, err := os.ReadFile(verdictTable)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range allVerdicts() {
		_, row, has := strings.Cut(string(raw), "\n"+fmt.Sprintf("%-28s", w.name))
		var studies int
		var wrong, holds float64
		var found string
		if _, err := fmt.Sscan(row, &studies, &wrong, &found, &holds); !has || err != nil || studies != w.studies(true) {
			t.Errorf("%s: %d studies, %v", w.name, studies, err)
		}
		if noise := 300 * math.Sqrt(0.05*0.95/float64(studies)); wrong > 5+noise || holds < 95-noise {
			t.Errorf("%s: false winners in %v %%, and intervals hold in %v %%", w.name, wrong, holds)
		}
	}
}

// TestStudyVerdict holds the verdict of studies to what it promises: false winners in at most 5 %,
// and intervals that hold in at least 95 %, up to three standard errors of the simulation. The
// whole of it fits other rules to the same studies, and keeps a table.
func TestStudyVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	bench := os.Getenv("NOEMA_BENCH") != ""
	worlds := verdictWorlds([2]int{2, 1}, [2]int{4, 3})
	if bench {
		worlds = allVerdicts()
	}
	var b strings.Builder
	fmt.Fprintf(&b, verdictHead, mixedStudies[2], mixedStudies[4])
	for i, w := range worlds {
		python := ""
		if bench && w.models == 1 && len(w.sizes) > 1 { // of several models, the peers would get the same means
			python = os.Getenv("NOEMA_TEST_PYTHON")
		}
		studies := w.studies(bench)
		f, p := w.verdicts(t, python, uint64(i), studies)
		row := f.verdictRow(w, studies, p)
		fmt.Fprintln(&b, row)
		t.Log(row)
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

// studies are how many are drawn of a world: those of many methods and tasks take longer.
func (w studyWorld) studies(bench bool) int {
	of := map[int]map[int]int{1: {2: 400, 4: 400, 8: 150}, 5: {2: 400, 4: 200, 8: 60}, 20: {2: 100, 4: 60, 8: 30}}
	if !bench {
		of = map[int]map[int]int{1: {2: 60, 4: 60}, 5: {2: 60, 4: 40}, 20: {2: 20, 4: 12}}
	}
	return of[len(w.sizes)][w.methods]
}

// verdictRow is a world as the table has it.
func (f studyFound) verdictRow(w studyWorld, studies int, p *peers) string {
	share := func(x float64, known bool) string {
		if !known || math.IsNaN(x) || x < 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f", 100*x)
	}
	apart, two := w.truth(Difference{A: "m0"}) != 0, w.methods == 2
	beyond := two && len(w.sizes) >= fewestTasks
	row := fmt.Sprintf("%-28s %7d  %6s %6s %6s %6s %6s %6s %6s", w.name, studies, share(f.winners, true), share(f.found, apart), share(f.holds, true),
		share(f.named, two && w.turn != 0), share(f.interactions, w.tested()), share(f.beyond, beyond), share(f.beyondFound, beyond && apart))
	if p == nil {
		return row
	}
	return row + fmt.Sprintf(" %6s %6s %6s %6s %6s %6s %6s", share(p.PooledFalse, true), share(p.PooledFound, apart),
		share(p.MixedFalse, true), share(p.MixedFound, apart), share(p.MixedFailed, true), share(p.RanksFalse, true), share(p.RanksFound, apart))
}
