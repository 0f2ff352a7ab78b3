package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/proto"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
)

// Stats says what a store holds.
type Stats struct {
	Dir       string
	Owner     bool // this process owns the store; otherwise another one serves it
	Spaces    []SpaceStats
	DiskBytes int64  // allocated by all of its files
	FreeBytes uint64 // available on its disk
	Corrupt   int64  // corrupt records that this Store has met since it was opened
}

// SpaceStats says what one space holds.
type SpaceStats struct {
	Space   Space
	Entries int
	Bytes   int64 // keys and records as stored, compressed
}

// Stats counts all records.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	usage, err := s.kv.Usage(ctx)
	if err != nil {
		return Stats{}, err
	}
	st := Stats{
		Dir:       s.dir,
		Owner:     s.kv.Owner(),
		DiskBytes: usage.DiskBytes,
		FreeBytes: usage.FreeBytes,
		Corrupt:   s.corrupt.Load(),
	}
	for _, space := range Spaces() {
		sum := SpaceStats{Space: space}
		for rec, err := range s.pages(ctx, kv.Range{Prefix: space.key(), Limit: 4096}) {
			if err != nil {
				return Stats{}, err
			}
			sum.Entries++
			sum.Bytes += rec.Size
		}
		st.Spaces = append(st.Spaces, sum)
	}
	return st, nil
}

// Report is what Verify found.
type Report struct {
	Checked int            // records that were read
	Corrupt []CorruptError // those that are damaged, by space and key
	Tables  []string       // damaged files of the database below; a store that has some will not open again
}

// OK reports whether nothing is damaged.
func (r Report) OK() bool { return len(r.Corrupt) == 0 && len(r.Tables) == 0 }

// Verify reads every record and checks its checksum, its content and, for
// blobs, its digest.
func (s *Store) Verify(ctx context.Context) (Report, error) {
	tables, err := s.kv.Check(ctx)
	if err != nil {
		return Report{}, err
	}
	report := Report{Tables: tables}
	for _, space := range Spaces() {
		for rec, err := range s.scan(ctx, space, nil) {
			if err != nil {
				return report, err
			}
			report.Checked++
			err := s.verify(space, rec)
			if c, ok := errors.AsType[*CorruptError](err); ok {
				report.Corrupt = append(report.Corrupt, *c)
			} else if err != nil {
				return report, fmt.Errorf("verify %s %s: %w", space, displayKey(space, rec.Key), err)
			}
		}
	}
	return report, nil
}

// verify checks one record.
func (s *Store) verify(space Space, rec kv.Record) error {
	payload, err := s.open(space, rec.Key, rec.Value)
	if err != nil {
		return err
	}
	return s.check(space, rec.Key, payload)
}

// check checks the content of a record beyond its checksum.
func (s *Store) check(space Space, key, payload []byte) (err error) {
	switch space {
	case Blobs:
		if sum := sha256.Sum256(payload); !bytes.Equal(sum[:], key[1:]) {
			err = errors.New("SHA-256 mismatch")
		}
	case Embeddings:
		_, err = vectorFrom(payload)
	}
	if m := messageOf(space); m != nil {
		err = proto.Unmarshal(payload, m)
	}
	if err != nil {
		return s.corrupted(space, key, err)
	}
	return nil
}

// messageOf is what the records of a space decode into; nil for plain bytes.
func messageOf(space Space) proto.Message {
	switch space {
	case Completions, Versions:
		return new(recordpb.Completion)
	case Requests:
		return new(recordpb.Request)
	case ToolResults:
		return new(recordpb.ToolResult)
	case Seeds:
		return new(recordpb.Seed)
	}
	return nil
}

// scan yields the records of a space whose keys begin with prefix.
func (s *Store) scan(ctx context.Context, space Space, prefix []byte) iter.Seq2[kv.Record, error] {
	return s.pages(ctx, kv.Range{Prefix: space.key(prefix), Values: true})
}

// pages yields the records of r. Each page is as the store was at one moment;
// records that are written meanwhile may or may not appear.
func (s *Store) pages(ctx context.Context, r kv.Range) iter.Seq2[kv.Record, error] {
	return func(yield func(kv.Record, error) bool) {
		for {
			page, err := s.kv.Scan(ctx, r)
			if err != nil {
				yield(kv.Record{}, s.tableError(err))
				return
			}
			for _, rec := range page.Records {
				if !yield(rec, nil) {
					return
				}
			}
			if !page.More || len(page.Records) == 0 {
				return
			}
			r.After = page.Records[len(page.Records)-1].Key
		}
	}
}

// tableError counts damage that no single record can be blamed for.
func (s *Store) tableError(err error) error {
	if errors.Is(err, kv.ErrDamaged) {
		s.corrupt.Add(1)
		return fmt.Errorf("read store %q: %w", s.dir, err)
	}
	return err
}
