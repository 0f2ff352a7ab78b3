package record

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"noema/methods"
)

// Root is the root hash over a configuration and its trials' hashes, in the
// order of Config.Trials: the proof that two executions were the same.
func Root(configDigest string, trials []string) string {
	return digest("noema/root/1", []byte(configDigest), []byte(merkle(trials)))
}

// merkle is the root of a binary hash tree, split as in RFC 6962 §2.1: at the
// largest power of two below the number of leaves.
func merkle(leaves []string) string {
	switch len(leaves) {
	case 0:
		return digest("noema/leaf/1")
	case 1:
		return digest("noema/leaf/1", []byte(leaves[0]))
	}
	split := 1
	for split*2 < len(leaves) {
		split *= 2
	}
	return digest("noema/node/1", []byte(merkle(leaves[:split])), []byte(merkle(leaves[split:])))
}

// Marshal encodes a run or a trial for the store. Characters such as < stay as
// they are, so that what methods wrote can be read and exported.
func Marshal(v any) ([]byte, error) {
	return methods.EncodeJSON(v)
}

// ResponseDigest identifies a completion: its text, tool calls, finish reason
// and, where it has any, log probabilities and the whole reply to a program, and not what it
// cost.
func ResponseDigest(c methods.Completion) string {
	type call struct {
		ID, Name  string
		Arguments []byte
	}
	calls := make([]call, len(c.ToolCalls))
	for i, t := range c.ToolCalls {
		calls[i] = call{t.ID, t.Name, t.Arguments}
	}
	raw := methods.Must(json.Marshal(calls)) // strings and bytes always encode
	parts := [][]byte{[]byte(c.Text), []byte(c.Finish), raw}
	if len(c.Logprobs) > 0 {
		parts = append(parts, appendLogprobs(nil, c.Logprobs))
	}
	if c.Raw != nil {
		parts = append(parts, []byte("raw"), c.Raw)
	}
	return digest("noema/completion/1", parts...)
}

// appendLogprobs writes tokens so that no two lists of them are the same
// bytes: the digest covers every bit of their probabilities.
func appendLogprobs(out []byte, tokens []methods.TokenLogprob) []byte {
	out = binary.BigEndian.AppendUint64(out, uint64(len(tokens)))
	for _, t := range tokens {
		for _, part := range [][]byte{[]byte(t.Token), t.Bytes} {
			out = binary.BigEndian.AppendUint64(out, uint64(len(part)))
			out = append(out, part...)
		}
		out = binary.BigEndian.AppendUint64(out, math.Float64bits(t.Logprob))
		out = appendLogprobs(out, t.Top)
	}
	return out
}

// ToolDigest identifies a tool result.
func ToolDigest(r methods.ToolResult) string {
	return digest("noema/tool/1", []byte(r.Content), fmt.Appendf(nil, "%t", r.IsError))
}

// BytesDigest identifies the content of a method seed.
func BytesDigest(b []byte) string { return digest("noema/seed/1", b) }

// TrialSeed derives a trial's random seed from the run's. It does not depend
// on the method or the model, so that methods meet the same draws: common
// random numbers make paired differences sharper.
func TrialSeed(runSeed uint64, taskDigest, sample string, epoch int) uint64 {
	sum := digest("noema/trial-seed/1", fmt.Appendf(nil, "%d", runSeed), []byte(taskDigest), []byte(sample), fmt.Appendf(nil, "%d", epoch))
	return firstBits(sum)
}

// SeedSeed derives the random seed of the calls that build a method seed.
func SeedSeed(runSeed uint64, key string) uint64 {
	return firstBits(digest("noema/seed-seed/1", fmt.Appendf(nil, "%d", runSeed), []byte(key)))
}

// firstBits takes 63 bits, because providers take seeds as signed integers.
func firstBits(hexDigest string) uint64 {
	raw := methods.Must(hex.DecodeString(hexDigest[:16])) // digest is hex
	var n uint64
	for _, b := range raw {
		n = n<<8 | uint64(b)
	}
	return n >> 1
}
