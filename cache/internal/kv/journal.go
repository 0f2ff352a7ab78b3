package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
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
//	body: the round (8 bytes) and the changes
//
// When everything in the journal has reached Badger a new round begins at the
// front and overwrites the old one. Reading ends where the round changes.
const (
	journalFile   = "journal"
	journalHeader = 128
	journalFrame  = 8
	// journalRoom is the size at which writers wait for a new round.
	journalRoom = 16 << 20
)

type journal struct {
	file  *os.File
	size  int64 // where the next entry goes
	round uint64
}

func journalPath(dir string) string { return filepath.Join(dir, runDir, journalFile) }

func journalLine(boot string) []byte {
	line := make([]byte, journalHeader)
	copy(line, "noema journal 1 "+boot+"\n")
	return line
}

// newJournal begins an empty journal in dir.
func newJournal(dir string) (*journal, error) {
	if err := os.MkdirAll(filepath.Join(dir, runDir), 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	f, err := os.OpenFile(journalPath(dir), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if _, err := f.Write(journalLine(bootID())); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), f.Close())
	}
	return &journal{file: f, size: journalHeader, round: 1}, nil
}

// add writes ops. An entry that is only half written is overwritten by the
// next one.
func (j *journal) add(ops []Op) error {
	body := binary.BigEndian.AppendUint64(make([]byte, journalFrame, journalFrame+sizeOf(ops)+16*len(ops)+8), j.round)
	for _, op := range ops {
		kind := byte(0)
		if op.Delete {
			kind, op.Value = 1, nil
		}
		body = append(binary.AppendUvarint(append(body, kind), uint64(len(op.Key))), op.Key...)
		body = append(binary.AppendUvarint(body, uint64(len(op.Value))), op.Value...)
	}
	binary.BigEndian.PutUint32(body, uint32(len(body)-journalFrame))
	binary.BigEndian.PutUint32(body[4:], crc32.Checksum(body[journalFrame:], castagnoli))
	if _, err := j.file.WriteAt(body, j.size); err != nil {
		return err
	}
	j.size += int64(len(body))
	return nil
}

// restart begins a new round: everything in the journal has reached Badger.
func (j *journal) restart() {
	j.size = journalHeader
	j.round++
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
	raw, err := io.ReadAll(io.LimitReader(f, 2*journalRoom+MaxValue))
	if err != nil {
		return nil, fmt.Errorf("open store: read its journal: %w", err)
	}
	boot := bootID()
	if boot == "" || !bytes.HasPrefix(raw, journalLine(boot)) {
		return nil, nil
	}
	return journalOps(raw[journalHeader:]), nil
}

// journalOps reads entries until one is unfinished or of another round.
func journalOps(raw []byte) (ops []Op) {
	last, round := map[string]int{}, []byte(nil)
	for len(raw) >= journalFrame {
		size, sum := binary.BigEndian.Uint32(raw), binary.BigEndian.Uint32(raw[4:])
		raw = raw[journalFrame:]
		if size < 8 || int64(size) > int64(len(raw)) || crc32.Checksum(raw[:size], castagnoli) != sum {
			break
		}
		body := raw[:size]
		if round != nil && !bytes.Equal(round, body[:8]) {
			break
		}
		round, raw = body[:8], raw[size:]
		for _, op := range bodyOps(body[8:]) {
			if i, known := last[string(op.Key)]; known {
				ops[i] = op
				continue
			}
			last[string(op.Key)] = len(ops)
			ops = append(ops, op)
		}
	}
	return ops
}

// bodyOps reads the changes of one entry, whose checksum was right.
func bodyOps(b []byte) (ops []Op) {
	part := func() []byte {
		n, width := binary.Uvarint(b)
		if width <= 0 || n > uint64(len(b)-width) {
			b = nil
			return nil
		}
		p := b[width:][:n]
		b = b[width:][n:]
		return p
	}
	for len(b) > 0 {
		op := Op{Delete: b[0] == 1}
		b = b[1:]
		op.Key = part()
		op.Value = part()
		if len(op.Key) > 0 {
			ops = append(ops, op)
		}
	}
	return ops
}
