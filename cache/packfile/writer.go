package packfile

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// batchBytes is how much text a batch of lines holds before it is compressed: enough to
// compress well, and little enough to hold in memory.
const batchBytes = 4 << 20

// Writer writes a pack to a stream. It is for one goroutine. After an error the stream
// holds no pack.
type Writer struct {
	zip     *zip.Writer
	enc     *zstd.Encoder
	entries []Entry
	names   map[string]bool // in lower case: some systems know no other
	like    *comparison     // of a writer that only compares; see [File.Again]
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) (*Writer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithWindowSize(batchBytes))
	if err != nil {
		return nil, fmt.Errorf("prepare compression: %w", err)
	}
	return &Writer{zip: zip.NewWriter(w), enc: enc, names: map[string]bool{}}, nil
}

// Add writes a file. Where its name ends in .zst, data is compressed.
func (w *Writer) Add(name string, data []byte) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if low := strings.ToLower(name); w.names[low] {
		return fmt.Errorf("entry %q: it is in the pack already", name)
	} else {
		w.names[low] = true
	}
	if w.like != nil {
		if err := w.like.entry(len(w.entries), name, data); err != nil {
			return err
		}
	}
	if strings.HasSuffix(name, compressed) {
		data = w.enc.EncodeAll(data, nil)
	}
	sum := sha256.Sum256(data)
	w.entries = append(w.entries, Entry{Name: name, Size: int64(len(data)), SHA256: hex.EncodeToString(sum[:])})
	return w.write(name, data)
}

func (w *Writer) write(name string, data []byte) error {
	entry, err := w.zip.CreateRaw(header(name, uint64(len(data)), crc32.ChecksumIEEE(data)))
	if err != nil {
		return fmt.Errorf("write entry %q: %w", name, err)
	}
	_, err = entry.Write(data)
	return err
}

// Names lists what was written so far, in order.
func (w *Writer) Names() []string {
	names := make([]string, len(w.entries))
	for i, e := range w.entries {
		names[i] = e.Name
	}
	return names
}

// Close writes the manifest and returns the digest of the pack: the SHA-256 of its
// manifest, in hex, which covers all entries. It does not close the stream.
func (w *Writer) Close() (string, error) {
	raw, err := encodeManifest(manifest{Format: Format, Entries: w.entries})
	if err != nil {
		return "", err
	}
	if err := w.write(manifestName, raw); err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), w.zip.Close()
}

// Lines returns a writer of lines, such as records, into a folder of the pack. No other
// entry may be added before it is closed.
func (w *Writer) Lines(folder string) *Lines { return &Lines{w: w, folder: folder} }

// Lines writes batches of lines.
type Lines struct {
	w      *Writer
	folder string
	batch  []byte
	n      int
}

// Add writes a line, which has no line's end in it but perhaps one at its end.
func (l *Lines) Add(line []byte) error {
	l.batch = append(l.batch, line...)
	if len(line) == 0 || line[len(line)-1] != '\n' {
		l.batch = append(l.batch, '\n')
	}
	if len(l.batch) < batchBytes {
		return nil
	}
	return l.Close()
}

// Close writes what is left. Without lines it has no entry.
func (l *Lines) Close() error {
	if len(l.batch) == 0 {
		return nil
	}
	err := l.w.Add(batchName(l.folder, l.n), l.batch)
	l.batch = l.batch[:0]
	l.n++
	return err
}
