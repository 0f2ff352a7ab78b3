package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/methods"
)

// scored is a cell whose methods have these values on each sample.
func scored(task, model string, values ...[]float64) CellData {
	d := drawn(len(values), "x")
	for i := range values[0] {
		s := Sample{ID: fmt.Sprint("s", i)}
		for _, v := range values {
			s.Cells = append(s.Cells, []Cell{{Values: map[string]float64{"x": v[i]}, Outcome: methods.Answered, Usage: methods.Usage{Calls: 1, InputTokens: 10}}})
		}
		d.Samples = append(d.Samples, s)
	}
	return CellData{Task: task, Model: model, Weight: 1, Data: d}
}

// shaded are n values around a mean.
func shaded(r *rand.Rand, n int, mean float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = min(1, max(0, mean+0.2*(r.Float64()-0.5)))
	}
	return out
}

func studyOf(t *testing.T, cells []CellData, o Options) *Study {
	t.Helper()
	s, err := CompareStudy(cells, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStudyOfOneCell: the study of one task with one model is the comparison of its run.
func TestStudyOfOneCell(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	coins := func(p float64) []float64 {
		out := make([]float64, 60)
		for i := range out {
			out[i] = oneIf(r.Float64() < p)
		}
		return out
	}
	for _, one := range []CellData{
		scored("a", "m", coins(0.5), coins(0.8), coins(0.6)),
		scored("a", "m", shaded(r, 40, 0.5), shaded(r, 40, 0.6), shaded(r, 40, 0.55)),
	} {
		c, err := Compare(one.Data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := studyOf(t, []CellData{one}, Options{})
		for i, p := range c.Pairs {
			want, got := p.Metrics["x"], s.Whole.Pairs[i].Metrics["x"]
			if x, y := methods.Must(json.Marshal(want)), methods.Must(json.Marshal(got)); string(x) != string(y) {
				t.Errorf("pair %s − %s:\n%s\n%s", p.A, p.B, x, y)
			}
		}
		if s.Verdict != c.Verdict || len(s.Slices) != 0 || len(s.Interactions) != 0 {
			t.Errorf("verdict %q, want %q; %d slices", s.Verdict, c.Verdict, len(s.Slices))
		}
	}
}

// unequal are three tasks of different sizes with two models.
func unequal(seed uint64) (cells []CellData) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i, n := range []int{20, 50, 200} {
		for _, model := range []string{"x", "y"} {
			cells = append(cells, scored(fmt.Sprint("t", i), model, shaded(r, n, 0.5), shaded(r, n, 0.55-0.05*float64(i)), shaded(r, n, 0.7)))
		}
	}
	return cells
}

// TestStudyMirrorsAndHasNoOrder: exchanging the methods mirrors every number, and neither
// the order of cells nor of samples changes one.
func TestStudyMirrorsAndHasNoOrder(t *testing.T) {
	cells := unequal(2)
	s := studyOf(t, cells, Options{})
	turned := slices.Clone(cells)
	for i, c := range turned {
		turned[i].Data.Samples = slices.Clone(c.Data.Samples)
		slices.Reverse(turned[i].Data.Samples)
	}
	slices.Reverse(turned)
	again := studyOf(t, turned, Options{})
	for i, p := range s.Whole.Pairs {
		a, b := p.Metrics[s.Whole.Metric], again.Whole.Pairs[i].Metrics[s.Whole.Metric]
		if math.Abs(a.Difference.Low-b.Difference.Low) > 1e-12 || math.Abs(float64(a.P-b.P)) > 1e-9 || a.Winner != b.Winner {
			t.Errorf("in another order:\n%+v\n%+v", a, b)
		}
	}
	mirrored := slices.Clone(cells)
	for i, c := range mirrored {
		d := c.Data
		d.Samples = slices.Clone(d.Samples)
		for j, sample := range d.Samples {
			d.Samples[j].Cells = slices.Clone(sample.Cells)
			slices.Reverse(d.Samples[j].Cells)
		}
		mirrored[i].Data = d
	}
	m := studyOf(t, mirrored, Options{})
	first, last := s.Whole.Pairs[1].Metrics[s.Whole.Metric], m.Whole.Pairs[1].Metrics[s.Whole.Metric] // m0 − m2
	if math.Abs(first.Difference.Value+last.Difference.Value) > 1e-12 || math.Abs(first.Difference.Low+last.Difference.High) > 1e-12 || math.Abs(float64(first.P-last.P)) > 1e-12 {
		t.Errorf("mirrored:\n%+v\n%+v", first, last)
	}
}

// TestStudyWeighsTasks: the mean is that of the tasks by their weights, whatever their sizes.
func TestStudyWeighsTasks(t *testing.T) {
	flat := func(n int, x float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = x
		}
		return out
	}
	cells := []CellData{scored("small", "m", flat(20, 0.9), flat(20, 0.1)), scored("large", "m", flat(400, 0.2), flat(400, 0.4))}
	s := studyOf(t, cells, Options{})
	if d := s.Whole.Pairs[0].Metrics[s.Whole.Metric].Difference.Value; math.Abs(d-0.3) > 1e-12 {
		t.Errorf("equal weights: %v", d)
	}
	if p := float64(s.Pooled[1]); math.Abs(p-(20*0.1+400*0.4)/420) > 1e-12 {
		t.Errorf("pooled: %v", p)
	}
	cells[1].Weight = 3
	s = studyOf(t, cells, Options{})
	if d := s.Whole.Pairs[0].Metrics[s.Whole.Metric].Difference.Value; math.Abs(d-(0.8-3*0.2)/4) > 1e-12 {
		t.Errorf("weights 1 and 3: %v", d)
	}
	cells[1].Weight = -1
	if _, err := CompareStudy(cells, Options{}); err == nil || !strings.Contains(err.Error(), "its weight is -1") {
		t.Errorf("%v", err)
	}
}

// TestModelsOfASampleCountOnce: a second model that answers alike adds no sample and no
// certainty.
func TestModelsOfASampleCountOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	one := scored("a", "x", shaded(r, 30, 0.5), shaded(r, 30, 0.55))
	other := one
	other.Task = "b"
	single := studyOf(t, []CellData{one, other}, Options{})
	var cells []CellData
	for _, model := range []string{"x", "y", "z"} {
		a, b := one, other
		a.Model, b.Model = model, model
		cells = append(cells, a, b)
	}
	three := studyOf(t, cells, Options{})
	a, b := single.Whole.Pairs[0].Metrics[single.Whole.Metric], three.Whole.Pairs[0].Metrics[three.Whole.Metric]
	if a.Units != b.Units || math.Abs(a.Difference.Low-b.Difference.Low) > 1e-12 || math.Abs(float64(a.P-b.P)) > 1e-9 {
		t.Errorf("three models that answer alike:\n%+v\n%+v", a, b)
	}
	if n := len(three.Slices); n != 2+3+6 {
		t.Errorf("%d slices", n)
	}
}

// TestTaskThatTurns: a method that wins on average and loses on one task is told so.
func TestTaskThatTurns(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	var cells []CellData
	for i := range 6 {
		better := 0.75
		if i == 5 {
			better = 0.2
		}
		cells = append(cells, scored(fmt.Sprint("t", i), "m", shaded(r, 80, better), shaded(r, 80, 0.5)))
	}
	s := studyOf(t, cells, Options{})
	if s.Whole.Pairs[0].Winner != "m0" {
		t.Errorf("winner %q", s.Whole.Pairs[0].Winner)
	}
	i := s.Interactions[0]
	if !(i.Corrected < 0.001) || !i.Parts[5].Differs || i.Parts[5].Difference.High >= 0 {
		t.Errorf("interaction %+v", i)
	}
	if last := s.Slices[5].Pairs[0]; last.Winner != "m1" || last.Family != 6 {
		t.Errorf("the last task: %+v", last)
	}
	e := s.Elsewhere[0]
	if e.Mean.N != 6 || !(e.Next.Low < e.Mean.Low) || !(e.Mean.Low < e.Mean.Value && e.Mean.Value < e.Mean.High) {
		t.Errorf("on tasks like these: %+v", e)
	}
	if got := studyOf(t, cells[:4], Options{}).Elsewhere; got != nil {
		t.Errorf("four tasks speak of others: %+v", got)
	}
}

func TestRanks(t *testing.T) {
	got := ranks([]string{"a", "b", "c"}, []Difference{{A: "a", B: "b", Winner: "a"}, {A: "a", B: "c", Winner: "a"}, {A: "b", B: "c"}})
	want := []Rank{{"a", 1, 1}, {"b", 2, 3}, {"c", 2, 3}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestStudyWithFailures: what the infrastructure failed is left out, and nobody wins by it.
func TestStudyWithFailures(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	var cells []CellData
	for i := range 2 {
		c := scored(fmt.Sprint("t", i), "m", shaded(r, 40, 0.7), shaded(r, 40, 0.5))
		for j := range 25 {
			c.Data.Samples[j].Cells[0] = []Cell{{Infra: true, Values: map[string]float64{"x": 0}, Outcome: methods.Failed, Reason: "the provider is down"}}
		}
		cells = append(cells, c)
	}
	s := studyOf(t, cells, Options{})
	d := s.Whole.Pairs[0].Metrics[s.Whole.Metric]
	if d.FailedAsWrong == nil || d.Winner != "" || d.Difference.Low <= 0 {
		t.Errorf("%+v", d)
	}
	if !strings.Contains(strings.Join(s.Whole.Notes, "\n"), "50 of 80 trials failed") {
		t.Errorf("notes %q", s.Whole.Notes)
	}
}

// TestStudyBetweenModels: a difference that is there with one model alone is told.
func TestStudyBetweenModels(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	var cells []CellData
	for i := range 3 {
		task := fmt.Sprint("t", i)
		cells = append(cells, scored(task, "x", shaded(r, 60, 0.8), shaded(r, 60, 0.4)), scored(task, "y", shaded(r, 60, 0.5), shaded(r, 60, 0.5)))
	}
	s := studyOf(t, cells, Options{})
	i := s.Interactions[len(s.Interactions)-1]
	if i.Of != "models" || len(i.Parts) != 1 || !i.Parts[0].Differs || math.Abs(i.Parts[0].Difference.Value-0.4) > 0.05 {
		t.Errorf("%+v", i)
	}
}

func TestStudyRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	one := scored("a", "m", shaded(r, 10, 0.5), shaded(r, 10, 0.5))
	other := scored("b", "m", shaded(r, 10, 0.5))
	corpus := scored("b", "m", shaded(r, 10, 0.5), shaded(r, 10, 0.5))
	corpus.Data.Metrics = []string{score.MacroF1}
	for want, c := range map[string]struct {
		cells []CellData
		o     Options
	}{
		"without a cell":                  {nil, Options{}},
		"its methods are":                 {[]CellData{one, other}, Options{}},
		"measure of all samples together": {[]CellData{one, corpus}, Options{}},
		`baseline "x" is not among`:       {[]CellData{one}, Options{Baseline: "x"}},
	} {
		if _, err := CompareStudy(c.cells, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// TestWhatFewSamplesCannotShow: a change that cannot be found has no size, and no interval
// reaches beyond what a change can be.
func TestWhatFewSamplesCannotShow(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	found, blind := 0, 0
	for k := range 40 {
		n := []int{2, 3, 8, 30, 60}[k%5]
		var cells []CellData
		for _, model := range []string{"x", "y"} {
			for i := range 2 + k%2 {
				cells = append(cells, scored(fmt.Sprint("t", i), model, shaded(r, n, 0.5), shaded(r, n, r.Float64())))
			}
		}
		for _, i := range studyOf(t, cells, Options{}).Interactions {
			for _, d := range i.Parts {
				switch {
				case d.Detectable.Defined():
					found++
				case !d.Differs:
					blind++
				}
				if d.Detectable.Defined() && (d.Differs || d.Detectable <= 0 || d.Detectable > 2) || d.Difference.Low < -2 || d.Difference.High > 2 {
					t.Errorf("%d samples: %+v", n, d)
				}
			}
		}
	}
	if found == 0 || blind == 0 {
		t.Errorf("%d changes could be found, and %d could not: both are to be looked at", found, blind)
	}
}
