package predictions

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
)

// HELM has a folder for each run: scenario_state.json has its requests and replies,
// per_instance_stats.json their scores, and run_spec.json says what was run.

// helmState is what is read of a request of scenario_state.json.
type helmState struct {
	Instance struct {
		ID           string                 `json:"id"`
		Input        struct{ Text string }  `json:"input"`
		Perturbation *struct{ Name string } `json:"perturbation"`
	} `json:"instance"`
	Trial     int               `json:"train_trial_index"`
	Reference *int              `json:"reference_index"`
	Options   map[string]string `json:"output_mapping"` // by their letters
	Request   struct{ Model string }
	Result    *struct {
		Success     bool
		Error       string
		Completions []struct{ Text string }
	}
}

// readHELM reads the replies of a scenario_state.json. Requests on inputs that HELM changed to
// test robustness are left out.
func (f *File) readHELM(ctx context.Context, t *table.Table) error {
	f.Harness = HELM
	perturbed := 0
	err := t.Each(func(row table.Row) error {
		var s helmState
		if err := row.Decode(&s); err != nil {
			return err
		}
		switch {
		case s.Instance.Perturbation != nil:
			perturbed++
			return nil
		case s.Reference != nil:
			return row.Errorf("each option has a request of its own (multiple_choice_separate), so that no reply is an answer: compare per_instance_stats.json instead")
		case s.Result == nil:
			return row.Errorf("the request has no result")
		}
		f.Model = s.Request.Model
		p := Prediction{Place: fmt.Sprintf("%s:%d", row.File, row.Number), ID: s.Instance.ID, Epoch: s.Trial, Questions: []string{s.Instance.Input.Text}, Usage: unknown}
		if s.Result.Success && len(s.Result.Completions) > 0 {
			p.Text = s.Result.Completions[0].Text
			p.Option = 1 + slices.Index(slices.Sorted(maps.Keys(s.Options)), strings.TrimSpace(p.Text))
		} else if p.Failure = s.Result.Error; p.Failure == "" {
			p.Failure = "no completion"
		}
		return f.add(ctx, p)
	})
	if perturbed > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d requests on perturbed inputs are left out", perturbed))
	}
	return err
}

// helmMeasures are those of HELM's that say how good a reply is, from 0 to 1.
var helmMeasures = []string{
	"exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match", "f1_score", "rouge_l", "math_equiv", "math_equiv_chain_of_thought",
	"chain_of_thought_correctness", "ifeval_strict_accuracy", "omni_math_accuracy", "safety_score", "test_avg", "strict_acc",
}

// helmRun is what run_spec.json says.
type helmRun struct {
	Name    string
	Adapter struct{ Model string } `json:"adapter_spec"`
}

// helmRunOf is the run that a file of scores is of; nothing is known without run_spec.json.
func helmRunOf(name string) (run helmRun) {
	raw, err := files.Read(filepath.Join(filepath.Dir(name), "run_spec.json"), files.MaxJSON)
	if err != nil || json.Unmarshal(raw, &run) != nil {
		run = helmRun{}
	}
	run.Name, _, _ = strings.Cut(run.Name, "model=")
	run.Name = strings.TrimRight(run.Name, ",:")
	return run
}

// helm reads the scores of one instance. Those of perturbed inputs are left out.
func (r *results) helm(row table.Row, run helmRun) error {
	var line struct {
		ID           string          `json:"instance_id"`
		Trial        int             `json:"train_trial_index"`
		Perturbation json.RawMessage `json:"perturbation"`
		Stats        []struct {
			Name  struct{ Name string }
			Count int
			Mean  float64
		}
	}
	if err := row.Decode(&line); err != nil || line.Perturbation != nil {
		return err
	}
	p := Prediction{Place: fmt.Sprintf("%s:%d", row.File, row.Number), ID: line.ID, Epoch: line.Trial, Scores: map[string]float64{}, Usage: unknown}
	for _, s := range line.Stats {
		if s.Count > 0 && (slices.Contains(helmMeasures, s.Name.Name) || slices.Contains(r.metrics, s.Name.Name)) {
			p.Scores[s.Name.Name] = s.Mean
		}
	}
	return r.add(origin{HELM, "", run.Adapter.Model, run.Name}, p, true)
}
