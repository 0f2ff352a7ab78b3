package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

// EvalLog writes the trials of one method as the log file (version 2, JSON) of
// Inspect, so that its viewer and its analysis tools read them. A log knows one
// solver: a run gives one log for each method. What Inspect has no word for is
// in the metadata: the outcome, the random seed, the
// hashes. Scores are the run's own; Inspect is not asked to compute any.
func (s Source) EvalLog(w io.Writer, method string) error {
	at, summary, err := s.method(method)
	if err != nil {
		return fmt.Errorf("export EvalLog: %w", err)
	}
	log, err := s.evalLog(s.Run.Config.Methods[at], summary.Methods[at], summary.Comparison.Metrics)
	if err != nil {
		return err
	}
	raw, err := record.Marshal(log)
	if err != nil {
		return fmt.Errorf("export EvalLog: %w", err)
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// method is the place of a method in the run, and the run in numbers.
func (s Source) method(label string) (at int, summary *runner.Summary, err error) {
	if at = slices.Index(s.Run.Labels(), label); at < 0 {
		return at, nil, fmt.Errorf("run %s has no method %q", s.Run.ID, label)
	}
	summary, err = runner.Summarize(s.Result)
	return at, summary, err
}

// EvalLogName is the file name that Inspect gives a method's log,
// {created}_{task}_{id}.json. Its tools find logs in a folder by that form.
func (s Source) EvalLogName(method string) string {
	part := func(text string) string {
		return strings.Map(func(r rune) rune {
			if r < ' ' || strings.ContainsRune(`_/:+\?*"<>|.`, r) {
				return '-'
			}
			return r
		}, text)
	}
	return part(stamp(s.Run.Created)) + "_" + part(s.Run.Config.Task.Name) + "_" + s.evalID(method) + ".json"
}

// evalID identifies a method's log, or a trial. Inspect takes logs of one task id
// for attempts at one evaluation, so each method has its own.
func (s Source) evalID(name string) string {
	sum := sha256.Sum256([]byte(s.Run.ID + "\x00" + name))
	return hex.EncodeToString(sum[:11])
}

// object is a JSON object; encoding sorts its keys.
type object = map[string]any

// evalLogFile has its keys in the order of Inspect's own files: what reads only
// the header stops at samples.
type evalLogFile struct {
	Version int      `json:"version"`
	Status  string   `json:"status"`
	Eval    object   `json:"eval"`
	Plan    object   `json:"plan"`
	Results object   `json:"results"`
	Stats   object   `json:"stats"`
	Samples []object `json:"samples"`
}

func (s Source) evalLog(m record.Method, summary runner.MethodSummary, order []string) (evalLogFile, error) {
	c := s.Run.Config
	samples, err := s.evalSamples(m.Label)
	if err != nil {
		return evalLogFile{}, err
	}
	status := "success"
	if s.Run.Status != record.Finished {
		status = "cancelled"
	}
	var options any = object{}
	if len(m.Options) > 0 {
		options = json.RawMessage(m.Options)
	}
	log := evalLogFile{
		Version: 2, Status: status,
		Eval: object{
			"eval_id": s.evalID(m.Label), "run_id": s.Run.ID, "created": stamp(s.Run.Created),
			"task": c.Task.Name, "task_id": s.evalID(m.Label), "task_version": c.Task.Version, "task_args": object{"config": c.Task.Config},
			"solver": m.Label, "solver_args": options,
			"dataset": object{"name": c.Task.Name, "samples": len(c.Task.Samples), "sample_ids": c.Task.Samples, "shuffled": false},
			"model":   c.Model.ID.String(), "model_args": object{},
			"config": object{"epochs": c.Epochs, "epochs_reducer": []string{"mean"}},
			"metadata": object{
				"noema_root_hash": s.Run.Root, "noema_config_digest": s.Run.Digest, "noema_task_digest": c.Task.Digest,
				"noema_method_version": m.Version, "noema_prompt_version": m.PromptVersion, "noema_seed": formatSeed(c.Seed),
				"simulated_model": c.Model.Simulated,
			},
		},
		Plan:    object{"name": "plan", "steps": []object{{"solver": m.Label, "params": options}}, "config": object{}},
		Results: evalResults(summary, order),
		Stats:   object{"started_at": stamp(s.Run.Created), "completed_at": stamp(s.Run.Ended), "model_usage": modelUsage(c, summary.Usage)},
		Samples: samples,
	}
	s.redactAll([]object{log.Eval, log.Plan, log.Results, log.Stats})
	s.redactAll(log.Samples)
	return log, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05+00:00") }

// evalMetrics are the mean and its interval, the mean first: the first metric of
// the first score is what Inspect shows as the result.
type evalMetrics struct {
	Mean   object `json:"mean"`
	CILow  object `json:"ci_low,omitempty"`
	CIHigh object `json:"ci_high,omitempty"`
}

// evalResults gives each measure as a score of its own, in the given order; what
// else was measured follows.
func evalResults(m runner.MethodSummary, order []string) object {
	var scores []object
	for _, name := range metricOrder(m, order) {
		metric := m.Metrics[name]
		values := evalMetrics{Mean: object{"name": "mean", "value": metric.Value}}
		if metric.HasInterval() {
			values.CILow = object{"name": "ci_low", "value": metric.Low}
			values.CIHigh = object{"name": "ci_high", "value": metric.High}
		}
		scores = append(scores, object{
			"name": name, "scorer": name, "reducer": "mean", "params": object{}, "metrics": values, "scored_samples": metric.N,
		})
	}
	return object{"total_samples": m.Trials, "completed_samples": m.Trials - m.Failed, "scores": scores}
}

// metricOrder lists the defined measures, those of order first.
func metricOrder(m runner.MethodSummary, order []string) (names []string) {
	for _, name := range append(slices.Clone(order), slices.Sorted(maps.Keys(m.Metrics))...) {
		if m.Metrics[name].Defined && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// modelUsage is in Inspect's terms: what was read from the provider's cache or
// written to it stands beside the other input, and is in the total.
func modelUsage(c record.Config, u compare.Usage) object {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return object{}
	}
	o := object{
		"input_tokens": *u.InputTokens - u.CachedTokens - u.CacheWriteTokens, "output_tokens": *u.OutputTokens,
		"total_tokens": *u.InputTokens + *u.OutputTokens,
	}
	putTokens(o, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens)
	return object{c.Model.ID.String(): o}
}

// putTokens adds parts of the tokens. 0 may also mean that the provider does not report
// them.
func putTokens(o object, cached, written, reasoning int64) {
	for name, n := range map[string]int64{"input_tokens_cache_read": cached, "input_tokens_cache_write": written, "reasoning_tokens": reasoning} {
		if n > 0 {
			o[name] = n
		}
	}
}

func (s Source) evalSamples(method string) ([]object, error) {
	byID, seeds := s.samplesByID(), s.sharesOf()
	var out []object
	for _, t := range s.Result.Trials {
		if t.ID.Method != method {
			continue
		}
		t, err := s.Whole(t)
		if err != nil {
			return nil, err
		}
		o, err := s.evalSample(t, byID[t.ID.Sample], seeds(t))
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// evalSample gives a trial with its last conversation as the messages and all
// its model calls as events. Its tokens are with its share of the method's seeds.
func (s Source) evalSample(t *record.Trial, sample task.Sample, seeds *compare.SeedUse) (object, error) {
	o := object{
		"id": t.ID.Sample, "epoch": t.ID.Epoch + 1, "uuid": s.evalID(t.ID.String()), "input": sample.Problem.Query, "target": evalTarget(t),
		"messages": []object{}, "scores": evalScores(t), "events": []object{},
		"output": object{"model": s.Run.Config.Model.ID.String(), "choices": []object{}},
		"metadata": object{
			"outcome": t.Answer.Outcome, "reason": t.Answer.Reason, "group": sample.Group, "seed": formatSeed(t.Seed), "hash": t.Hash,
		},
		"store": object{}, "model_usage": modelUsage(s.Run.Config, compare.UsageOf(seeds.Whole(t.Usage))),
		"started_at": stamp(t.Started), "completed_at": stamp(t.Started.Add(t.Wall)),
		"total_time": t.Wall.Seconds(), "working_time": t.Usage.Latency.Seconds(),
	}
	if labels := sample.Problem.Answer.Labels; len(labels) > 0 {
		o["choices"] = labels
	}
	if t.Failure != "" {
		o["error"] = object{"message": t.Failure, "traceback": "", "traceback_ansi": ""}
	}
	return o, s.addCalls(o, t)
}

// evalTarget is empty if there is none, as in Inspect's own data sets.
func evalTarget(t *record.Trial) string {
	if !t.HasTarget() {
		return ""
	}
	return plainText(t.Target)
}

// plainText is a text without the quotes of JSON, and any other value as JSON.
func plainText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"' {
		return text
	}
	return string(raw)
}

// addCalls adds the contents of a trial's model calls, if they can be read.
func (s Source) addCalls(o object, t *record.Trial) error {
	var events []object
	elapsed := time.Duration(0)
	for _, c := range t.Calls {
		if s.Read == nil || c.Kind != record.CompletionCall || c.Fault != "" {
			continue
		}
		x, err := s.Read(t.ID, c)
		if err != nil {
			return err
		}
		output := s.evalOutput(x.Record.Completion)
		events = append(events, object{
			"event": "model", "timestamp": stamp(t.Started.Add(elapsed)), "working_start": elapsed.Seconds(),
			"model": s.Run.Config.Model.ID.String(), "input": evalMessages(x.Request.Messages), "tools": []object{}, "tool_choice": "auto",
			"config": object{"temperature": x.Request.Sampling.Temperature}, "output": output,
			"metadata": object{"path": c.Path, "draw": c.Draw, "key": c.Key},
		})
		elapsed += c.Usage.Latency
		reply := object{"role": "assistant", "content": x.Record.Completion.Text}
		o["messages"] = append(evalMessages(x.Request.Messages), reply)
		o["output"] = output
	}
	if len(events) > 0 {
		o["events"] = events
	}
	return nil
}

func (s Source) evalOutput(c methods.Completion) object {
	stop := "stop"
	if c.Finish == methods.FinishLength {
		stop = "max_tokens"
	}
	choice := object{"message": object{"role": "assistant", "content": c.Text}, "stop_reason": stop}
	if len(c.Logprobs) > 0 {
		choice["logprobs"] = object{"content": evalLogprobs(c.Logprobs)}
	}
	return object{"model": s.Run.Config.Model.ID.String(), "choices": []object{choice}}
}

func evalLogprobs(tokens []methods.TokenLogprob) []object {
	out := make([]object, len(tokens))
	for i, t := range tokens {
		var bytes []int
		for _, b := range t.Raw() {
			bytes = append(bytes, int(b))
		}
		out[i] = object{"token": t.Token, "logprob": t.Logprob, "bytes": bytes}
		if len(t.Top) > 0 {
			out[i]["top_logprobs"] = evalLogprobs(t.Top)
		}
	}
	return out
}

func evalMessages(messages []methods.Message) []object {
	out := make([]object, len(messages))
	for i, m := range messages {
		out[i] = object{"role": string(m.Role), "content": m.Content}
	}
	return out
}

// evalScores gives each measure of a trial with its answer; a trial that failed
// for other reasons than the method has none.
func evalScores(t *record.Trial) object {
	scores := object{}
	for name, v := range scoresOf(t) {
		scores[name] = object{"value": v, "answer": plainText(t.Answer.Value), "metadata": object{"outcome": t.Answer.Outcome}}
	}
	return scores
}

// redactAll takes keys out of every text of a JSON value made of objects.
func (s Source) redactAll(v any) any {
	switch v := v.(type) {
	case string:
		return s.clean(v)
	case []string:
		out := make([]string, len(v)) // v may be a part of the task
		for i := range v {
			out[i] = s.clean(v[i])
		}
		return out
	case object:
		for k, x := range v {
			v[k] = s.redactAll(x)
		}
		return v
	case []object:
		for i := range v {
			s.redactAll(v[i])
		}
		return v
	}
	return v
}
