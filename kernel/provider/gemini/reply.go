package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/kernel/provider"
	"noema/kernel/provider/exchange"
	"noema/methods"
)

// part is a reply or a part of a streamed one.
//
// Source: Gemini API, GenerateContentResponse.
type part struct {
	Candidates []candidate
	Feedback   struct {
		Reason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage `json:"usageMetadata"`
	Model string `json:"modelVersion"`
	Error json.RawMessage
}

type candidate struct {
	Index    int
	Content  struct{ Parts []contentPart }
	Finish   string                    `json:"finishReason"`
	Message  string                    `json:"finishMessage"`
	Logprobs exchange.Detail[logprobs] `json:"logprobsResult"`
}

// logprobs are the tokens of a part: those that were chosen, and at the same
// index the likeliest ones.
type logprobs struct {
	Chosen []token                        `json:"chosenCandidates"`
	Top    []struct{ Candidates []token } `json:"topCandidates"`
}

type token struct {
	Token   string
	Logprob float64 `json:"logProbability"` // 0 is left out
}

// tokens are in the vocabulary's form.
func (l logprobs) tokens() []methods.TokenLogprob {
	var out []methods.TokenLogprob
	for i, t := range l.Chosen {
		one := provider.TokenLogprob([]byte(t.Token), t.Logprob)
		if i < len(l.Top) {
			for _, other := range l.Top[i].Candidates {
				one.Top = append(one.Top, provider.TokenLogprob([]byte(other.Token), other.Logprob))
			}
		}
		out = append(out, one)
	}
	return out
}

type contentPart struct {
	Text      string
	Thought   bool
	Signature []byte `json:"thoughtSignature"`
	Call      *struct {
		ID   string
		Name string
		Args json.RawMessage
	} `json:"functionCall"`
}

type usage struct {
	Prompt   *exchange.Count `json:"promptTokenCount"`
	Tools    *exchange.Count `json:"toolUsePromptTokenCount"`
	Answer   *exchange.Count `json:"candidatesTokenCount"`
	Thoughts *exchange.Count `json:"thoughtsTokenCount"`
	Cached   exchange.Count  `json:"cachedContentTokenCount"` // within Prompt
}

// parts are those of a reply, of a stream or of a server that does not stream.
func parts(body []byte) ([][]byte, error) {
	if events, _, stream := exchange.Events(body); stream {
		return events, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil {
		out := make([][]byte, len(list))
		for i, e := range list {
			out[i] = e
		}
		return out, nil
	}
	var whole json.RawMessage
	err := json.Unmarshal(body, &whole)
	return [][]byte{whole}, err
}

// complete reports whether a reply that was cut is whole all the same.
func complete(body []byte) bool {
	list, err := parts(body)
	if err != nil {
		return false
	}
	for _, raw := range list {
		var one part
		if json.Unmarshal(raw, &one) == nil && one.ends() {
			return true
		}
	}
	return false
}

func (p part) ends() bool {
	return p.Feedback.Reason != "" || len(p.Candidates) > 0 && p.Candidates[0].Finish != ""
}

// decode turns the body of a reply into a completion.
func (p *Provider) decode(raw []byte) (methods.Completion, error) {
	list, err := parts(raw)
	if err != nil {
		return methods.Completion{}, p.exchange.Malformed(raw, fmt.Errorf("decode reply: %w", err))
	}
	var sum replySum
	for _, e := range list {
		var one part
		if err := json.Unmarshal(e, &one); err != nil {
			return methods.Completion{}, p.exchange.Malformed(e, fmt.Errorf("decode reply: %w", err))
		}
		if len(one.Error) > 0 && string(one.Error) != "null" {
			return methods.Completion{}, p.exchange.Malformed(e, errors.New("decode reply: it holds an error"))
		}
		if err := sum.add(one); err != nil {
			return methods.Completion{}, p.exchange.Malformed(nil, fmt.Errorf("decode reply: %w", err))
		}
	}
	switch {
	case sum.finish == "" && !sum.any:
		return methods.Completion{}, p.exchange.Malformed(raw, errors.New("decode reply: it has no candidates"))
	case sum.finish == "":
		return methods.Completion{}, p.exchange.Short()
	case retry[sum.finish] && sum.text.Len() == 0 && len(sum.calls) == 0:
		return methods.Completion{}, p.exchange.Malformed(nil, fmt.Errorf("decode reply: the model wrote no valid answer: %s %s", sum.finish, sum.message))
	}
	return p.completion(sum), nil
}

// retry are the finish reasons of replies that failed by chance.
var retry = map[string]bool{"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true}

// replySum is a reply as far as it has come.
type replySum struct {
	any             bool // something was there
	model           string
	finish, message string
	text            strings.Builder
	calls           []methods.ToolCall
	tokens          []methods.TokenLogprob
	usage           *usage
}

func (s *replySum) add(p part) error {
	if s.model == "" {
		s.model = p.Model
	}
	if p.Usage != nil {
		s.usage = p.Usage // totals so far
	}
	if p.Feedback.Reason != "" {
		s.finish, s.message = "SAFETY", p.Feedback.Reason
	}
	for _, c := range p.Candidates {
		if c.Index != 0 {
			continue // one was asked for
		}
		s.any = true
		if c.Finish != "" {
			s.finish, s.message = c.Finish, c.Message
		}
		s.tokens = append(s.tokens, c.Logprobs.Value.tokens()...)
		for _, part := range c.Content.Parts {
			if part.Call != nil {
				if part.Call.Name == "" {
					return errors.New("a tool call without a name")
				}
				id := part.Call.ID
				if id == "" {
					id = fmt.Sprintf("%s%d", ownID, len(s.calls)+1)
				}
				s.calls = append(s.calls, methods.ToolCall{
					ID: joinID(id, part.Signature), Name: part.Call.Name, Arguments: exchange.Arguments(string(part.Call.Args)),
				})
			}
			if !part.Thought {
				s.text.WriteString(part.Text)
			}
		}
	}
	return nil
}

func (p *Provider) completion(s replySum) methods.Completion {
	c := methods.Completion{Text: s.text.String(), ToolCalls: s.calls, Finish: finish(s.finish, len(s.calls)), Model: s.model, Logprobs: s.tokens}
	if c.Text == "" && c.Finish == methods.FinishFilter {
		c.Text = s.message // why it was refused, where the server says
	}
	var counts exchange.Counts
	if u := s.usage; u != nil {
		counts = exchange.Counts{Input: sumOf(u.Prompt, u.Tools), Output: sumOf(u.Answer, u.Thoughts), Cached: u.Cached}
		if u.Thoughts != nil {
			counts.Reasoning = *u.Thoughts
		}
	}
	said := s.text.Len() > 0 || len(s.calls) > 0
	if c.Finish == methods.FinishFilter && counts.Output == (exchange.Count{}) && counts.Input.Known {
		// A blocked prompt has no answer, and no count of it.
		counts.Output, said = exchange.Count{Known: true}, false
	}
	c.Usage = exchange.Usage(p.tariff.Cost, counts, said)
	return c
}

// sumOf adds the counts that are there. One that is there and no count makes
// the sum unknown.
func sumOf(counts ...*exchange.Count) exchange.Count {
	var sum exchange.Count
	for _, c := range counts {
		if c == nil {
			continue
		}
		if !c.Known {
			return exchange.Count{}
		}
		sum.N, sum.Known = sum.N+c.N, true
	}
	return sum
}

func finish(reason string, calls int) methods.FinishReason {
	switch reason {
	case "STOP":
		if calls > 0 {
			return methods.FinishTools
		}
		return methods.FinishStop
	case "MAX_TOKENS":
		return methods.FinishLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return methods.FinishFilter
	}
	return methods.FinishOther
}
