package cache

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"google.golang.org/protobuf/proto"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
)

// Aged is a record that may be pruned.
type Aged struct {
	Key  Key
	At   time.Time // when it was received; zero for a blob, and if the record is damaged
	Size int64     // bytes as stored, with the request and the versions of a completion
}

// Aged yields the records of completions, tool results, seeds or blobs in the order of
// their keys.
func (s *Store) Aged(ctx context.Context, space Space) iter.Seq2[Aged, error] {
	return func(yield func(Aged, error) bool) {
		for rec, err := range s.scan(ctx, space, nil) {
			if err != nil {
				yield(Aged{}, err)
				return
			}
			a := Aged{Size: rec.Size}
			copy(a.Key[:], rec.Key[1:])
			if a.At, err = s.received(space, rec); err == nil && space == Completions {
				var more int64
				more, err = s.beside(ctx, a.Key)
				a.Size += more
			}
			if errors.Is(err, ErrCorrupt) {
				err = nil
			}
			if !yield(a, err) {
				return
			}
		}
	}
}

// received is when a record was.
func (s *Store) received(space Space, rec kv.Record) (time.Time, error) {
	m, dated := messageOf(space).(interface {
		proto.Message
		GetAt() *recordpb.Time
	})
	if !dated {
		return time.Time{}, nil
	}
	err := s.decode(space, rec, m)
	if at := m.GetAt(); at != nil {
		return time.Unix(at.GetSeconds(), int64(at.GetNanos())).UTC(), err
	}
	return time.Time{}, err
}

// beside is the size of what goes with a completion.
func (s *Store) beside(ctx context.Context, k Key) (n int64, err error) {
	for _, space := range []Space{Requests, Versions} {
		for rec, err := range s.pages(ctx, kv.Range{Prefix: space.key(k[:])}) {
			if err != nil {
				return 0, err
			}
			n += rec.Size
		}
	}
	return n, nil
}

// Delete removes records, of completions with their requests and versions. What is not
// there is as good as removed.
func (s *Store) Delete(ctx context.Context, space Space, all ...Key) error {
	const atOnce = 1000
	var b kv.Batch
	for i, k := range all {
		b.Ops = append(b.Ops, kv.Op{Key: space.key(k[:]), Delete: true})
		if space == Completions {
			b.Ops = append(b.Ops, kv.Op{Key: Requests.key(k[:]), Delete: true})
			for rec, err := range s.pages(ctx, kv.Range{Prefix: Versions.key(k[:])}) {
				if err != nil {
					return err
				}
				b.Ops = append(b.Ops, kv.Op{Key: rec.Key, Delete: true})
			}
		}
		if len(b.Ops) >= atOnce || i == len(all)-1 {
			if err := s.kv.Apply(ctx, b); err != nil {
				return fmt.Errorf("delete %s: %w", space, err)
			}
			b.Ops = nil
		}
	}
	return nil
}

// Shrink gives the space of what was deleted or replaced back to the disk. All other
// operations of all processes wait meanwhile.
func (s *Store) Shrink(ctx context.Context) error { return s.kv.Shrink(ctx) }
