package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"noema/kernel/base/files"
)

// errChanged is an error of the machine and no result of a tool: recorded, it
// would stand for the log's content for ever.
var errChanged = errors.New("the log changed or disappeared after the task was opened")

// file is a log on disk as it was when the task was opened.
type file struct {
	path string
	was  os.FileInfo
}

// open returns the file's content, which fails when it is closed if it changed
// meanwhile: the task's digest, under which results are kept, is of the old content.
func (f file) open() (io.ReadCloser, error) {
	r, err := files.Open(f.path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errChanged, err)
	}
	s := steady{r, f.was}
	if err := s.same(); err != nil {
		r.Close()
		return nil, err
	}
	return s, nil
}

// steady is a file that must not change while it is read.
type steady struct {
	*os.File
	was os.FileInfo
}

// Close implements [io.Closer].
func (s steady) Close() error { return errors.Join(s.same(), s.File.Close()) }

func (s steady) same() error {
	now, err := s.Stat()
	if err == nil && (now.Size() != s.was.Size() || !now.ModTime().Equal(s.was.ModTime())) {
		err = fmt.Errorf("%s changed during the run: work on a copy, or run again", filepath.Base(s.Name()))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errChanged, err)
	}
	return nil
}

// packing is a way in which logs are compressed.
type packing struct{ name, magic, cure string } // the cure where it is refused

func packings() []packing {
	return []packing{
		{name: "gzip", magic: files.Gzip},
		{name: "bzip2", magic: files.Bzip2},
		{name: "zstd", magic: files.Zstd},
		{"xz", "\xfd7zXZ\x00", "unpack it with xz -dk"},
		{"zip", "PK\x03\x04", "unpack it with unzip"},
		{"7z", "7z\xbc\xaf\x27\x1c", "unpack it with 7z x"},
		{"parquet", "PAR1", "write it as CSV or JSON Lines"},
	}
}

// packed finds how a text that begins with head is compressed.
func packed(head []byte) (packing, bool) {
	for _, p := range packings() {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p, true
		}
	}
	return packing{}, false
}

// unpacked is the text of a log as UTF-8, whatever it is packed in.
type unpacked struct {
	io.Reader
	closers []io.Closer
}

// Close closes what was opened. It fails if the log changed while it was read.
func (u *unpacked) Close() error {
	var errs []error
	for i := len(u.closers) - 1; i >= 0; i-- {
		errs = append(errs, u.closers[i].Close())
	}
	return errors.Join(errs...)
}

// plain returns the text of a log as UTF-8: unpacked if it is compressed, decoded
// if it is UTF-16 with a byte order mark, and without the mark if it is UTF-8.
func plain(r io.ReadCloser) (*unpacked, error) {
	u := &unpacked{closers: []io.Closer{r}}
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := peek(b)
	if err != nil {
		return u, err
	}
	if p, ok := packed(head); ok {
		if p.cure != "" {
			return u, fmt.Errorf("read log: %s files are not supported: %s", p.name, p.cure)
		}
		inner, err := files.Unpack(b, p.magic)
		if err != nil {
			return u, fmt.Errorf("read log: unpack %s: %w", p.name, err)
		}
		u.closers = append(u.closers, inner)
		b = bufio.NewReaderSize(files.Limit(inner, "the unpacked log", files.MaxLog), 1<<16)
		if head, err = peek(b); err != nil {
			return u, err
		}
		if again, ok := packed(head); ok { // one that holds itself would never end
			return u, fmt.Errorf("read log: the file is packed twice, as %s in %s: unpack it once", again.name, p.name)
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		u.Reader = transform.NewReader(b, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
		return u, nil
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, err = b.Discard(3)
	}
	u.Reader = b
	return u, err
}

func peek(b *bufio.Reader) ([]byte, error) {
	head, err := b.Peek(6)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return head, nil
}

// fill reads until p is full or r ends; the end is io.EOF.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var m int
		m, err = r.Read(p[n:])
		n += m
	}
	return n, err
}
