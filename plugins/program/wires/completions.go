package wires

import (
	"encoding/json"

	"noema/methods"
)

// Source: OpenAI API reference, "Create completion" (legacy).

func readCompletions(r *reader) error {
	a, n := &r.asked, 1
	a.Sampling.MaxTokens = 16 // the protocol's default
	var prompt json.RawMessage
	var seed int64
	err := r.takeAll(r.body, "", map[string]any{
		"temperature": &a.Sampling.Temperature, "top_p": &a.Sampling.TopP, "seed": &seed, "max_tokens": &a.Sampling.MaxTokens,
		"n": &n, "logprobs": &a.Sampling.Logprobs, "prompt": &prompt,
	})
	if err != nil {
		return err
	}
	a.Sampling.Seed = uint64(seed)
	var one string
	var several []string
	switch {
	case json.Unmarshal(prompt, &one) == nil:
	case json.Unmarshal(prompt, &several) == nil && len(several) == 1:
		one = several[0]
	default:
		r.leaves("prompt (several, or tokens)")
	}
	a.Messages = methods.Ask(one)
	if err := r.count(n); err != nil {
		return err
	}
	return r.stops("stop")
}

func wholeCompletions(a Asked, replies []methods.Completion, id string) any {
	choices := []object{}
	for i, c := range replies {
		choices = append(choices, object{"index": i, "text": c.Text, "finish_reason": finishText(c.Finish), "logprobs": legacyLogprobs(c)})
	}
	return object{"id": "cmpl-" + id, "object": "text_completion", "created": created, "model": modelOf(replies, a), "choices": choices, "usage": openAIUsage(replies, "prompt", "completion")}
}

func legacyLogprobs(c methods.Completion) any {
	if len(c.Logprobs) == 0 {
		return nil
	}
	var texts []string
	var values []float64
	var tops []map[string]float64
	var offsets []int
	at := 0
	for _, t := range c.Logprobs {
		top := map[string]float64{}
		for _, other := range t.Top {
			top[other.Token] = other.Logprob
		}
		texts, values, tops, offsets = append(texts, t.Token), append(values, t.Logprob), append(tops, top), append(offsets, at)
		at += len([]rune(t.Token))
	}
	return object{"tokens": texts, "token_logprobs": values, "top_logprobs": tops, "text_offset": offsets}
}

func framesCompletions(s *stream, body object) error {
	usage := body["usage"]
	delete(body, "usage")
	for _, choice := range objects(body["choices"]) {
		s.data(with(body, object{"choices": []any{choice}}))
	}
	if s.usage {
		s.data(with(body, object{"choices": []any{}, "usage": usage}))
	}
	s.end()
	return nil
}
