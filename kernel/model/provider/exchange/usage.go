package exchange

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/prices"
	"noema/methods"
)

// Count is a number of tokens as a server reports it. Servers report nonsense
// at times; a reply is not lost for that, and not paid for again.
type Count struct {
	N     int64
	Known bool   // it was there, and a plausible number
	Wrong string // the number as the server wrote it, if it cannot be
}

// Detail is an optional part of a reply: one of another form than T is read as
// the zero value.
type Detail[T any] struct{ Value T }

// UnmarshalJSON implements [json.Unmarshaler]. It never fails.
func (d *Detail[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if json.Unmarshal(raw, &v) == nil {
		d.Value = v
	}
	return nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	*c = Count{}
	text := strings.TrimSpace(string(raw))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil // not a number
	}
	if f < 0 || f > provider.MaxTokens || f != float64(int64(f)) {
		c.Wrong = text[:min(len(text), 24)]
		return nil
	}
	*c = Count{N: int64(f), Known: true}
	return nil
}

// Counts are a call's tokens as its server counts them. Input and Output are
// totals; the others are parts of them, and zero where the server does not say.
type Counts struct {
	Input, Output      Count
	Cached, CacheWrite Count // of Input
	Reasoning          Count // of Output

	WriteCosts bool // CacheWrite has a price of its own, and is not charged as other input
	LongWrite  bool // CacheWrite was written for longer than that price is for
}

// wrong are the counts that cannot be; empty if there are none.
func (c Counts) wrong() string {
	var all []string
	for _, part := range []struct {
		Count
		name string
	}{{c.Input, "input"}, {c.Output, "output"}, {c.Cached, "cached"}, {c.CacheWrite, "cache write"}, {c.Reasoning, "reasoning"}} {
		if part.N > provider.MaxTokens { // as a sum
			part.Wrong = strconv.FormatInt(part.N, 10)
		}
		if part.Wrong != "" {
			all = append(all, part.Wrong+" "+part.name+" tokens")
		}
	}
	return strings.Join(all, ", ")
}

// usage is what a call consumed, as its server counted it, and what that costs,
// if known. What is unknown or cannot be right is counted as unknown: no input
// at all, or no output although the model said something. Parts that are more
// than the whole are left out, and charged in full.
func (c Counts) usage(t prices.Tariff, said bool) methods.Usage {
	u := methods.Usage{Calls: 1}
	if c.wrong() != "" || !c.Input.Known || !c.Output.Known || c.Input.N == 0 || said && c.Output.N == 0 {
		u.Unmetered, u.Unpriced = 1, 1
		return u
	}
	u.InputTokens, u.OutputTokens = c.Input.N, c.Output.N
	if c.Cached.N+c.CacheWrite.N <= u.InputTokens {
		u.CachedTokens, u.CacheWriteTokens = c.Cached.N, c.CacheWrite.N
	}
	if c.Reasoning.N <= u.OutputTokens {
		u.ReasoningTokens = c.Reasoning.N
	}
	cost, known := t.Cost(u)
	if u.CacheWriteTokens > 0 && (c.LongWrite || c.WriteCosts && (t.Price == nil || t.Price.CacheWrite == nil)) {
		cost, known = 0, false
	}
	if u.Cost = cost; !known {
		u.Unpriced = 1
	}
	return u
}

// wireSeed is the seed that is sent for a request: a number between 0 and
// 2^31-1, which every known server accepts. It depends on the draw, because a
// server that honours seeds would otherwise answer all draws alike.
func wireSeed(seed uint64, draw int) int64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(draw))
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return int64(h.Sum64() >> 33)
}

// Object reads a JSON object, such as the schema of the named tool.
func Object(name string, raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{"type": "object", "properties": map[string]any{}}, nil
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return nil, &provider.Error{Kind: provider.Rejected, Err: fmt.Errorf("schema of %q is not a JSON object", name)}
	}
	return object, nil
}

// cutAtStop ends a text before the first of the stop strings, for servers that
// do not know them.
func cutAtStop(c *methods.Completion, stop []string) {
	end := -1
	for _, s := range stop {
		if i := strings.Index(c.Text, s); s != "" && i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	if end >= 0 {
		c.Text, c.Finish = c.Text[:end], methods.FinishStop
		c.Logprobs = provider.CutLogprobs(c.Logprobs, end)
	}
}
