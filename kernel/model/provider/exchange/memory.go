package exchange

import (
	"context"

	"golang.org/x/sync/semaphore"
)

const (
	// poolBytes bounds the replies of one model that are being read, together.
	poolBytes = 128 << 20
	stepBytes = 256 << 10 // what a reply takes from the pool at a time
)

// memory bounds the bytes of all replies that are in flight. A reply grows from
// the pool. When that is empty, replies wait, and one of them at a time grows to
// its end from a reserve for one: so there is always one that does not wait.
type memory struct {
	pool    *semaphore.Weighted
	reserve *semaphore.Weighted
}

func newMemory(pool int64) *memory {
	return &memory{semaphore.NewWeighted(pool), semaphore.NewWeighted(1)}
}

// share is what one reply has of the memory.
type share struct {
	of       *memory
	taken    int64 // from the pool
	reserved bool
}

// grow makes room for a reply of size bytes. It may wait, and then calls waits
// first.
func (s *share) grow(ctx context.Context, size int, waits func()) error {
	for !s.reserved && s.taken < int64(size) {
		if s.of.pool.TryAcquire(stepBytes) {
			s.taken += stepBytes
			continue
		}
		waits()
		if err := s.of.reserve.Acquire(ctx, 1); err != nil {
			return err
		}
		s.reserved = true
	}
	return nil
}

// release gives everything back.
func (s *share) release() {
	s.of.pool.Release(s.taken)
	if s.reserved {
		s.of.reserve.Release(1)
	}
	s.taken, s.reserved = 0, false
}
