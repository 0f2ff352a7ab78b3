package predictions

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task/table"
)

// layout says where a harness has what: columns or paths, of which the first that a row has
// counts. Epochs count from 1.
type layout struct {
	harness                                       string
	id, trial, epoch, method, model, task, failed []string
	asked, score                                  []string // all that a row has
	cluster, group                                []string
	name                                          string // of the measure; empty for the column's
	tokens                                        string // path to those of tokens
}

// layoutOf is the layout of rows that begin with first; false if they have no scores.
func layoutOf(first table.Row, metrics []string) (layout, bool) {
	scores := slices.Clone(metrics)
	for _, c := range first.Columns() { // those of an export of ours
		if name, ours := strings.CutPrefix(c, "score."); ours && (metrics == nil || slices.Contains(metrics, name)) {
			scores = append(scores, c)
		}
	}
	if scores == nil {
		scores = []string{"score", "is_correct", "correct", "resolved", "passed", "success", "reward", "accuracy", "acc", "exact_match"}
	}
	all := []layout{
		{
			harness: "Every Eval Ever", id: []string{"sample_id"}, epoch: []string{"metadata.epoch"}, model: []string{"model_id"}, task: []string{"evaluation_name"},
			asked: []string{"input.raw"}, failed: []string{"error"}, score: []string{"evaluation.score"}, name: "evaluation_result_id", tokens: "token_usage.",
		},
		{harness: "Terminal-Bench", id: []string{"task_id"}, trial: []string{"id", "uuid"}, asked: []string{"instruction"}, score: []string{"is_resolved"}},
		{
			harness: "Harbor", id: []string{"task_name"}, trial: []string{"id"}, method: []string{"agent_info.name"}, model: []string{"agent_info.model_info.name"},
			failed: []string{"exception_info.exception_type"}, score: []string{"verifier_result.rewards.reward"},
		},
		{
			harness: "rows of scores", id: append(slices.Clone(idColumns), "sample", "instance_id"), epoch: []string{"epoch", "run", "attempt"},
			method: []string{"method", "agent", "system"}, model: []string{"model"}, task: []string{"task", "dataset", "benchmark"},
			asked: askedColumns, failed: []string{"error", "failure"}, score: scores, cluster: []string{"cluster"}, group: []string{"group"},
		},
	}
	has := func(path string) bool {
		column, _, _ := strings.Cut(path, ".")
		return first.Has(path) || first.Has(column)
	}
	i := slices.IndexFunc(all, func(l layout) bool { return slices.ContainsFunc(l.id, has) && slices.ContainsFunc(l.score, has) })
	if i < 0 {
		return layout{}, false
	}
	return all[i], true
}

// row reads the result of one sample. A trial of Terminal-Bench without a verdict is not
// resolved, as on its leaderboard; any other without a score has none.
func (r *results) row(row table.Row, l layout) (err error) {
	text := func(paths []string) (found string) {
		for _, path := range paths {
			if err == nil && found == "" {
				found, err = textCell(row, path)
			}
		}
		return found
	}
	p := Prediction{Place: fmt.Sprintf("%s:%d", row.File, row.Number), ID: text(l.id), Trial: text(l.trial), Failure: text(l.failed), Scores: map[string]float64{}, Cluster: text(l.cluster), Group: text(l.group)}
	o := origin{l.harness, text(l.method), text(l.model), text(l.task)}
	epoch, name := text(l.epoch), text([]string{l.name})
	if err != nil {
		return err
	}
	for _, path := range l.asked {
		if asked, err := textCell(row, path); err == nil {
			p.Questions = append(p.Questions, asked)
		}
	}
	if epoch != "" {
		if p.Epoch, err = strconv.Atoi(epoch); err != nil {
			return row.Fault(l.epoch[0], fmt.Errorf("%.40q is not the number of an epoch", epoch))
		}
		p.Epoch--
	}
	for _, path := range l.score {
		raw, err := row.Cell(path)
		x, ok := scoreOf(raw)
		switch {
		case err != nil:
			return err
		case raw != nil && !ok:
			return row.Fault(path, fmt.Errorf("%.60s is not a score: use a number, true or false", raw))
		case ok || l.harness == "Terminal-Bench":
			measure := path[strings.LastIndex(path, ".")+1:]
			if name != "" {
				measure = name
			}
			p.Scores[measure] = x
		}
	}
	if p.Usage, err = rowUsage(row, l.tokens); err != nil {
		return err
	}
	return r.add(o, p, epoch != "")
}

// scoreOf is a number, a truth value, or a grade of Inspect: C, I, P or N.
func scoreOf(raw json.RawMessage) (float64, bool) {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return 0, false
	}
	text := strings.ToLower(fmt.Sprint(v))
	if x, ok := map[string]float64{"c": 1, "i": 0, "p": 0.5, "n": 0, "true": 1, "false": 0, "yes": 1, "no": 0}[text]; ok {
		return x, true
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// lmEvalRun is what lm-eval says of a run, in results_DATE.json beside samples_TASK_DATE.jsonl.
type lmEvalRun struct {
	task   string
	Model  string                     `json:"model_name"`
	Better map[string]map[string]bool `json:"higher_is_better"` // by task and measure
}

// lmEvalRunOf is the run of a sample log; nothing but the task is known of one without results.
func lmEvalRunOf(name string) (run lmEvalRun) {
	base := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "samples_"), ".jsonl")
	if at := strings.LastIndex(base, "_20"); at >= 0 {
		raw, err := files.Read(filepath.Join(filepath.Dir(name), "results"+base[at:]+".json"), files.MaxJSON)
		if err != nil || json.Unmarshal(raw, &run) != nil {
			run = lmEvalRun{}
		}
		base = base[:at]
	}
	run.task = base
	return run
}

// lmEval reads a line of a sample log: one filter of one document, with measures of its own.
// Those of which less is better, and those of all documents together, are left out.
func (r *results) lmEval(row table.Row, run lmEvalRun) error {
	var line lmEvalLine
	if err := row.Decode(&line); err != nil {
		return err
	}
	p, err := document(row, line)
	if err != nil {
		return err
	}
	p.Scores = map[string]float64{}
	if line.Metrics == nil { // of an older version
		line.Metrics = slices.DeleteFunc(row.Columns(), func(c string) bool {
			return slices.Contains([]string{"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"}, c)
		})
	}
	for _, name := range line.Metrics {
		raw, err := row.Cell(name)
		if err != nil {
			return err
		}
		more, told := run.Better[run.task][name]
		if line.Filter != "" && line.Filter != "none" {
			name += "," + line.Filter
		}
		if x, ok := scoreOf(raw); ok && raw[0] != '"' && (more || !told) {
			p.Scores[name] = x
		}
	}
	return r.add(origin{LMEval, "", run.Model, run.task}, p, true)
}
