package kv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A value log is a header of 20 bytes and then entries:
//
//	meta byte, user meta byte, uvarint key length, uvarint value length,
//	uvarint expiry, key, value, CRC-32C of all of it (big endian)
//
// When Badger opens a directory it cuts the newest value log off at the first
// entry whose checksum is wrong. After a crash that is right: what follows is
// an unfinished write. But one flipped byte in a finished entry would take all
// later records of that log with it, up to 64 MiB of paid calls. mend
// therefore turns a damaged entry that has intact ones after it into a filler
// of the same length with a correct checksum: Badger then keeps the rest, and
// the damaged record alone is lost (its envelope's checksum tells).

const (
	logHeader   = 20 // key id (8 bytes, 0 without encryption) and initial vector
	logMinKey   = 1 + 8
	logMaxKey   = 1 << 16
	crcLen      = crc32.Size
	logMinEntry = 5 + logMinKey + crcLen
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// mendLogs prepares the logs in Badger's directory data for opening.
func mendLogs(data string) error {
	entries, err := os.ReadDir(data)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mend store: %w", err)
	}
	newest := ""
	for _, e := range entries { // by name: numbers of equal width, so by age
		path := filepath.Join(data, e.Name())
		if ext := filepath.Ext(path); ext != ".vlog" && ext != ".mem" {
			continue
		}
		kept, err := mendHeader(path)
		if err != nil {
			return fmt.Errorf("mend store: %w", err)
		}
		if kept && filepath.Ext(path) == ".vlog" {
			newest = path
		}
	}
	if newest == "" {
		return nil
	}
	if err := mendLog(newest); err != nil {
		return fmt.Errorf("mend store: %w", err)
	}
	return nil
}

// mendHeader repairs what in a log's header would keep Badger from opening: a
// key id that is not 0, which it must be as noema never encrypts, and a file
// too short to have a header, which holds nothing and is removed.
func mendHeader(path string) (kept bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() < logHeader {
		return false, os.Remove(path)
	}
	var id [8]byte
	if _, err := f.ReadAt(id[:], 0); err != nil {
		return false, err
	}
	if id != [8]byte{} {
		_, err = f.WriteAt(make([]byte, len(id)), 0)
	}
	return true, err
}

// mendLog replaces the damaged entries of a value log that have intact ones
// after them.
func mendLog(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := writtenSize(f, info.Size())
	data, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("read %q: %w", path, err)
	}
	defer func() { err = errors.Join(err, unix.Munmap(data)) }()
	gaps := damagedSpans(data)
	for _, g := range gaps {
		if _, err := f.WriteAt(filler(g.len), int64(g.off)); err != nil {
			return err
		}
	}
	if len(gaps) > 0 {
		return f.Sync()
	}
	return nil
}

// writtenSize is the size of a log up to its last written byte: on a file system in memory, a look
// at what was never written takes space.
func writtenSize(f *os.File, size int64) int64 {
	end := int64(logHeader)
	for {
		data, err := unix.Seek(int(f.Fd()), end, unix.SEEK_DATA)
		if err != nil {
			if errors.Is(err, unix.ENXIO) { // nothing follows
				return min(end, size)
			}
			return size
		}
		if end, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE); err != nil {
			return size
		}
	}
}

// span is a part of a value log.
type span struct{ off, len int }

// damagedSpans finds what lies between intact entries of a value log.
func damagedSpans(data []byte) []span {
	var gaps []span
	for off := logHeader; off < len(data); {
		if n := entryLen(data[off:]); n > 0 {
			off += n
			continue
		}
		next := nextEntry(data, off+1)
		if next < 0 {
			break
		}
		if next-off >= logMinEntry { // always so, unless an entry holds entries
			gaps = append(gaps, span{off, next - off})
		}
		off = next
	}
	return gaps
}

// entryLen is the length of the intact entry that b begins with, or 0.
func entryLen(b []byte) int {
	n := entrySpan(b)
	if n == 0 {
		return 0
	}
	if crc32.Checksum(b[:n-crcLen], castagnoli) != binary.BigEndian.Uint32(b[n-crcLen:n]) {
		return 0
	}
	return n
}

// entrySpan is the length of the entry that b begins with by what its header
// says, or 0 if that is not a header of ours: noema uses neither meta bytes nor
// expiry in a value log.
func entrySpan(b []byte) int {
	if len(b) < logMinEntry || b[0] != 0 || b[1] != 0 {
		return 0
	}
	pos := 2
	klen, n := binary.Uvarint(b[pos:])
	if n <= 0 || klen < logMinKey || klen > logMaxKey {
		return 0
	}
	pos += n
	vlen, n := binary.Uvarint(b[pos:])
	if n <= 0 || vlen > MaxValue+envelopeRoom {
		return 0
	}
	pos += n
	if pos >= len(b) || b[pos] != 0 {
		return 0
	}
	span := pos + 1 + int(klen) + int(vlen) + crcLen
	if span > len(b) {
		return 0
	}
	return span
}

// envelopeRoom is slack for what a value is wrapped in.
const envelopeRoom = 4096

// nextEntry is the offset of the first intact entry at or after off, or -1.
func nextEntry(data []byte, off int) int {
	// After a crash up to 128 MiB of zeros follow the last entry.
	data = trimZeros(data, off)
	for off < len(data) {
		i := bytes.Index(data[off:], []byte{0, 0})
		if i < 0 {
			return -1
		}
		off += i
		if entryLen(data[off:]) > 0 {
			return off
		}
		off++
	}
	return -1
}

// trimZeros cuts blocks of zeros off the end of data, but nothing before off.
func trimZeros(data []byte, off int) []byte {
	var zeros [1 << 16]byte
	for len(data)-len(zeros) >= off && bytes.Equal(data[len(data)-len(zeros):], zeros[:]) {
		data = data[:len(data)-len(zeros)]
	}
	return data
}

// filler is an entry of exactly n bytes. No table points at its start with a
// meaning, except that of the damaged entry that it replaces.
func filler(n int) []byte {
	for klen := logMinKey; ; klen++ {
		b := append(make([]byte, 2, n), binary.AppendUvarint(nil, uint64(klen))...)
		for width := 1; width <= binary.MaxVarintLen32; width++ {
			vlen := n - len(b) - width - 1 - klen - crcLen
			size := binary.AppendUvarint(nil, uint64(max(vlen, 0)))
			if vlen < 0 || len(size) != width {
				continue
			}
			b = append(b, size...)
			b = append(b, make([]byte, n-len(b)-crcLen)...)
			return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
		}
	}
}
