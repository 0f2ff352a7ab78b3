package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
)

// CellData is one task with one model of a study.
type CellData struct {
	Task, Model string
	Weight      float64 // of the task; only the ratios of weights count
	Data        Data
}

// Study is several methods compared over tasks and models. The verdict is on the mean of the
// tasks by their weights: each task is a stratum, and the models of a sample are averaged
// first. It is on these tasks, and not on others; see METHOD.md.
type Study struct {
	Verdict string      `json:"verdict"`
	Level   float64     `json:"level"`
	Rule    int         `json:"rule"`
	Tasks   []StudyTask `json:"tasks"`
	Models  []string    `json:"models"`
	// Whole compares the methods on the mean of the tasks.
	Whole *Comparison `json:"whole"`
	// Slices are the methods on parts of the study: each task, each model, each task with one
	// model, where there are several. The pairs of one kind of slice are one family.
	Slices       []Slice       `json:"slices,omitempty"`
	Interactions []Interaction `json:"interactions,omitempty"` // whether a pair's difference is the same everywhere
	Ranks        []Rank        `json:"ranks,omitempty"`        // along the methods; nil with a baseline
	Elsewhere    []Elsewhere   `json:"elsewhere,omitempty"`    // on tasks like these; nil under five tasks
	// Pooled is the mean over all samples of all tasks, along the methods. Large tasks decide
	// it, so that nothing is concluded from it.
	Pooled []Number `json:"pooled"`
}

// StudyTask is one task of a study.
type StudyTask struct {
	Task    string  `json:"task"`
	Metric  string  `json:"metric"`
	Weight  float64 `json:"weight"` // share of the mean
	Samples int     `json:"samples"`
}

// Slice is the methods on a part of a study.
type Slice struct {
	Task    string         `json:"task,omitempty"`  // empty for the mean of all
	Model   string         `json:"model,omitempty"` // empty for the mean of all
	Metric  string         `json:"metric"`
	Samples int            `json:"samples"`
	Methods []score.Metric `json:"methods"` // along the methods of the study
	Pairs   []Difference   `json:"pairs"`   // along the pairs of the study
}

// stratum is a task with the data of one or more models.
type stratum struct {
	StudyTask
	data []Data // of models
}

// study is a study under the options while its numbers are computed.
type study struct {
	plan
	cells    []CellData
	methods  []string
	models   []string
	strata   []stratum // of all models
	pairs    []Pair
	envelope []limit
}

// CompareStudy compares the methods of a study. Without an error every cell has the same
// methods and every task a measure of single samples.
func CompareStudy(cells []CellData, o Options) (*Study, error) {
	s, err := newStudy(cells, o)
	if err != nil {
		return nil, err
	}
	out := &Study{Level: s.Level, Rule: record.StudyRule, Models: s.models}
	for _, t := range s.strata {
		out.Tasks = append(out.Tasks, t.StudyTask)
	}
	whole := s.verdict()
	out.Whole = s.whole(whole)
	out.Verdict = out.Whole.Verdict
	if o.Curve != "" {
		if out.Whole.Curve, err = s.curve(o.Curve); err != nil {
			return nil, err
		}
	}
	out.Slices = s.slices()
	out.Verdict = s.reversals(out.Slices, whole.Pairs) + out.Verdict
	out.Whole.Verdict = out.Verdict
	out.Interactions = s.interactions()
	if s.Baseline == "" {
		out.Ranks = ranks(s.methods, whole.Pairs)
	}
	out.Elsewhere = s.elsewhere()
	for m := range s.methods {
		out.Pooled = append(out.Pooled, s.pooled(m))
	}
	return out, nil
}

// verdict compares the methods on the mean of all tasks, with the winners.
func (s *study) verdict() Slice {
	whole := s.slice(s.strata, s.family, "", "")
	decide(whole.Pairs, s.plan)
	return whole
}

func newStudy(cells []CellData, o Options) (*study, error) {
	if len(cells) == 0 {
		return nil, errors.New("compare: a study without a cell")
	}
	s := &study{methods: cells[0].Data.Methods, cells: slices.Clone(cells), envelope: envelopeOf(o.Budget)}
	if o.Baseline != "" && !slices.Contains(s.methods, o.Baseline) {
		return nil, fmt.Errorf("compare: baseline %q is not among the methods %q", o.Baseline, s.methods)
	}
	for i, c := range cells {
		if err := c.check(s.methods); err != nil {
			return nil, fmt.Errorf("compare: %s · %s: %s", c.Task, c.Model, strings.TrimPrefix(err.Error(), "compare: "))
		}
		s.cells[i].Data, s.plan = c.Data.plan(o)
	}
	s.pairs = slices.DeleteFunc(s.cells[0].Data.every(s.plan), func(p Pair) bool { return !o.chooses(p) })
	for _, c := range s.cells {
		if !slices.Contains(s.models, c.Model) {
			s.models = append(s.models, c.Model)
		}
	}
	s.strata = s.of("")
	return s, nil
}

// check refuses a cell that cannot be part of a study.
func (c CellData) check(methods []string) error {
	if err := c.Data.check(); err != nil {
		return err
	}
	switch {
	case len(c.Data.Metrics) == 0:
		return c.Data.noScore()
	case isCorpus(c.Data.Metrics[0]):
		return fmt.Errorf("%s is a measure of all samples together, which has no mean over tasks: name another by --metric", c.Data.Metrics[0])
	case !slices.Equal(c.Data.Methods, methods):
		return fmt.Errorf("its methods are %q, and those of the first cell %q", c.Data.Methods, methods)
	case !(c.Weight > 0):
		return fmt.Errorf("its weight is %v: use a number above 0", c.Weight)
	}
	return nil
}

// of are the tasks with a model; an empty one for all. Weights are shares.
func (s *study) of(model string) (strata []stratum) {
	total := 0.0
	for _, c := range s.cells {
		if model != "" && c.Model != model {
			continue
		}
		i := slices.IndexFunc(strata, func(t stratum) bool { return t.Task == c.Task })
		if i < 0 {
			i, total = len(strata), total+c.Weight
			scored := c.Data.scored()
			strata = append(strata, stratum{StudyTask: StudyTask{Task: c.Task, Metric: c.Data.Metrics[0], Weight: c.Weight, Samples: len(scored.Samples)}})
		}
		strata[i].data = append(strata[i].data, c.Data.scored())
	}
	for i := range strata {
		strata[i].Weight /= total
	}
	return strata
}

// slices are the parts of the study, each kind a family.
func (s *study) slices() (all []Slice) {
	kind := func(parts [][]stratum, task, model func(i int) string) {
		var kind []Slice
		for i, part := range parts {
			kind = append(kind, s.slice(part, len(parts)*s.family, task(i), model(i)))
		}
		var family []Difference
		for _, one := range kind {
			family = append(family, one.Pairs...)
		}
		decide(family, s.over(len(parts)*s.family))
		for i := range kind {
			kind[i].Pairs, family = family[:len(s.pairs)], family[len(s.pairs):]
		}
		all = append(all, kind...)
	}
	every := func(int) string { return "" }
	var tasks, models, cells [][]stratum
	for _, t := range s.strata {
		tasks = append(tasks, []stratum{t})
	}
	for _, m := range s.models {
		models = append(models, s.of(m))
	}
	for _, c := range s.cells {
		cells = append(cells, []stratum{{StudyTask: StudyTask{Task: c.Task, Metric: c.Data.Metrics[0], Weight: 1}, data: []Data{c.Data.scored()}}})
	}
	if len(tasks) > 1 {
		kind(tasks, func(i int) string { return s.strata[i].Task }, every)
	}
	if len(models) > 1 {
		kind(models, every, func(i int) string { return s.models[i] })
	}
	if len(tasks) > 1 && len(models) > 1 {
		kind(cells, func(i int) string { return s.cells[i].Task }, func(i int) string { return s.cells[i].Model })
	}
	return all
}

// slice compares the methods on some tasks; its pairs are not decided yet.
func (s *study) slice(strata []stratum, family int, task, model string) Slice {
	out := Slice{Task: task, Model: model, Metric: metricName(strata), Methods: make([]score.Metric, len(s.methods)), Pairs: make([]Difference, len(s.pairs))}
	for _, t := range strata {
		out.Samples += len(t.data[0].Samples)
	}
	for m := range s.methods {
		out.Methods[m] = s.mean(strata, m)
	}
	o := s.over(family)
	atOnce(len(s.pairs), func(i int) { out.Pairs[i] = s.difference(strata, s.pairs[i], o) })
	return out
}

// metricName is what the mean over tasks is called.
func metricName(strata []stratum) string {
	if len(strata) == 1 {
		return strata[0].Metric
	}
	for _, t := range strata {
		if t.Metric != strata[0].Metric {
			return fmt.Sprintf("mean of %d tasks", len(strata))
		}
	}
	return fmt.Sprintf("%s, mean of %d tasks", strata[0].Metric, len(strata))
}
