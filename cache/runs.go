package cache

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
	"noema/methods/convert"
)

// MaxID is the longest id of a run or trial, in bytes.
const MaxID = 1024

// Run returns the bytes of the run id.
func (s *Store) Run(ctx context.Context, id string) ([]byte, error) {
	return s.payload(ctx, Runs, Runs.key([]byte(id)))
}

// PutRun stores the bytes of the run id over what is there. It is durable
// when PutRun returns.
func (s *Store) PutRun(ctx context.Context, id string, data []byte) error {
	if err := checkID("run", id); err != nil {
		return err
	}
	return s.putBytes(ctx, Runs.key([]byte(id)), data)
}

// Runs yields all runs in the order of their ids. A corrupt run is yielded
// with its id and a *CorruptError, and the iteration goes on; any other error
// ends it.
func (s *Store) Runs(ctx context.Context) iter.Seq2[Entry, error] {
	return s.entries(ctx, Runs, nil)
}

// DeleteRun removes the run id and its trials, if it exists. The run itself goes
// last, so that an interrupted call can be repeated.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	if err := checkID("run", id); err != nil {
		return err
	}
	prefix := trialKey(id, "")
	for {
		page, err := s.kv.Scan(ctx, kv.Range{Prefix: prefix})
		if err != nil {
			return s.tableError(err)
		}
		if len(page.Records) == 0 {
			break
		}
		var b kv.Batch
		for _, rec := range page.Records {
			b.Ops = append(b.Ops, kv.Op{Key: rec.Key, Delete: true})
		}
		if err := s.kv.Apply(ctx, b); err != nil {
			return err
		}
	}
	return s.kv.Apply(ctx, kv.Batch{Ops: []kv.Op{{Key: Runs.key([]byte(id)), Delete: true}}})
}

// Trial returns the bytes of a trial of the given run.
func (s *Store) Trial(ctx context.Context, run, trial string) ([]byte, error) {
	return s.payload(ctx, Trials, trialKey(run, trial))
}

// PutTrial stores the bytes of a trial over what is there. It is durable when
// PutTrial returns.
func (s *Store) PutTrial(ctx context.Context, run, trial string, data []byte) error {
	if err := errors.Join(checkID("run", run), checkID("trial", trial)); err != nil {
		return err
	}
	return s.putBytes(ctx, trialKey(run, trial), data)
}

// Trials yields the trials of a run in the byte order of their ids. Corrupt
// ones are yielded as Runs does.
func (s *Store) Trials(ctx context.Context, run string) iter.Seq2[Entry, error] {
	return s.entries(ctx, Trials, trialKey(run, "")[1:])
}

// Requests yields all recorded requests in the order of their keys, for
// finding the one nearest to a request that has no recorded answer. Corrupt
// ones are yielded as Runs does, with their key.
func (s *Store) Requests(ctx context.Context) iter.Seq2[RequestRecord, error] {
	return func(yield func(RequestRecord, error) bool) {
		for rec, err := range s.scan(ctx, Requests, nil) {
			if err != nil {
				yield(RequestRecord{}, err)
				return
			}
			p := new(recordpb.Request)
			err := s.decode(Requests, rec, p)
			r := convert.From[storedRequest](p, nil)
			var k Key
			copy(k[:], rec.Key[1:])
			if !yield(RequestRecord{k, r.Model, r.Request}, err) {
				return
			}
		}
	}
}

// trialKey is the full key of a trial. The length of the run's id keeps the
// trials of run "a" and those of run "ab" apart.
func trialKey(run, trial string) []byte {
	n := binary.BigEndian.AppendUint16(nil, uint16(len(run)))
	return Trials.key(n, []byte(run), []byte(trial))
}

// splitTrial is the inverse of trialKey.
func splitTrial(key []byte) (run, trial string, ok bool) {
	if len(key) < 3 {
		return "", "", false
	}
	n := int(binary.BigEndian.Uint16(key[1:]))
	if len(key) < 3+n {
		return "", "", false
	}
	return string(key[3 : 3+n]), string(key[3+n:]), true
}

func checkID(kind, id string) error {
	if id == "" {
		return fmt.Errorf("write %s: the id is empty", kind)
	}
	if len(id) > MaxID {
		return fmt.Errorf("write %s %.40q…: the id has %d bytes, but the limit is %d", kind, id, len(id), MaxID)
	}
	return nil
}

func (s *Store) putBytes(ctx context.Context, key, data []byte) error {
	op, err := s.sealed(key, data)
	if err != nil {
		return err
	}
	return s.kv.Apply(ctx, kv.Batch{Ops: []kv.Op{op}})
}

func (s *Store) entries(ctx context.Context, space Space, prefix []byte) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for rec, err := range s.scan(ctx, space, prefix) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			data, err := s.open(space, rec.Key, rec.Value)
			if !yield(Entry{ID: string(rec.Key[1+len(prefix):]), Data: data}, err) {
				return
			}
		}
	}
}
