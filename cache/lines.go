package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
	"noema/methods"
	"noema/methods/convert"
)

// line is a record as one line of JSON, the form in which it leaves a store and
// enters another; see PACK.md. What JSON cannot carry exactly, such as text that is no
// UTF-8 or the white space in a tool call's arguments, leaves as it is stored, in Raw.
type line struct {
	Key        string            `json:"key"`
	Model      *methods.ModelID  `json:"model,omitempty"`
	Request    *methods.Request  `json:"request,omitempty"`
	Completion *CompletionRecord `json:"completion,omitempty"`
	Tool       *ToolRecord       `json:"tool,omitempty"`
	Seed       *SeedRecord       `json:"seed,omitempty"`
	Redacted   string            `json:"redacted,omitempty"` // the SHA-256 of what was taken out, in hex

	Raw        []byte `json:"raw,omitempty"`
	RawRequest []byte `json:"raw_request,omitempty"`
}

// Line returns the record of k as one line of JSON, without a line's end: a completion
// with its request, a tool result or a method seed. A blob is its own line.
func (s *Store) Line(ctx context.Context, space Space, k Key) ([]byte, error) {
	if space == Blobs {
		return s.Blob(ctx, k)
	}
	raw, err := s.payload(ctx, space, space.key(k[:]))
	if err != nil {
		return nil, err
	}
	l := line{Key: k.String(), Raw: raw}
	if space == Completions {
		if l.RawRequest, err = s.payload(ctx, Requests, Requests.key(k[:])); err != nil {
			return nil, err
		}
	}
	return l.text(space)
}

// text is a line of what is stored, in Raw, as people can read it where JSON carries it.
func (l line) text(space Space) ([]byte, error) {
	if text, err := methods.EncodeJSON(l.readable(space)); err == nil {
		var back line
		if json.Unmarshal(text, &back) == nil && back.carries(l, space) {
			return text, nil
		}
	}
	return methods.EncodeJSON(l)
}

// Canonical is a line as [Store.Line], or [Redacted], writes the record that it holds: what
// else the line says is not in it.
func Canonical(space Space, text []byte) ([]byte, error) {
	if space == Blobs {
		return text, nil
	}
	_, l, err := parseLine(text)
	if err != nil {
		return nil, err
	}
	if l.Redacted != "" {
		return methods.EncodeJSON(l)
	}
	if l.Raw != nil {
		l = line{Key: l.Key, Raw: l.Raw, RawRequest: l.RawRequest}.readable(space)
	}
	return l.stored(space).text(space)
}

// stored is a readable line as the store has it; Raw is nil if it lacks what the space holds.
func (l line) stored(space Space) line {
	out := line{Key: l.Key}
	switch {
	case space == Completions && l.Completion != nil && l.Request != nil && l.Model != nil:
		out.Raw = wire(convert.To[recordpb.Completion](*l.Completion, nil))
		out.RawRequest = wire(convert.To[recordpb.Request](storedRequest{*l.Model, *l.Request}, nil))
	case space == ToolResults && l.Tool != nil:
		out.Raw = wire(convert.To[recordpb.ToolResult](*l.Tool, nil))
	case space == Seeds && l.Seed != nil:
		out.Raw = wire(convert.To[recordpb.Seed](*l.Seed, nil))
	}
	return out
}

// Keys yields the keys of all records of a space that has keys of this kind, in their
// order.
func (s *Store) Keys(ctx context.Context, space Space) iter.Seq2[Key, error] {
	return func(yield func(Key, error) bool) {
		for rec, err := range s.pages(ctx, kv.Range{Prefix: space.key(), Limit: 4096}) {
			var k Key
			if err == nil && len(rec.Key) != 1+len(k) {
				err = fmt.Errorf("list the %s: a key of %d bytes", space, len(rec.Key))
			}
			if err != nil {
				yield(k, err)
				return
			}
			copy(k[:], rec.Key[1:])
			if !yield(k, nil) {
				return
			}
		}
	}
}

// ErrRedacted says that a line lacks what its record needs.
var ErrRedacted = errors.New("the record was redacted")

// Redacted is a line of [Store.Line] without the request of a completion, or without what
// was answered. The digest of what was taken out stands in its place.
func Redacted(text []byte, request, answer bool) ([]byte, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("redact record: %w", err)
	}
	out, taken := l, line{}
	if request {
		taken.Request, taken.RawRequest, out.Request, out.RawRequest = l.Request, l.RawRequest, nil, nil
	}
	if answer {
		taken.Completion, taken.Tool, taken.Seed, taken.Raw = l.Completion, l.Tool, l.Seed, l.Raw
		out.Completion, out.Tool, out.Seed, out.Raw = nil, nil, nil, nil
	}
	raw, err := methods.EncodeJSON(taken)
	if err != nil {
		return nil, err
	}
	out.Redacted = fmt.Sprintf("%x", sha256.Sum256(raw))
	return methods.EncodeJSON(out)
}

// AddUnasked adds a completion whose request was redacted: nothing shows that it answers
// what its key stands for, so it is for a store that is thrown away.
func (s *Store) AddUnasked(ctx context.Context, text []byte) (Key, Added, error) {
	k, l, err := parseLine(text)
	if err != nil {
		return k, "", err
	}
	if l.Raw != nil {
		l.Completion = wired[CompletionRecord, recordpb.Completion](l.Raw)
	}
	if l.Completion == nil {
		return k, "", ErrRedacted
	}
	added, err := s.addStored(ctx, Completions, k, line{Raw: wire(convert.To[recordpb.Completion](*l.Completion, nil))})
	return k, added, err
}

// readable is l with fields that people can read in the place of raw ones.
func (l line) readable(space Space) line {
	out := line{Key: l.Key}
	switch space {
	case Completions:
		c, r := wired[CompletionRecord, recordpb.Completion](l.Raw), wired[storedRequest, recordpb.Request](l.RawRequest)
		if c != nil && r != nil {
			out.Completion, out.Model, out.Request = c, &r.Model, &r.Request
		}
	case ToolResults:
		out.Tool = wired[ToolRecord, recordpb.ToolResult](l.Raw)
	case Seeds:
		out.Seed = wired[SeedRecord, recordpb.Seed](l.Raw)
	}
	return out
}

// wired decodes what is stored as an M; nil if it is not an M.
func wired[R, M any, P message[M]](raw []byte) *R {
	p := P(new(M))
	if proto.Unmarshal(raw, p) != nil {
		return nil
	}
	r := convert.From[R]((*M)(p), nil)
	return &r
}

// carries reports whether l gives exactly the stored bytes of want.
func (l line) carries(want line, space Space) bool {
	have := l.stored(space)
	return have.Raw != nil && bytes.Equal(have.Raw, want.Raw) && bytes.Equal(have.RawRequest, want.RawRequest)
}

// wire is a message as it is stored; nil, which is not a record's, if it cannot be.
func wire(m proto.Message) []byte {
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}

func parseLine(text []byte) (Key, line, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return Key{}, l, fmt.Errorf("read record: %w", err)
	}
	k, err := ParseKey(l.Key)
	return k, l, err
}

// Added says what became of a line.
type Added string

// What becomes of a line.
const (
	New      Added = "new"      // it was added
	Same     Added = "same"     // the store has it
	Conflict Added = "conflict" // the store has another record under its key, which stays
)

// AddLine adds the record of a line that [Store.Line] made, unless there is one under its
// key. A completion whose key is not that of its request is refused: it would answer
// another question. Records are equal if they differ only in when they were received.
func (s *Store) AddLine(ctx context.Context, space Space, text []byte) (Key, Added, error) {
	if space == Blobs {
		return s.addBlob(ctx, text)
	}
	k, l, err := parseLine(text)
	if err != nil {
		return k, "", err
	}
	if l.Redacted != "" {
		return k, "", ErrRedacted
	}
	if l.Raw != nil {
		l = l.readable(space)
	}
	added, err := s.addLine(ctx, space, k, l)
	if err != nil {
		return k, "", fmt.Errorf("add record %s: %w", k, err)
	}
	return k, added, nil
}

func (s *Store) addBlob(ctx context.Context, data []byte) (Key, Added, error) {
	had := Key(sha256.Sum256(data))
	if _, err := s.Blob(ctx, had); err == nil {
		return had, Same, nil
	}
	k, err := s.PutBlob(ctx, data)
	return k, New, err
}

func (s *Store) addLine(ctx context.Context, space Space, k Key, l line) (Added, error) {
	stored := l.stored(space)
	if stored.Raw == nil {
		return "", fmt.Errorf("the line has none of the %s", space)
	}
	if space == Completions && CompletionKey(*l.Model, l.Completion.Epoch, *l.Request) != k {
		return "", errors.New("its key is not that of its request")
	}
	return s.addStored(ctx, space, k, stored)
}

// addStored adds what a line stores, unless there is an intact record of k, with which it
// is compared then.
func (s *Store) addStored(ctx context.Context, space Space, k Key, l line) (Added, error) {
	had, fresh := messageOf(space), messageOf(space)
	_, err := s.load(ctx, space, k, had)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) {
		ops, err := s.lineOps(space, k, l)
		if err == nil {
			_, err = s.addOnce(ctx, space, k, ops, had)
		}
		return New, err
	}
	if err == nil {
		err = proto.Unmarshal(l.Raw, fresh)
	}
	if err != nil {
		return "", err
	}
	for _, m := range []proto.Message{had, fresh} { // when it was received does not count
		m.ProtoReflect().Clear(m.ProtoReflect().Descriptor().Fields().ByName("at"))
	}
	if proto.Equal(had, fresh) {
		return Same, nil
	}
	return Conflict, nil
}

// lineOps write what a line stores, of a completion with its request if the line has it.
func (s *Store) lineOps(space Space, k Key, l line) ([]kv.Op, error) {
	op, err := s.sealed(space.key(k[:]), l.Raw)
	if err != nil || l.RawRequest == nil {
		return []kv.Op{op}, err
	}
	request, err := s.sealed(Requests.key(k[:]), l.RawRequest)
	return []kv.Op{op, request}, err
}
