package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
	"noema/methods"
	"noema/methods/convert"
)

// Options are the settings of a Store. The zero value is fit for use.
type Options struct {
	// MinFree is how many bytes must be free on the disk for a write to be
	// tried; 0 means 256 MiB. Below it writes fail with ErrDiskFull. Less
	// than 64 MiB is not enough for what the database writes by itself.
	MinFree uint64
}

// Store is an open store. It is safe for concurrent use, and several
// processes may have the same directory open.
type Store struct {
	dir     string
	options Options
	kv      *kv.DB
	codec   *codec
	corrupt atomic.Int64

	looking sync.Mutex // guards the next two
	looked  time.Time
	refusal error
}

// Open opens the store in dir and creates it if there is none. dir must be a
// store, empty or absent. The context bounds the wait for another process.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	c, err := newCodec()
	if err != nil {
		return nil, err
	}
	db, err := kv.Open(ctx, dir, kv.Options{MinFree: opts.MinFree})
	if err != nil {
		return nil, err
	}
	return &Store{dir: dir, options: opts, kv: db, codec: c}, nil
}

// Dir is the directory of the store.
func (s *Store) Dir() string { return s.dir }

// Refusal is why a write would be refused now, wrapping ErrDiskFull or ErrReadOnly,
// or nil. It is looked at ten times a second.
func (s *Store) Refusal() error {
	s.looking.Lock()
	defer s.looking.Unlock()
	if now := time.Now(); now.Sub(s.looked) > time.Second/10 {
		s.refusal, s.looked = kv.Refusal(s.dir, kv.Options{MinFree: s.options.MinFree}), now
	}
	return s.refusal
}

// Close gives the store up; another process that has it open takes over.
// Running operations finish first, later ones return ErrClosed.
func (s *Store) Close() error { return s.kv.Close() }

// Completion returns the completion under k.
func (s *Store) Completion(ctx context.Context, k Key) (CompletionRecord, error) {
	return fetch[CompletionRecord, recordpb.Completion](ctx, s, Completions, k)
}

// Request returns the request that the completion under k answers, and the
// model that it was put to.
func (s *Store) Request(ctx context.Context, k Key) (methods.Request, methods.ModelID, error) {
	r, err := fetch[storedRequest, recordpb.Request](ctx, s, Requests, k)
	return r.Request, r.Model, err
}

// AddCompletion stores a completion and its request in one write unless an
// intact completion is there already, and returns the one that is stored. So
// two processes that fetched the same completion at once go on with the same
// one, and both can be replayed.
func (s *Store) AddCompletion(ctx context.Context, k Key, r methods.Request, id methods.ModelID, c CompletionRecord) (CompletionRecord, error) {
	ops, err := s.completionOps(k, r, id, c)
	if err != nil {
		return CompletionRecord{}, err
	}
	p := new(recordpb.Completion)
	if had, err := s.addOnce(ctx, Completions, k, ops, p); !had {
		return c, err
	}
	return convert.From[CompletionRecord](p, nil), nil
}

// ReplaceCompletion stores a completion over the one under k, which it keeps
// as a version. Replacing a completion by an equal record does nothing.
func (s *Store) ReplaceCompletion(ctx context.Context, k Key, r methods.Request, id methods.ModelID, c CompletionRecord) error {
	ops, err := s.completionOps(k, r, id, c)
	if err != nil {
		return err
	}
	for {
		b := kv.Batch{Ops: ops, Paid: true}
		old, err := s.kv.Get(ctx, ops[0].Key)
		switch {
		case errors.Is(err, kv.ErrNotFound):
			b.Guard = &kv.Guard{Key: ops[0].Key, Absent: true}
		case errors.Is(err, kv.ErrDamaged): // nothing is left to keep
		case err != nil:
			return err
		case bytes.Equal(old, ops[0].Value):
			return nil
		default:
			b.Guard = &kv.Guard{Key: ops[0].Key, Value: old}
			version, err := s.versionOp(k, old)
			if err != nil {
				return err
			}
			b.Ops = append(version, ops...)
		}
		if err := s.kv.Apply(ctx, b); !errors.Is(err, kv.ErrChanged) {
			return err
		}
	}
}

// versionOp keeps the stored completion env as a version of k, ordered by
// when it was received. It is empty if env is corrupt.
func (s *Store) versionOp(k Key, env []byte) ([]kv.Op, error) {
	payload, err := s.codec.unseal(Completions.key(k[:]), env)
	if err != nil {
		return nil, nil
	}
	p := new(recordpb.Completion)
	if err := proto.Unmarshal(payload, p); err != nil {
		return nil, nil
	}
	sum := sha256.Sum256(payload)
	received := convert.From[CompletionRecord](p, nil).At
	nanos := uint64(received.UnixNano()) ^ 1<<63 // in byte order, before 1970 too
	at := binary.BigEndian.AppendUint64(nil, nanos)
	op, err := s.sealed(Versions.key(k[:], at, sum[:8]), payload)
	return []kv.Op{op}, err
}

// CompletionVersions returns the completions that ReplaceCompletion has
// replaced under k, oldest first. The present one is not among them.
func (s *Store) CompletionVersions(ctx context.Context, k Key) ([]CompletionRecord, error) {
	var versions []CompletionRecord
	for rec, err := range s.scan(ctx, Versions, k[:]) {
		if err != nil {
			return nil, err
		}
		p := new(recordpb.Completion)
		if err := s.decode(Versions, rec, p); err != nil {
			return nil, err
		}
		versions = append(versions, convert.From[CompletionRecord](p, nil))
	}
	return versions, nil
}

// ToolResult returns the tool result under k.
func (s *Store) ToolResult(ctx context.Context, k Key) (ToolRecord, error) {
	return fetch[ToolRecord, recordpb.ToolResult](ctx, s, ToolResults, k)
}

// PutToolResult stores a tool result over whatever is under k.
func (s *Store) PutToolResult(ctx context.Context, k Key, r ToolRecord) error {
	op, err := s.encoded(ToolResults.key(k[:]), convert.To[recordpb.ToolResult](r, nil))
	if err != nil {
		return err
	}
	return s.kv.Apply(ctx, kv.Batch{Ops: []kv.Op{op}})
}

// Seed returns the method seed under k.
func (s *Store) Seed(ctx context.Context, k Key) (SeedRecord, error) {
	return fetch[SeedRecord, recordpb.Seed](ctx, s, Seeds, k)
}

// PutSeed stores a method seed unless an intact one is there already, and
// returns the one that is stored: of two that were built at once, all use the
// same.
func (s *Store) PutSeed(ctx context.Context, k Key, r SeedRecord) (SeedRecord, error) {
	op, err := s.encoded(Seeds.key(k[:]), convert.To[recordpb.Seed](r, nil))
	if err != nil {
		return SeedRecord{}, err
	}
	p := new(recordpb.Seed)
	if had, err := s.addOnce(ctx, Seeds, k, []kv.Op{op}, p); !had {
		return r, err
	}
	return convert.From[SeedRecord](p, nil), nil
}

// Blob returns the bytes whose SHA-256 is k.
func (s *Store) Blob(ctx context.Context, k Key) ([]byte, error) {
	key := Blobs.key(k[:])
	data, err := s.payload(ctx, Blobs, key)
	if err == nil {
		err = s.check(Blobs, key, data)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// PutBlob stores data under its SHA-256, which it returns. At most 32 MiB
// after compression fit.
func (s *Store) PutBlob(ctx context.Context, data []byte) (Key, error) {
	k := Key(sha256.Sum256(data))
	if _, err := s.Blob(ctx, k); err == nil {
		return k, nil
	}
	op, err := s.sealed(Blobs.key(k[:]), data)
	if err != nil {
		return Key{}, err
	}
	return k, s.kv.Apply(ctx, kv.Batch{Ops: []kv.Op{op}})
}

func (s *Store) completionOps(k Key, r methods.Request, id methods.ModelID, c CompletionRecord) ([]kv.Op, error) {
	completion, err := s.encoded(Completions.key(k[:]), convert.To[recordpb.Completion](c, nil))
	if err != nil {
		return nil, err
	}
	request, err := s.encoded(Requests.key(k[:]), convert.To[recordpb.Request](storedRequest{id, r}, nil))
	return []kv.Op{completion, request}, err
}

// message is a generated message M.
type message[M any] interface {
	*M
	proto.Message
}

// fetch returns the record of k, which is stored as an M.
func fetch[R, M any, P message[M]](ctx context.Context, s *Store, space Space, k Key) (R, error) {
	p := new(M)
	if _, err := s.load(ctx, space, k, P(p)); err != nil {
		var none R
		return none, err
	}
	return convert.From[R](p, nil), nil
}

// addOnce applies ops, the first of which sets the record of k, unless an intact
// record is there: that it reads into p.
func (s *Store) addOnce(ctx context.Context, space Space, k Key, ops []kv.Op, p proto.Message) (had bool, err error) {
	b := kv.Batch{Ops: ops, Guard: &kv.Guard{Key: ops[0].Key, Absent: true}, Paid: true}
	for {
		if err := s.kv.Apply(ctx, b); !errors.Is(err, kv.ErrChanged) {
			return false, err
		}
		env, err := s.load(ctx, space, k, p)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, ErrNotFound):
			b.Guard = &kv.Guard{Key: ops[0].Key, Absent: true}
		case errors.Is(err, ErrCorrupt):
			b.Guard = &kv.Guard{Key: ops[0].Key, Value: env}
		default:
			return false, err
		}
	}
}

// load reads the record of k into p. It returns the envelope also where that
// is corrupt.
func (s *Store) load(ctx context.Context, space Space, k Key, p proto.Message) ([]byte, error) {
	key := space.key(k[:])
	env, err := s.get(ctx, space, key)
	if err != nil {
		return nil, err
	}
	return env, s.decode(space, kv.Record{Key: key, Value: env}, p)
}

func (s *Store) decode(space Space, rec kv.Record, p proto.Message) error {
	payload, err := s.open(space, rec.Key, rec.Value)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(payload, p); err != nil {
		return s.corrupted(space, rec.Key, err)
	}
	return nil
}

// get returns the envelope under the full key.
func (s *Store) get(ctx context.Context, space Space, key []byte) ([]byte, error) {
	env, err := s.kv.Get(ctx, key)
	switch {
	case errors.Is(err, kv.ErrNotFound):
		return nil, ErrNotFound
	case errors.Is(err, kv.ErrDamaged):
		return nil, s.corrupted(space, key, err)
	}
	return env, err
}

// payload is what is stored under a full key, out of its envelope.
func (s *Store) payload(ctx context.Context, space Space, key []byte) ([]byte, error) {
	env, err := s.get(ctx, space, key)
	if err != nil {
		return nil, err
	}
	return s.open(space, key, env)
}

// open returns the payload of an envelope.
func (s *Store) open(space Space, key, env []byte) ([]byte, error) {
	payload, err := s.codec.unseal(key, env)
	if err != nil && !errors.Is(err, ErrNewerFormat) {
		return nil, s.corrupted(space, key, err)
	}
	return payload, err
}

func (s *Store) corrupted(space Space, key []byte, cause error) error {
	s.corrupt.Add(1)
	return &CorruptError{Space: space, Key: displayKey(space, key), Err: cause}
}

// displayKey is a full key as people write it.
func displayKey(space Space, key []byte) string {
	switch space {
	case Runs:
		return string(key[1:])
	case Trials:
		if run, trial, ok := splitTrial(key); ok {
			return run + "/" + trial
		}
	}
	return hex.EncodeToString(key[1:])
}

func (s *Store) encoded(key []byte, m proto.Message) (kv.Op, error) {
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return kv.Op{}, fmt.Errorf("encode record: %w", err)
	}
	return s.sealed(key, payload)
}

func (s *Store) sealed(key, payload []byte) (kv.Op, error) {
	env, err := s.codec.seal(key, payload)
	return kv.Op{Key: key, Value: env}, err
}
