package exchange

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"noema/kernel/provider"
	"noema/methods"
)

// Tokens are the tokens of a reply with their log probabilities, in the form
// that OpenAI's protocols and Ollama's share. A list that is none, or that
// lacks a probability, is empty: half of it would look like all.
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

// Logprobs is what is known of a server and model: whether they give log
// probabilities. It is safe for concurrent use.
type Logprobs struct{ state atomic.Int32 }

const (
	givesLogprobs = iota + 1 // they came at least once
	lacksLogprobs            // they were asked for, and the reply came without
)

var errNoLogprobs = errors.New("the server ignores that log probabilities are asked for")

const noLogprobsHint = "ask for none, or take a model and a server that have them"

// Check refuses a request before it is sent if its log probabilities cannot
// be had.
func (l *Logprobs) Check(s methods.Sampling) error {
	if err := provider.CheckLogprobs(s); err != nil {
		return err
	}
	if s.Logprobs > 0 && l.state.Load() == lacksLogprobs {
		return &provider.Error{Kind: provider.Rejected, Err: errNoLogprobs, Hint: noLogprobsHint}
	}
	return nil
}

// Settle puts the log probabilities of a reply in order: the likeliest first,
// no more than were asked for. A reply that lacks them is an error, although
// it is paid for; to pay but once, Check then refuses further ones. Where the
// server gave them before, another attempt may help.
func (l *Logprobs) Settle(c *methods.Completion, s methods.Sampling) error {
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
		return &provider.Error{Kind: provider.Malformed, Err: errors.New("decode reply: it lacks its log probabilities")}
	}
	l.state.Store(givesLogprobs)
	for i := range c.Logprobs {
		top := c.Logprobs[i].Top
		slices.SortStableFunc(top, func(a, b methods.TokenLogprob) int {
			switch {
			case a.Logprob > b.Logprob:
				return -1
			case a.Logprob < b.Logprob:
				return 1
			}
			return 0
		})
		c.Logprobs[i].Top = top[:min(len(top), s.Logprobs)]
	}
	return nil
}
