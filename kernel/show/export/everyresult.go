package export

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
)

// model says what is known of the model: not who holds its weights.
func (e everyEval) model() object {
	id := e.Run.Config.Model.ID
	details := object{"deployment_type": "unknown", "model_availability": "unknown"}
	put(details, "endpoint", id.Endpoint)
	put(details, "weights_digest", id.Weights)
	put(details, "config", id.Config)
	if e.Run.Config.Model.Simulated {
		details["simulated"] = "true"
	}
	o := object{"name": cmp.Or(id.Model, id.Provider), "id": e.modelID(), "additional_details": details}
	put(o, "developer", e.developer())
	return o
}

// developer is who made the model, empty if that is not known.
func (e everyEval) developer() string {
	if e.Run.Config.Model.Simulated {
		return "noema"
	}
	return ""
}

// put adds a value that is known.
func put(o object, key, value string) {
	if value != "" {
		o[key] = value
	}
}

// details identify the run.
func (e everyEval) details() object {
	o := object{"run": e.Run.ID, "config_digest": e.Run.Digest, "task_digest": e.Run.Config.Task.Digest}
	put(o, "root_hash", e.Run.Root)
	put(o, "stopped_by", e.Run.Stopped)
	if i := e.Run.Imported; i != nil {
		o["imported_from"], o["imported_digest"] = i.Harness, i.Digest
	}
	if n := e.summary.Failed; n > 0 {
		o["trials_failed_by_infrastructure"] = strconv.Itoa(n)
	}
	return o
}

func (e everyEval) result(name string) object {
	m := e.summary.Metrics[name]
	uncertainty := object{"num_samples": m.N}
	if m.HasInterval() {
		uncertainty["confidence_interval"] = object{"lower": m.Low, "upper": m.High, "confidence_level": e.level}
	}
	return object{
		"evaluation_result_id": name, "evaluation_name": e.Run.Config.Task.Name, "evaluation_timestamp": unix(e.Run.Created),
		"source_data":       e.data(),
		"metric_config":     e.metric(name),
		"score_details":     object{"score": m.Value, "uncertainty": uncertainty},
		"generation_config": e.generation(),
	}
}

// metric describes a measure. Of all of package score more is better and 1 is right.
func (e everyEval) metric(name string) object {
	o := object{"metric_id": name, "metric_name": name, "lower_is_better": false}
	if e.within(name) {
		o["score_type"], o["min_score"], o["max_score"], o["metric_unit"] = "continuous", 0, 1, "proportion"
	}
	if name == score.Graded {
		var graders []string
		for _, g := range e.Run.Config.Graders {
			graders = append(graders, g.ID.String())
		}
		o["additional_details"] = object{"graders": strings.Join(graders, ", ")}
	}
	return o
}

// within reports whether a measure and its values are within 0 and 1.
func (e everyEval) within(name string) bool {
	beyond := func(v float64) bool { return v < 0 || v > 1 }
	return !beyond(e.summary.Metrics[name].Value) && !slices.ContainsFunc(e.Result.Trials, func(t *record.Trial) bool {
		return t.ID.Method == e.method.Label && beyond(scoresOf(t)[name])
	})
}

// ofHub is the reference of a data set of the Hugging Face hub in a task's source.
var ofHub = regexp.MustCompile(`^hf/([^@? ]+)@([0-9a-f]+)\?config=([^&, ]*)&split=([^&, ]*)`)

// data says what was asked.
func (e everyEval) data() object {
	t := e.Run.Config.Task
	details := object{"task_version": t.Version}
	put(details, "task_config", t.Config)
	put(details, "source", e.Run.Source)
	o := object{"dataset_name": t.Name, "source_type": "other", "additional_details": details}
	if m := ofHub.FindStringSubmatch(e.Run.Source); m != nil {
		o["source_type"], o["hf_repo"], o["hf_split"] = "hf_dataset", m[1], m[4]
		o["samples_number"], o["sample_ids"] = len(t.Samples), t.Samples
		put(details, "hf_commit", m[2])
		put(details, "hf_config", m[3])
	} else {
		details["samples_number"] = strconv.Itoa(len(t.Samples))
	}
	return o
}

// generation is how answers were made: the method, and what the run set for all calls.
// What a method sets by itself is with each call, and not here.
func (e everyEval) generation() object {
	c := e.Run.Config
	args := object{}
	if raw, err := json.Marshal(c.Sampling); err == nil { // a struct of numbers
		_ = json.Unmarshal(raw, &args)
		delete(args, "logprobs")
	}
	step := object{"method": e.method.Name, "version": e.method.Version, "prompt_version": e.method.PromptVersion}
	if len(e.method.Options) > 0 {
		step["options"] = e.method.Options
	}
	plan := object{"name": e.method.Label}
	if raw, err := record.Marshal(step); err == nil { // options are valid JSON, or the run would not be
		plan["steps"] = []string{string(raw)}
	}
	args["eval_plan"] = plan
	if c.Limits.Tokens > 0 {
		args["eval_limits"] = object{"token_limit": c.Limits.Tokens}
	}
	return object{"generation_args": args, "additional_details": object{
		"epochs": strconv.Itoa(c.Epochs), "seed": formatSeed(c.Seed), "items_shuffled": strconv.FormatBool(e.method.Shuffle),
	}}
}
