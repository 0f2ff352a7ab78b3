package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// An outbox is the journal of a process that does not own the store: it keeps
// what the process asks of the owner until the owner has synced it. So an answer
// survives though this process and the owner are killed at once, or this one
// while the store has no owner. The process holds a lock on its outbox. The
// owner collects those that are unlocked, as their processes are dead: when it
// opens the store, before it greets a process and after one has gone.
//
// Only batches that may be repeated are kept. One with a guard may: what has been
// made already, or was overtaken by others, no longer meets its guard. The rest
// are of results that cost nothing to make again.
type outbox struct {
	dir string

	mu      sync.Mutex
	journal *journal // nil until something is kept
}

const (
	outboxPattern = "outbox-*"
	outboxTries   = 16
	// collectAtOnce is how many batches are collected at once, which then share
	// the waits for the disk.
	collectAtOnce = 256
)

// keep writes b until forget is called.
func (o *outbox) keep(b Batch) (forget func(), err error) {
	j, err := o.open()
	if err == nil {
		err = j.add(b)
	}
	if err != nil {
		return nil, fmt.Errorf("keep a record until the owner of the store has it: %w", err)
	}
	return func() { j.done(1) }, nil
}

func (o *outbox) open() (*journal, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.journal != nil {
		return o.journal, nil
	}
	f, err := lockedTemp(filepath.Join(o.dir, runDir))
	if err != nil {
		return nil, err
	}
	o.journal, err = newJournal(f)
	return o.journal, err
}

// close removes the outbox. What is in it has been answered by the owner, or
// given up.
func (o *outbox) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.journal == nil {
		return nil
	}
	j := o.journal
	o.journal = nil
	return j.close()
}

// lockedTemp makes an outbox. An owner may take it away before it is locked.
func lockedTemp(run string) (*os.File, error) {
	for range outboxTries {
		f, err := os.CreateTemp(run, outboxPattern)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isAt(f, f.Name()) {
			return f, nil
		}
		_ = f.Close()
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
	}
	return nil, errors.New("others take its file away")
}

// isAt reports whether f is the file at path.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// collect makes durable what dead processes left in their outboxes. What cannot
// be written now stays for the next time.
func (l *local) collect() {
	l.collecting.Lock()
	defer l.collecting.Unlock()
	paths, _ := filepath.Glob(filepath.Join(l.dir, runDir, outboxPattern)) // the pattern is well formed
	for _, path := range paths {
		_ = l.collectOne(path)
	}
}

func (l *local) collectOne(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // its process has just closed it
	}
	if err != nil {
		return err
	}
	defer f.Close()
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || err == nil && !isAt(f, path) {
		return nil // its process lives, or has just closed it
	}
	if err != nil {
		return err
	}
	batches, err := readBatches(f)
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(collectAtOnce)
	for _, b := range batches {
		group.Go(func() error {
			if err := l.apply(context.Background(), b); !errors.Is(err, ErrChanged) {
				return err
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return os.Remove(path)
}
