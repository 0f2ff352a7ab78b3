package gemini

import (
	"cmp"
	"fmt"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
	"noema/plugins/program/wires"
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

type usage struct {
	Prompt   *exchange.Count `json:"promptTokenCount"`
	Tools    *exchange.Count `json:"toolUsePromptTokenCount"`
	Answer   *exchange.Count `json:"candidatesTokenCount"`
	Thoughts *exchange.Count `json:"thoughtsTokenCount"`
	Cached   exchange.Count  `json:"cachedContentTokenCount"` // within Prompt
}

// decode reads the body of a reply.
func decode(raw []byte, _ exchange.Draft) (exchange.Reply, error) {
	var sum replySum
	_, err := exchange.Each(raw, sum.add)
	switch {
	case err != nil:
		return exchange.Reply{}, err
	case sum.finish == "" && !sum.any:
		return exchange.Reply{}, exchange.Malformed(raw, "it has no candidates")
	case sum.finish == "":
		return exchange.Reply{}, exchange.Short()
	case sum.text.Len() == 0 && len(sum.calls) == 0 && (sum.finish == "MALFORMED_FUNCTION_CALL" || sum.finish == "UNEXPECTED_TOOL_CALL"):
		return exchange.Reply{}, exchange.Malformed(nil, "the model wrote no valid answer: %s %s", sum.finish, sum.message)
	}
	return sum.reply(), nil
}

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
	s.model = cmp.Or(s.model, p.Model)
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
					return exchange.Malformed(nil, "a tool call without a name")
				}
				id := part.Call.ID
				if id == "" {
					id = fmt.Sprintf("%s%d", ownID, len(s.calls)+1)
				}
				s.calls = append(s.calls, methods.ToolCall{
					ID: joinID(id, part.Signature), Name: part.Call.Name, Arguments: wires.Arguments(string(part.Call.Args)),
				})
			}
			if !part.Thought {
				s.text.WriteString(part.Text)
			}
		}
	}
	return nil
}

func (s *replySum) reply() exchange.Reply {
	c := methods.Completion{Text: s.text.String(), ToolCalls: s.calls, Finish: finish(s.finish, len(s.calls)), Model: s.model, Logprobs: s.tokens}
	if c.Text == "" && c.Finish == methods.FinishFilter {
		c.Text = s.message // why it was refused, where the server says
	}
	reply := exchange.Reply{Completion: c}
	if u := s.usage; u != nil {
		reply.Counts = exchange.Counts{Input: sumOf(u.Prompt, u.Tools), Output: sumOf(u.Answer, u.Thoughts), Cached: u.Cached}
		if u.Thoughts != nil {
			reply.Counts.Reasoning = *u.Thoughts
		}
		if c.Finish == methods.FinishFilter && u.Answer == nil && u.Thoughts == nil { // a blocked prompt has no answer
			reply.Counts.Output = exchange.Count{Known: true}
		}
	}
	return reply
}

// sumOf adds the counts that are there. One that is not a number of tokens makes
// the sum unknown.
func sumOf(counts ...*exchange.Count) exchange.Count {
	var sum exchange.Count
	for _, c := range counts {
		if c == nil {
			continue
		}
		if !c.Known {
			return exchange.Count{Wrong: c.Wrong}
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
