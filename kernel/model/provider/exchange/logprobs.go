package exchange

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Tokens are the tokens of a reply with their log probabilities, in the form
// that OpenAI's protocols and Ollama's share. A value that is not such a list,
// or lacks a probability, is read as empty: half of it would look like all.
type Tokens []methods.TokenLogprob

// UnmarshalJSON implements [json.Unmarshaler]. It never fails.
func (t *Tokens) UnmarshalJSON(raw []byte) error {
	*t = nil
	var list []wireToken
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out Tokens
	for _, w := range list {
		token, ok := w.token()
		if !ok {
			return nil
		}
		for _, top := range w.Top {
			if other, ok := top.token(); ok {
				token.Top = append(token.Top, other)
			}
		}
		out = append(out, token)
	}
	*t = out
	return nil
}

type wireToken struct {
	Token   string
	Logprob *float64
	Bytes   []int       // of the token, which may be a part of a character
	Top     []wireToken `json:"top_logprobs"`
}

func (w wireToken) token() (methods.TokenLogprob, bool) {
	if w.Logprob == nil {
		return methods.TokenLogprob{}, false
	}
	raw := []byte(w.Token)
	if len(w.Bytes) > 0 {
		raw = raw[:0]
		for _, b := range w.Bytes {
			if b < 0 || b > math.MaxUint8 {
				return methods.TokenLogprob{}, false
			}
			raw = append(raw, byte(b))
		}
	}
	return provider.TokenLogprob(raw, *w.Logprob), true
}

// logprobs remembers whether a server and model give log probabilities. It is
// safe for concurrent use.
type logprobs struct{ state atomic.Int32 }

const (
	givesLogprobs = iota + 1 // they came at least once
	lacksLogprobs            // they were asked for, and the reply came without
)

var errNoLogprobs = errors.New("the server ignores the request for log probabilities")

const noLogprobsHint = "ask for none, or use a model and a server that give them"

// check refuses a request before it is sent if the server gives no log
// probabilities.
func (l *logprobs) check(s methods.Sampling) error {
	if err := provider.CheckLogprobs(s); err != nil {
		return err
	}
	if s.Logprobs > 0 && l.state.Load() == lacksLogprobs {
		return &provider.Error{Kind: provider.Rejected, Err: errNoLogprobs, Hint: noLogprobsHint}
	}
	return nil
}

// order puts the log probabilities of a reply in order: the likeliest first,
// no more than were asked for. A reply that lacks them is an error, although
// it was paid for; so that it is paid only once, check then refuses further
// requests. Where the server gave them before, another attempt may help.
func (l *logprobs) order(c *methods.Completion, s methods.Sampling) error {
	if s.Logprobs == 0 {
		c.Logprobs = nil // some servers give them unasked
		return nil
	}
	if len(c.Logprobs) == 0 {
		if c.Text == "" || c.Finish == methods.FinishFilter {
			return nil // the model said nothing that could have any
		}
		if l.state.CompareAndSwap(0, lacksLogprobs) || l.state.Load() == lacksLogprobs {
			return &provider.Error{Kind: provider.Rejected, Err: errNoLogprobs, Hint: noLogprobsHint}
		}
		return &provider.Error{Kind: provider.Malformed, Err: errors.New("decode reply: its log probabilities are missing")}
	}
	l.state.Store(givesLogprobs)
	for i := range c.Logprobs {
		top := c.Logprobs[i].Top
		slices.SortStableFunc(top, func(a, b methods.TokenLogprob) int { return cmp.Compare(b.Logprob, a.Logprob) })
		c.Logprobs[i].Top = top[:min(len(top), s.Logprobs)]
	}
	return nil
}
