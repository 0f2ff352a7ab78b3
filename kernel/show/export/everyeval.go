package export

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// EveryEvalFormat is the name of the format of [Source.EveryEval].
const EveryEvalFormat = "every-eval-ever"

// everyEvalVersion is the version of the schema of Every Eval Ever that records follow.
const everyEvalVersion = "0.3.0"

// Relationships are those that an evaluator may have to the model's developer.
func Relationships() []string {
	return []string{"first_party", "third_party", "collaborative", "other"}
}

// Evaluator is who made a run. A record must say it, and a run does not know it.
type Evaluator struct {
	Organization string
	Relationship string // to the model's developer: one of [Relationships]
}

// Check refuses an evaluator that a record cannot name.
func (e Evaluator) Check() error {
	if strings.TrimSpace(e.Organization) == "" || !slices.Contains(Relationships(), e.Relationship) {
		return fmt.Errorf("a record of %s says who evaluated: add --organization NAME, and --relationship to the model's developer, one of %s", EveryEvalFormat, strings.Join(Relationships(), ", "))
	}
	return nil
}

// EveryEval gives the record of one method as Every Eval Ever has it: by path below a
// folder, data/TASK/DEVELOPER/MODEL/UUID.json and, if the contents of calls can be
// read, UUID_samples.jsonl beside it. A record knows one model and no method, so that
// the method stands in eval_plan and in the evaluation's id. What the schema asks for
// and a run does not tell is "unknown"; what it does not ask for is left out. A run
// that is not finished has no record.
//
// Source: eval.schema.json and instance_level_eval.schema.json of every-eval-ever 0.3.0.
// Differs: both timestamps are the run's own, so that two exports are the same.
func (s Source) EveryEval(method string, by Evaluator) (map[string][]byte, error) {
	fault := func(err error) (map[string][]byte, error) { return nil, fmt.Errorf("export every-eval-ever: %w", err) }
	at, summary, err := s.method(method)
	if err == nil && s.Run.Status != record.Finished {
		err = fmt.Errorf("run %s is %s, and a record cannot say so: repeat its command to finish it", s.Run.ID, s.Run.Status)
	}
	if err = cmp.Or(err, by.Check()); err != nil {
		return fault(err)
	}
	e := everyEval{Source: s, method: s.Run.Config.Methods[at], summary: summary.Methods[at], level: summary.Comparison.Level, by: by}
	for _, name := range metricOrder(e.summary, summary.Comparison.Metrics) {
		if !score.IsBias(name) { // neither more nor less of it is better, which a record must say
			e.metrics = append(e.metrics, name)
		}
	}
	if len(e.metrics) == 0 {
		return fault(fmt.Errorf("method %q of run %s has no score, and a record needs one", method, s.Run.ID))
	}
	return e.files()
}

// everyEval is a record in the making.
type everyEval struct {
	Source
	method  record.Method
	summary runner.MethodSummary
	metrics []string
	level   float64
	by      Evaluator
}

// files are the record and its samples by path.
func (e everyEval) files() (map[string][]byte, error) {
	base := e.path()
	out, o := map[string][]byte{}, e.record()
	samples, rows, err := e.samples()
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		sum := sha256.Sum256(samples)
		out[base+"_samples.jsonl"] = samples
		o["detailed_evaluation_results"] = object{
			"format": "jsonl", "file_path": base + "_samples.jsonl", "hash_algorithm": "sha256", "checksum": hex.EncodeToString(sum[:]), "total_rows": rows,
		}
	}
	e.redactAll(o)
	raw, err := record.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("export every-eval-ever: %w", err)
	}
	out[base+".json"] = append(raw, '\n')
	return out, nil
}

// unsafe is what the names of the data store's folders may not hold.
var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// path is where the data store has the record, without the suffix.
func (e everyEval) path() string {
	id := e.Run.Config.Model.ID
	folder := func(name string) string { return strings.TrimRight(unsafe.ReplaceAllString(name, "_"), ".") }
	developer, model := id.Provider, id.Model
	if model == "" {
		developer, model = cmp.Or(e.developer(), "unknown"), id.Provider
	}
	sum := sha256.Sum256([]byte(e.Run.ID + "\x00" + e.method.Label))
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // as a UUID of version 4 has them
	x := hex.EncodeToString(sum[:16])
	uuid := strings.Join([]string{x[:8], x[8:12], x[12:16], x[16:20], x[20:]}, "-")
	return path.Join("data", folder(e.Run.Config.Task.Name), folder(developer), folder(model), uuid)
}

// modelID is the model as developer/name.
func (e everyEval) modelID() string {
	id := e.Run.Config.Model.ID
	id.Config = ""
	return id.String()
}

func (e everyEval) id() string {
	return fmt.Sprintf("%s:%s/%s/%s", e.Run.Config.Task.Name, e.method.Label, e.modelID(), unix(e.Run.Ended))
}

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func (e everyEval) record() object {
	var results []object
	for _, name := range e.metrics {
		results = append(results, e.result(name))
	}
	return object{
		"schema_version": everyEvalVersion, "evaluation_id": e.id(), "evaluation_timestamp": unix(e.Run.Created), "retrieved_timestamp": unix(e.Run.Ended),
		"source_metadata": object{
			"source_name": "noema", "source_type": "evaluation_run", "source_organization_name": e.by.Organization, "evaluator_relationship": e.by.Relationship,
		},
		"model_info":         e.model(),
		"eval_library":       object{"name": "noema", "version": "unknown", "additional_details": e.details()},
		"evaluation_results": results,
	}
}
