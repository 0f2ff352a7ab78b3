package kv

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// What stands before a part of a batch in the body of an entry.
const (
	partSet byte = iota
	partDelete
	partGuardAbsent
	partGuardValue
)

// journalEntry is b as it stands in the journal; see journal.go.
func journalEntry(round uint64, b Batch) []byte {
	entry := make([]byte, journalFrame, journalFrame+sizeOf(b.Ops)+16*len(b.Ops)+8)
	entry = binary.BigEndian.AppendUint64(entry, round)
	part := func(kind byte, key, value []byte) {
		entry = append(binary.AppendUvarint(append(entry, kind), uint64(len(key))), key...)
		entry = append(binary.AppendUvarint(entry, uint64(len(value))), value...)
	}
	switch {
	case b.Guard == nil:
	case b.Guard.Absent:
		part(partGuardAbsent, b.Guard.Key, nil)
	default:
		part(partGuardValue, b.Guard.Key, b.Guard.Value)
	}
	for _, op := range b.Ops {
		if op.Delete {
			part(partDelete, op.Key, nil)
		} else {
			part(partSet, op.Key, op.Value)
		}
	}
	binary.BigEndian.PutUint32(entry, uint32(len(entry)-journalFrame))
	binary.BigEndian.PutUint32(entry[4:], crc32.Checksum(entry[journalFrame:], castagnoli))
	return entry
}

// journalBatches reads entries until one is unfinished or of another round.
func journalBatches(raw []byte) (batches []Batch) {
	round := []byte(nil)
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
		batches = append(batches, bodyBatch(body[8:]))
	}
	return batches
}

// bodyBatch reads the batch of one entry, whose checksum was right.
func bodyBatch(raw []byte) (b Batch) {
	next := func() []byte {
		n, width := binary.Uvarint(raw)
		if width <= 0 || n > uint64(len(raw)-width) {
			raw = nil
			return nil
		}
		p := raw[width:][:n]
		raw = raw[width:][n:]
		return p
	}
	for len(raw) > 0 {
		kind := raw[0]
		raw = raw[1:]
		key, value := next(), next()
		switch {
		case len(key) == 0:
		case kind == partGuardAbsent || kind == partGuardValue:
			b.Guard = &Guard{Key: key, Value: value, Absent: kind == partGuardAbsent}
		default:
			b.Ops = append(b.Ops, Op{Key: key, Value: value, Delete: kind == partDelete})
		}
	}
	return b
}
