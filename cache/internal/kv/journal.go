package kv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// The journal keeps what waits for Badger's next sync, so that kill -9 loses
// none of it: a batch is written there the moment it arrives, without a sync,
// and what is written survives the process. Badger's own sync then makes it
// survive the machine, and only after that the batch is acknowledged.
//
// The file begins with a line that names the boot of the machine, as unsynced
// bytes mean nothing after the next one, padded to journalHeader bytes.
// Entries follow:
//
//	length of the body, CRC-32C of the body (4 bytes each, big endian)
//	body: the round (8 bytes), the guard if there is one, and the changes
//
// When everything in the journal has reached Badger a new round begins at the
// front and overwrites the old one. Reading ends where the round changes.
// Processes other than the owner have journals, too: see outbox.go.
const (
	journalFile   = "journal"
	journalHeader = 128
	journalFrame  = 8
	// journalRoom is the size at which writers wait for a new round.
	journalRoom = 16 << 20
	// journalReserve is how much of it has room on a full disk.
	journalReserve = 4 << 20
)

// journal is a file of batches that have yet to become durable elsewhere.
type journal struct {
	mu      sync.Mutex
	room    *sync.Cond // signalled when a round has ended
	file    *os.File
	size    int64 // where the next entry goes
	round   uint64
	pending int // batches of this round that have yet to become durable
}

func journalPath(dir string) string { return filepath.Join(dir, runDir, journalFile) }

func journalLine(boot string) []byte {
	line := make([]byte, journalHeader)
	copy(line, "noema journal 1 "+boot+"\n")
	return line
}

// openJournal begins an empty journal in the owner's place of dir.
func openJournal(dir string) (*journal, error) {
	if err := os.MkdirAll(filepath.Join(dir, runDir), 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	f, err := os.OpenFile(journalPath(dir), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	j, err := newJournal(f)
	if err == nil {
		err = blocks(f, journalReserve)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return j, nil
}

// newJournal begins a journal in the empty file f, which it closes on failure.
func newJournal(f *os.File) (*journal, error) {
	if _, err := f.Write(journalLine(bootID())); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), f.Close())
	}
	j := &journal{file: f, size: journalHeader, round: 1}
	j.room = sync.NewCond(&j.mu)
	return j, nil
}

// add writes b, which from then on survives kill -9. done ends its stay.
func (j *journal) add(b Batch) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(b)
}

// write is add for those who hold mu. It waits while the journal is full. An
// entry that is only half written is overwritten by the next one.
func (j *journal) write(b Batch) error {
	for j.pending > 0 && j.size > journalRoom {
		j.room.Wait()
	}
	entry := journalEntry(j.round, b)
	if _, err := j.file.WriteAt(entry, j.size); err != nil {
		return err
	}
	j.size += int64(len(entry))
	j.pending++
	return nil
}

// done notes that n batches are durable elsewhere, or were refused. A new round
// begins when all are.
func (j *journal) done(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.pending -= n; j.pending == 0 {
		j.size = journalHeader
		j.round++
		j.room.Broadcast()
	}
}

// close removes the journal, as everything in it has reached Badger.
func (j *journal) close() error {
	return errors.Join(os.Remove(j.file.Name()), j.file.Close())
}

// readJournal returns the changes that a killed owner of dir left behind, the
// last one for each key. There are none if the machine was started anew since.
func readJournal(dir string) ([]Op, error) {
	f, err := os.Open(journalPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	defer f.Close()
	batches, err := readBatches(f)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	var ops []Op
	last := map[string]int{}
	for _, b := range batches {
		for _, op := range b.Ops {
			if i, known := last[string(op.Key)]; known {
				ops[i] = op
				continue
			}
			last[string(op.Key)] = len(ops)
			ops = append(ops, op)
		}
	}
	return ops, nil
}

// readBatches reads a journal that its process left behind.
func readBatches(r io.Reader) ([]Batch, error) {
	raw, err := io.ReadAll(io.LimitReader(r, 2*journalRoom+4*MaxValue))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	boot := bootID()
	if boot == "" || !bytes.HasPrefix(raw, journalLine(boot)) {
		return nil, nil
	}
	return journalBatches(raw[journalHeader:]), nil
}
