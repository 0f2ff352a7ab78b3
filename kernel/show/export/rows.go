// Package export writes runs in the forms that other tools read: rows of trials
// or of calls as JSON Lines, CSV or Parquet, Inspect's EvalLog, records of Every Eval
// Ever, and OpenTelemetry spans. What leaves is redacted: a key that a prompt or a
// reply holds by accident does not get out.
package export

import (
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"noema/kernel/base/redact"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/task"
	"noema/methods"
)

// Source is a run with the requests and replies of its calls.
type Source struct {
	*runner.Result
	// Read returns the content of a model call. Nil leaves contents out.
	Read func(trial record.TrialID, c record.Call) (runner.Exchange, error)
	// Redactor takes the user's keys out, which old records may hold; it may be nil.
	Redactor *redact.Redactor
}

// Column is a column of an export: its values are string, int64, uint64, float64,
// bool, or nil where there is none. Those of a List are its JSON text, in which an element
// has the Fields, or is an integer where there are none.
type Column struct {
	Name   string
	Kind   Kind
	Fields []Column
}

// Kind is the type of a column's values.
type Kind int

// The kinds.
const (
	String Kind = iota
	Integer
	Float
	Bool
	Unsigned
	List
)

func column(name string, k Kind) Column { return Column{Name: name, Kind: k} }

// messages and logprobs are the columns of what a model call asked and was told.
func messages() Column {
	return Column{"messages", List, []Column{column("role", String), column("content", String)}}
}

func logprobs() Column {
	token := []Column{column("token", String), column("logprob", Float), column("bytes", List)}
	return Column{"logprobs", List, append(token, Column{"top_logprobs", List, token})}
}

// Rows is a table to be written. An error is the last that its rows yield.
type Rows struct {
	Columns []Column
	Rows    iter.Seq2[[]any, error]
}

// where are the columns that say what a row belongs to.
var where = []Column{
	column("run", String), column("task", String), column("model", String), column("simulated", Bool),
	column("method", String), column("method_version", String), column("sample", String), column("group", String), column("cluster", String), column("epoch", Integer),
}

func (s Source) samplesByID() map[string]task.Sample {
	byID := map[string]task.Sample{}
	for _, sample := range s.Task.Samples {
		byID[sample.ID] = sample
	}
	return byID
}

// whereOf returns what gives the values of these columns for a trial.
func (s Source) whereOf() func(*record.Trial) []any {
	c := s.Run.Config
	versions, samples := map[string]string{}, s.samplesByID()
	for _, m := range c.Methods {
		versions[m.Label] = m.Version
	}
	return func(t *record.Trial) []any {
		return []any{
			s.Run.ID, c.Task.Name, c.Model.ID.String(), c.Model.Simulated,
			t.ID.Method, versions[t.ID.Method], t.ID.Sample, samples[t.ID.Sample].Group, samples[t.ID.Sample].Cluster, int64(t.ID.Epoch + 1),
		}
	}
}

// amounts are the columns of what was charged.
var amounts = []Column{
	column("calls", Integer), column("tool_calls", Integer), column("input_tokens", Integer), column("output_tokens", Integer),
	column("cost_usd", Float), column("latency_ms", Float),
	// parts of the tokens; 0 also where the provider does not report them
	column("cached_tokens", Integer), column("cache_write_tokens", Integer), column("reasoning_tokens", Integer),
}

// used are the columns of what a trial used, with its share of the method's seeds. Of
// calls, those of seeds to tools are among calls.
var used = slices.Concat([]Column{
	column("calls", Float), column("tool_calls", Integer), column("input_tokens", Float), column("output_tokens", Float), column("cost_usd", Float), column("latency_ms", Float),
}, amounts[6:], []Column{ // the part of the first six that seeds took
	column("seed_calls", Float), column("seed_input_tokens", Float), column("seed_output_tokens", Float), column("seed_cost_usd", Float), column("seed_latency_ms", Float),
})

// usedOf gives the values of used; seeds is nil where the trial bears no share.
func usedOf(u methods.Usage, seeds *compare.SeedUse) []any {
	row := amountsOf(u)
	known := func(x float64) any {
		if math.IsNaN(x) {
			return nil
		}
		return x
	}
	for i, r := range []compare.Resource{compare.Calls, "", compare.InputTokens, compare.OutputTokens, compare.Cost, compare.Latency} {
		if r == "" {
			continue
		}
		amount := r.Used(u, seeds)
		if r == compare.Calls {
			amount -= float64(u.ToolCalls)
		}
		row[i] = known(amount)
		row = append(row, known(seeds.Share(r)))
	}
	return row
}

// amountsOf leaves unknown amounts undefined rather than 0.
func amountsOf(u methods.Usage) []any {
	row := []any{
		int64(u.Calls), int64(u.ToolCalls), u.InputTokens, u.OutputTokens, u.Cost.USD(), milliseconds(u.Latency),
		u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens,
	}
	if u.Unmetered > 0 {
		for _, i := range []int{2, 3, 6, 7, 8} {
			row[i] = nil
		}
	}
	if u.Unpriced > 0 {
		row[4] = nil
	}
	if compare.UsageOf(u).Calls == nil {
		row[0], row[1], row[5] = nil, nil, nil
	}
	return row
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sharesOf returns what gives the seeds of which a trial bears a share; nil if there are none.
func (s Source) sharesOf() func(*record.Trial) *compare.SeedUse {
	uses := s.SeedUse()
	return func(t *record.Trial) *compare.SeedUse {
		if t.Infra {
			return nil
		}
		return uses[t.ID.Method]
	}
}

// scoresOf are the scores of a trial; none if it failed for other reasons than
// the method, since it says nothing about it.
func scoresOf(t *record.Trial) map[string]float64 {
	if t.Infra {
		return nil
	}
	return t.Score.Values
}

// targetOf is the right answer, nil if it is not known.
func targetOf(t *record.Trial) any {
	if !t.HasTarget() {
		return nil
	}
	return string(t.Target)
}

// Trials is a row for each trial: what it belongs to, how it ended, with the answer and
// the target in words, as the names of a ranking's items, its scores
// in columns of their own named score.NAME, and what it used, with its share of the
// method's seeds. A trial that
// failed for other reasons than the method has infrastructure_failure true and no
// scores, and comparisons leave out what it was charged; one whose right answer is
// not known has neither a target nor scores. Samples of one cluster are not
// independent. testdata/recompute.py makes a comparison's tables of these rows.
func (s Source) Trials() Rows {
	names := map[string]bool{}
	for _, t := range s.Result.Trials {
		for name := range t.Score.Values {
			names[name] = true
		}
	}
	scores := slices.Sorted(maps.Keys(names))
	r := Rows{Columns: slices.Concat(where, []Column{
		column("seed", Unsigned), column("outcome", String), column("reason", String), column("answer", String), column("target", String), column("question", String), column("answer_label", String), column("target_label", String), column("failure", String), column("infrastructure_failure", Bool), column("hash", String),
	})}
	for _, name := range scores {
		r.Columns = append(r.Columns, column("score."+name, Float))
	}
	r.Columns = append(r.Columns, used...)
	whereOf, seeds, named := s.whereOf(), s.sharesOf(), s.Named()
	r.Rows = func(yield func([]any, error) bool) {
		for _, t := range s.Result.Trials {
			words := named(t)
			row := slices.Concat(whereOf(t), []any{
				t.Seed, string(t.Answer.Outcome), t.Answer.Reason, string(t.Answer.Value), targetOf(t), words.Question, words.Answer, words.Target, t.Failure, t.Infra, t.Hash,
			})
			for _, name := range scores {
				if v, ok := scoresOf(t)[name]; ok && !math.IsNaN(v) {
					row = append(row, v)
				} else {
					row = append(row, nil)
				}
			}
			if !yield(s.redacted(append(row, usedOf(t.Usage, seeds(t))...)), nil) {
				return
			}
		}
	}
	return r
}

// Calls is a row for each call of each trial, with the messages, as JSON, the
// reply, and its log probabilities where it has any, as JSON, of model calls if
// the source can read them. A content that cannot be read is an error.
func (s Source) Calls() Rows {
	r := Rows{Columns: slices.Concat(where, []Column{
		column("path", String), column("kind", String), column("draw", Integer), column("key", String), column("digest", String),
		column("fault", String), column("error", String), column("failed_attempts", Integer),
		// of the execution that made the record: null where it was not kept
		column("order", Integer), column("start_ms", Float), column("took_ms", Float), column("new", Bool),
		column("step", String), // what the call is about; equal over methods, see [record.Step]
	}, amounts, []Column{messages(), column("reply", String), logprobs()})}
	whereOf := s.whereOf()
	r.Rows = func(yield func([]any, error) bool) {
		for _, t := range s.Result.Trials {
			t, err := s.Whole(t)
			if err != nil {
				yield(nil, err)
				return
			}
			steps := t.Steps()
			for _, c := range slices.Concat(t.Calls, t.Grading) {
				row := slices.Concat(whereOf(t), []any{
					c.Path, string(c.Kind), int64(c.Draw), c.Key, c.Digest, string(c.Fault), c.Error, int64(c.Attempts),
				}, timingOf(c.Timing), []any{steps[c.Path].Key}, amountsOf(c.Usage))
				content, err := s.content(t.ID, c)
				if !yield(s.redacted(append(row, content...)), err) || err != nil {
					return
				}
			}
		}
	}
	return r
}

// timingOf gives the values of when a call was made.
func timingOf(t record.Timing) []any {
	if t.Order == 0 {
		return []any{nil, nil, nil, nil}
	}
	return []any{int64(t.Order), milliseconds(t.Start), milliseconds(t.Took), t.New}
}

// content is the request and the reply of a model call: the values of the last
// three columns.
func (s Source) content(id record.TrialID, c record.Call) ([]any, error) {
	if s.Read == nil || c.Kind != record.CompletionCall || c.Fault != "" {
		return []any{nil, nil, nil}, nil
	}
	x, err := s.Read(id, c)
	if err != nil {
		return nil, err
	}
	messages, err := record.Marshal(chat(x.Request.Messages))
	if err != nil {
		return nil, err
	}
	var tokens any
	if told := x.Record.Completion.Logprobs; len(told) > 0 {
		raw, err := record.Marshal(evalLogprobs(told))
		if err != nil {
			return nil, err
		}
		tokens = string(raw)
	}
	return []any{string(messages), x.Record.Completion.Text, tokens}, nil
}

// message is a message as most tools write it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func chat(messages []methods.Message) []message {
	out := make([]message, len(messages))
	for i, m := range messages {
		out[i] = message{string(m.Role), m.Content}
	}
	return out
}
