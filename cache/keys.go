package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"sync"

	"noema/kernel/base/verbatim"
	"noema/methods"
)

// Key names a record. It is a SHA-256 sum.
type Key [32]byte

// String is k in lower-case hex.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey is the inverse of Key.String.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != 2*len(k) {
		return Key{}, fmt.Errorf("parse key %q: want %d hex digits", s, 2*len(k))
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return Key{}, fmt.Errorf("parse key %q: %w", s, err)
	}
	return k, nil
}

// The domains keep keys of different kinds apart. A change of what a key
// covers or how it is encoded needs a new number here.
const (
	completionDomain = "noema/completion/1"
	toolDomain       = "noema/tool/1"
	seedDomain       = "noema/seed/1"
	embeddingDomain  = "noema/embedding/1"
)

// The tags of the fields. They are part of the keys: never renumber them.
const (
	tagModel = iota + 1
	tagMessage
	tagSampling
	tagSchema
	tagTool
	tagEpoch
	tagDraw

	tagProvider
	tagEndpoint
	tagModelName
	tagWeights
	tagConfig

	tagRole
	tagContent
	tagToolCall
	tagCallID

	tagTemperature
	tagTopP
	tagTopK
	tagMaxTokens
	tagStop
	tagSeed

	tagName
	tagDescription
	tagJSON
	tagRawJSON

	tagEnv
	tagVersion
	tagMethod
	tagKind
)

// tagLogprobs came later than those above and is written only where it says
// something, so keys without it are what they were. It leaves room for more of
// the kinds above.
const tagLogprobs = 64

// Of requests that programs send; written only where there is such a request.
const (
	tagRaw = iota + 65
	tagWire
	tagBy    // which of several models; written only where it is not the first
	tagRules // by which the body is known again; written only where there are some, as tagNoise
	tagNoise
)

// CompletionKey names the answer to r by the model id. It covers the model,
// the messages (role, content, tool calls with their ids, names and
// arguments, call id), the sampling, the schema, the tools (name, description
// and parameters), or instead of these the protocol and body of r.Raw if there is one, as
// [verbatim.Same] knows it again, r.By, r.Draw and the epoch, and nothing else: not the call path, so that two methods that ask the same
// question share one answer. JSON is taken by its meaning: neither white space nor the
// order of names counts, while 1 and 1.0 differ.
func CompletionKey(id methods.ModelID, epoch int, r methods.Request) Key {
	if r.Raw != nil && r.Raw.Rules > 0 { // of which the kernel reads them
		r.Messages, r.Schema, r.Tools = nil, nil, nil
	}
	e := newEncoder(completionDomain)
	e.group(tagModel, func() { e.model(id) })
	for _, m := range r.Messages {
		e.group(tagMessage, func() { e.message(m) })
	}
	e.group(tagSampling, func() { e.sampling(r.Sampling) })
	if r.Schema != nil {
		e.group(tagSchema, func() {
			e.text(tagName, r.Schema.Name)
			e.json(r.Schema.JSON)
		})
	}
	for _, t := range r.Tools {
		e.group(tagTool, func() {
			e.text(tagName, t.Name)
			e.text(tagDescription, t.Description)
			e.json(t.Parameters)
		})
	}
	if r.Raw != nil {
		e.group(tagRaw, func() { e.raw(*r.Raw) })
	}
	if r.By != "" {
		e.text(tagBy, r.By)
	}
	e.number(tagEpoch, uint64(epoch))
	e.number(tagDraw, uint64(r.Draw))
	return e.sum()
}

// ToolKey names the result of a tool call in the environment env of the given
// version. It covers the tool's name and its arguments as JSON, not the id
// and the call path. Pass epoch 0 for a pure tool, whose result does not
// depend on it.
func ToolKey(env, version string, epoch int, c methods.ToolCall) Key {
	e := newEncoder(toolDomain)
	e.text(tagEnv, env)
	e.text(tagVersion, version)
	e.number(tagEpoch, uint64(epoch))
	e.text(tagName, c.Name)
	e.json(c.Arguments)
	return e.sum()
}

// SeedKey names a method seed: k, as built by the method with the given
// identity (name, version, digest, options: whatever the caller makes of it)
// with the model id under the random seed of a run.
func SeedKey(method string, id methods.ModelID, k methods.SeedKey, runSeed uint64) Key {
	e := newEncoder(seedDomain)
	e.text(tagMethod, method)
	e.group(tagModel, func() { e.model(id) })
	e.text(tagKind, k.Kind)
	e.text(tagContent, k.Content)
	e.number(tagSeed, runSeed)
	return e.sum()
}

// encoder writes fields, each as its tag (1 byte), the length of its content
// (8 bytes, big endian) and its content, so that no two different lists of
// fields have one encoding. A group is a field whose content is fields.
type encoder struct{ buf []byte }

// encoders are reused: prompts are long, and a key is computed on every call.
var encoders = sync.Pool{New: func() any { return new(encoder) }}

// maxPooled keeps one huge prompt from holding its memory for ever.
const maxPooled = 1 << 20

func newEncoder(domain string) *encoder {
	e := encoders.Get().(*encoder)
	e.buf = append(e.buf[:0], domain...)
	e.buf = append(e.buf, 0)
	return e
}

// sum ends the encoding; e must not be used after it.
func (e *encoder) sum() Key {
	k := Key(sha256.Sum256(e.buf))
	if cap(e.buf) <= maxPooled {
		encoders.Put(e)
	}
	return k
}

func (e *encoder) group(tag byte, fields func()) {
	e.buf = append(e.buf, tag, 0, 0, 0, 0, 0, 0, 0, 0)
	start := len(e.buf)
	fields()
	binary.BigEndian.PutUint64(e.buf[start-8:start], uint64(len(e.buf)-start))
}

func (e *encoder) text(tag byte, s string) {
	e.buf = append(e.buf, tag)
	e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) number(tag byte, n uint64) {
	e.buf = append(e.buf, tag, 0, 0, 0, 0, 0, 0, 0, 8)
	e.buf = binary.BigEndian.AppendUint64(e.buf, n)
}

// float writes the bits of f, with one zero and one NaN.
func (e *encoder) float(tag byte, f float64) {
	switch {
	case f == 0:
		f = 0 // also -0
	case math.IsNaN(f):
		f = math.NaN()
	}
	e.number(tag, math.Float64bits(f))
}

// json writes raw in canonical form, or as it is if it has none.
func (e *encoder) json(raw []byte) {
	canonical, ok := canonicalJSON(raw)
	if !ok {
		e.text(tagRawJSON, string(raw))
		return
	}
	e.text(tagJSON, string(canonical))
}

func (e *encoder) model(id methods.ModelID) {
	e.text(tagProvider, id.Provider)
	e.text(tagEndpoint, id.Endpoint)
	e.text(tagModelName, id.Model)
	e.text(tagWeights, id.Weights)
	e.text(tagConfig, id.Config)
}

// raw is a program's request. Its rules and noise are written, so that programs share an answer
// only where they mean the same by the same request.
func (e *encoder) raw(r methods.Raw) {
	e.text(tagWire, r.Wire)
	if r.Rules > 0 {
		e.number(tagRules, uint64(r.Rules))
	}
	for _, pattern := range r.Noise {
		e.text(tagNoise, pattern)
	}
	e.json(verbatim.Same(r))
}

func (e *encoder) message(m methods.Message) {
	e.text(tagRole, string(m.Role))
	e.text(tagContent, m.Content)
	for _, c := range m.ToolCalls {
		e.group(tagToolCall, func() {
			e.text(tagCallID, c.ID)
			e.text(tagName, c.Name)
			e.json(c.Arguments)
		})
	}
	e.text(tagCallID, m.CallID)
}

func (e *encoder) sampling(s methods.Sampling) {
	e.float(tagTemperature, s.Temperature)
	e.float(tagTopP, s.TopP)
	e.number(tagTopK, uint64(s.TopK))
	e.number(tagMaxTokens, uint64(s.MaxTokens))
	for _, stop := range s.Stop {
		e.text(tagStop, stop)
	}
	e.number(tagSeed, s.Seed)
	if s.Logprobs != 0 {
		e.number(tagLogprobs, uint64(s.Logprobs))
	}
}
