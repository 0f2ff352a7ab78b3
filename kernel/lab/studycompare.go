package lab

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
)

// StudyNumbers is a study for scripts, as "noema compare --json" prints it.
type StudyNumbers struct {
	Run       string        `json:"run"`
	RootHash  string        `json:"root_hash"` // empty while the study is unfinished
	Status    record.Status `json:"status"`
	Cells     []CellRun     `json:"cells"`
	Simulated bool          `json:"simulated"` // of any of its models: the numbers say nothing about language models
	// Calls counts where answers came from, over all executions.
	Calls record.Calls `json:"calls"`
	*compare.Study
}

// CellRun is the run of one cell of a study.
type CellRun struct {
	Task     string `json:"task"`
	Model    string `json:"model"`
	Run      string `json:"run"`
	RootHash string `json:"root_hash"`
}

// Numbers compares the methods over all cells. All must have begun.
func (s *Study) Numbers(o Comparing) (*StudyNumbers, error) {
	if o.By != "" || o.Force {
		return nil, Misused(errors.New("compare study: --by and --force are for single runs: compare one of its cells"))
	}
	declared := s.Run.Config.Study
	out := &StudyNumbers{Run: s.Run.ID, RootHash: s.Run.Root, Status: s.Run.Status, Calls: s.Run.Calls}
	var cells []compare.CellData
	for i, r := range s.Cells {
		c := declared.Cells[i]
		if r == nil || len(r.Trials) == 0 {
			return nil, fmt.Errorf("compare study %s: %s has not begun: run its command again to go on", s.Run.ID, c)
		}
		m, err := compare.FromRuns([]*compare.Recorded{&r.Recorded}, false)
		if err == nil {
			err = headline(&m.Data, o.Metrics)
		}
		if err != nil {
			return nil, Misused(fmt.Errorf("%s: %w", c, err))
		}
		cells = append(cells, compare.CellData{Task: c.Task, Model: c.Model, Weight: c.Weight, Data: m.Data})
		out.Cells = append(out.Cells, CellRun{c.Task, c.Model, r.Run.ID, r.Run.Root})
		out.Simulated = out.Simulated || r.Run.Config.Model.Simulated
	}
	options, err := o.options()
	options.Declared = s.Run.Config.Baseline
	options.Baseline = cmp.Or(options.Baseline, options.Declared)
	if err == nil {
		out.Study, err = compare.CompareStudy(cells, options)
	}
	return out, Misused(err)
}

// headline keeps the one measure that a task is judged by: the first of the given ones that
// it has, or its own.
func headline(d *compare.Data, asked []string) error {
	if len(d.Metrics) == 0 {
		return nil // which the comparison tells
	}
	if len(asked) == 0 {
		d.Metrics = d.Metrics[:1]
		return nil
	}
	for _, name := range asked {
		if slices.Contains(d.Metrics, name) {
			d.Metrics = []string{name}
			return nil
		}
	}
	return fmt.Errorf("it has no measure %s: its measures are %s", strings.Join(asked, " or "), strings.Join(d.Metrics, ", "))
}

// Sheet is the study as tables with text around them.
func (s *Study) Sheet(o Comparing) (report.Sheet, error) {
	n, err := s.Numbers(o)
	if err != nil {
		return report.Sheet{}, err
	}
	return report.StudySheet(s.Run, n.Study, n.Simulated), nil
}

// Display implements [Displayer].
func (s *Study) Display() Bundle {
	n, err := s.Numbers(Comparing{})
	switch {
	case s.failure != nil:
		return display.Of(s.failure)
	case err != nil:
		return display.Of(err)
	}
	return pictured(report.StudySheet(s.Run, n.Study, n.Simulated), report.StudyNews(n.Study), n.Plots()...)
}

// Forest is the difference of each pair by task, with the whole as a diamond.
func (n *StudyNumbers) Forest() Displayer { return report.Forest(n.Study, n.Simulated) }

// Heat is the mean of each method on each task.
func (n *StudyNumbers) Heat() Displayer { return report.Heat(n.Study, n.Simulated, nil) }

// Plots are both, and the curves over budgets, if there are any.
func (n *StudyNumbers) Plots() []Displayer {
	return append([]Displayer{n.Heat(), n.Forest()}, report.CurvePlots(n.Whole, n.Simulated)...)
}

// Replay computes every cell again from the store alone and returns the root hash of the
// study that this gives, with the cells that gave another hash.
func (s *Study) Replay() (*StudyReplayed, error) {
	out := &StudyReplayed{Recorded: s.Run.Root}
	if s.Run.Status != record.Finished {
		return nil, fmt.Errorf("replay study %q: it is not finished: run its command again to finish it", s.Run.ID)
	}
	var roots []string
	for i, r := range s.Cells {
		replayed, err := s.lab.Replay(r.Run, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Run.Config.Study.Cells[i], err)
		}
		roots = append(roots, replayed.Now)
		out.Cells = append(out.Cells, replayed)
	}
	out.Now = record.Root(s.Run.Digest, roots)
	return out, nil
}

// StudyReplayed is what the replay of a study found.
type StudyReplayed struct {
	Recorded, Now string
	Cells         []*Replayed
}

// Same reports whether the replay proved the study.
func (r *StudyReplayed) Same() bool { return r.Recorded == r.Now }
