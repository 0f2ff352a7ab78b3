package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// samples are the rows of a record, as JSON Lines, and how many they are: one for each
// trial and measure, as the schema has it. Without the contents of calls there are
// none, because a row must say what the model answered. Trials without a score, such
// as those that the infrastructure failed, have no row.
func (e everyEval) samples() ([]byte, int, error) {
	if e.Read == nil || e.Run.Imported != nil {
		return nil, 0, nil
	}
	byID := e.samplesByID()
	var out bytes.Buffer
	rows, seeds := 0, e.sharesOf()
	for _, t := range e.Result.Trials {
		if t.ID.Method != e.method.Label || len(scoresOf(t)) == 0 {
			continue
		}
		t, err := e.Whole(t)
		if err != nil {
			return nil, 0, err
		}
		o, err := e.trial(t, byID[t.ID.Sample], seeds(t).Whole(t.Usage))
		if err != nil {
			return nil, 0, err
		}
		e.redactAll(o)
		for _, name := range e.metrics {
			v, scored := scoresOf(t)[name]
			if !scored || math.IsNaN(v) {
				continue
			}
			o["evaluation_result_id"] = name
			o["evaluation"] = object{"score": v, "is_correct": v == 1, "num_turns": max(1, t.Usage.Calls), "tool_calls_count": t.Usage.ToolCalls}
			raw, err := record.Marshal(o)
			if err != nil {
				return nil, 0, fmt.Errorf("export every-eval-ever: %w", err)
			}
			out.Write(append(raw, '\n'))
			rows++
		}
	}
	return out.Bytes(), rows, nil
}

// trial is what the rows of a trial share; used is with its share of the method's seeds.
func (e everyEval) trial(t *record.Trial, sample task.Sample, used methods.Usage) (object, error) {
	asked := object{"raw": sample.Problem.Query, "reference": []string{}}
	if t.HasTarget() {
		asked["reference"] = []string{plainText(t.Target)}
	}
	if spec := sample.Problem.Answer; spec.Kind == methods.Choice {
		asked["choices"] = spec.Labels
	}
	sum := sha256.Sum256([]byte(sample.Problem.Query + strings.Join(asked["reference"].([]string), "")))
	o := object{
		"schema_version": everyEvalVersion, "evaluation_id": e.id(), "model_id": e.modelID(), "evaluation_name": e.Run.Config.Task.Name,
		"sample_id": t.ID.Sample, "sample_hash": hex.EncodeToString(sum[:]), "input": asked, "answer_attribution": []object{},
		"metadata": e.about(t, sample),
	}
	if t.Failure != "" {
		o["error"] = t.Failure
	}
	if used.Unmetered == 0 {
		o["token_usage"] = everyUsage(used)
	}
	if used.Calls > 0 {
		o["performance"] = object{"latency_ms": milliseconds(used.Latency)}
	}
	return o, e.replies(o, t)
}

// about is what the schema has no word for.
func (e everyEval) about(t *record.Trial, sample task.Sample) object {
	o := object{"outcome": string(t.Answer.Outcome), "epoch": strconv.Itoa(t.ID.Epoch + 1), "seed": formatSeed(t.Seed), "trial_hash": t.Hash}
	put(o, "reason", t.Answer.Reason)
	put(o, "answer", plainText(t.Answer.Value))
	put(o, "group", sample.Group)
	put(o, "cluster", sample.Cluster)
	return o
}

func everyUsage(u methods.Usage) object {
	o := object{"input_tokens": u.InputTokens, "output_tokens": u.OutputTokens, "total_tokens": u.Tokens()}
	putTokens(o, u.CachedTokens, u.CacheWriteTokens, u.ReasoningTokens)
	return o
}

// replies adds what models were asked and answered: the reply of a single call, from
// which the answer was read, or else all conversations one behind the other, each
// without what stands right before it already.
func (e everyEval) replies(o object, t *record.Trial) error {
	var turns, last []methods.Message
	calls := 0
	for _, c := range t.Calls {
		if c.Kind != record.CompletionCall || c.Fault != "" {
			continue
		}
		x, err := e.Read(t.ID, c)
		if err != nil {
			return err
		}
		asked := x.Request.Messages
		if len(last) > 0 && len(asked) >= len(last) && slices.EqualFunc(asked[:len(last)], last, sameMessage) {
			turns = append(turns, asked[len(last):]...)
		} else {
			turns = append(turns, asked...)
		}
		reply := methods.Message{Role: methods.Assistant, Content: x.Record.Completion.Text, ToolCalls: x.Record.Completion.ToolCalls}
		turns, last = append(turns, reply), append(slices.Clone(asked), reply)
		calls++
	}
	if calls > 1 || t.Usage.ToolCalls > 0 {
		o["interaction_type"] = "multi_turn"
		if t.Usage.ToolCalls > 0 {
			o["interaction_type"] = "agentic"
		}
		o["messages"] = everyTurns(turns)
		return nil
	}
	raw := []string{}
	if calls == 1 {
		raw = []string{last[len(last)-1].Content}
		if answer := plainText(t.Answer.Value); answer != "" {
			o["answer_attribution"] = []object{{
				"turn_idx": 0, "source": "output.raw", "extracted_value": answer, "extraction_method": "custom", "is_terminal": true,
			}}
		}
	}
	o["interaction_type"], o["output"] = "single_turn", object{"raw": raw}
	return nil
}

func sameMessage(a, b methods.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.CallID == b.CallID
}

// everyTurns are messages in the schema's form.
func everyTurns(messages []methods.Message) []object {
	out := make([]object, len(messages))
	for i, m := range messages {
		out[i] = object{"turn_idx": i, "role": string(m.Role), "content": m.Content}
		if m.CallID != "" {
			out[i]["tool_call_id"] = []string{m.CallID}
		}
		var calls []object
		for _, c := range m.ToolCalls {
			calls = append(calls, object{"id": c.ID, "name": c.Name, "arguments": everyArguments(c.Arguments)})
		}
		if calls != nil {
			out[i]["tool_calls"] = calls
		}
	}
	return out
}

// everyArguments are a call's arguments, each as a text.
func everyArguments(raw json.RawMessage) object {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return object{"arguments": string(raw)} // what a model wrote in place of an object
	}
	o := object{}
	for name, v := range fields {
		o[name] = plainText(v)
	}
	return o
}
