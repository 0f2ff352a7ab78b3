package record

import (
	"fmt"
	"strings"
)

// StudyRule is the present version of the rule by which a study is judged: the mean of the
// tasks by their weights, each task a stratum, with models averaged within a sample first.
const StudyRule = 1

// Study declares an experiment over several tasks or models, before its first trial. Its
// cells are runs of their own; its root hash is over its configuration and theirs.
type Study struct {
	Rule  int    `json:"rule"`
	Cells []Cell `json:"cells"`
}

// Cell is one task with one model.
type Cell struct {
	Task   string  `json:"task"`   // what the task is called in the study
	Model  string  `json:"model"`  // what the model is called in the study
	Weight float64 `json:"weight"` // of the task in the mean; only the ratios of weights count
	Digest string  `json:"config_digest"`
}

// String names the cell.
func (c Cell) String() string { return c.Task + " · " + c.Model }

// Tasks lists the tasks in the order of the cells.
func (s *Study) Tasks() []string { return s.names(func(c Cell) string { return c.Task }) }

// Models lists the models in the order of the cells.
func (s *Study) Models() []string { return s.names(func(c Cell) string { return c.Model }) }

func (s *Study) names(of func(Cell) string) (names []string) {
	seen := map[string]bool{}
	for _, c := range s.Cells {
		if name := of(c); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// StudyError says what to name in the place of a study where one run is needed; nil for a run.
func (r *Run) StudyError() error {
	if r.Config.Study == nil {
		return nil
	}
	var cells []string
	for i, c := range r.Config.Study.Cells {
		if r.Cells[i] != "" {
			cells = append(cells, fmt.Sprintf("%s (%s)", r.Cells[i], c))
		}
	}
	return fmt.Errorf("%s is a study of %d runs: name one of them: %s", r.ID, len(r.Config.Study.Cells), strings.Join(cells, ", "))
}
