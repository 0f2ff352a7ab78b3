// Package files opens the files that users name. A file may come from anyone:
// a plugin's folder, a task that was sent by mail, a link to a device. So every
// reader has a limit on its size, only regular files are read, and YAML is
// checked before it is decoded; see [YAML].
package files

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"syscall"
)

// Limits on the size of files, by what they hold.
const (
	MaxConfig = 4 << 20  // settings, manifests, plans: what people write
	MaxText   = 32 << 20 // scripts, notebooks, articles
	MaxJSON   = 64 << 20 // one JSON value with the data of a task
	MaxLines  = 4 << 30  // files that are read line by line
	MaxLog    = 64 << 30 // logs, which tools read in a stream
)

// Check refuses a path that is not a regular file of at most limit bytes.
func Check(path string, limit int64) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	if fault, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fault.Err}
	}
	if err == nil {
		err = regular(path, info)
	}
	if err == nil && info.Size() > limit {
		err = tooLarge(path, limit)
	}
	return info, err
}

// Open opens a regular file to be read. A directory, a FIFO, a socket or a
// device is an error, and opening it never blocks.
func Open(path string) (*os.File, error) {
	// Looked at first, because opening a device may already do something.
	if _, err := Check(path, math.MaxInt64); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(path, info) // it may have been exchanged in between
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func regular(path string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fmt.Errorf("open %q: it is a directory, not a file: name a file in it", path)
	case mode&fs.ModeNamedPipe != 0:
		kind = "pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	case mode&fs.ModeDevice != 0:
		kind = "device"
	default:
		kind = "special file"
	}
	return fmt.Errorf("open %q: it is a %s: only regular files are read: save its content to a file first", path, kind)
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: closing cannot lose anything
	if info, err := f.Stat(); err == nil && info.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	return ReadAll(f, path, limit)
}

// ReadAll returns what is left of r, of at most limit bytes; name is for the
// error.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, tooLarge(name, limit)
	}
	return raw, nil
}

func tooLarge(name string, limit int64) error {
	return fmt.Errorf("read %q: it is larger than %d MiB, the limit for such a file: use a smaller one", name, limit>>20)
}

// Text returns a reader of r without the byte order mark that it may begin with.
func Text(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	if mark, _ := b.Peek(3); string(mark) == "\ufeff" {
		_, _ = b.Discard(3) // they are there
	}
	return b
}

// Limit returns a reader of r that fails, in place of ending, after limit bytes.
func Limit(r io.Reader, name string, limit int64) io.Reader {
	return &limited{r: r, name: name, limit: limit, left: limit}
}

type limited struct {
	r           io.Reader
	name        string
	limit, left int64
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, tooLarge(l.name, l.limit)
	}
	return n, err
}

// Write exchanges a file in one step for one with this content: nobody reads half of it, and
// a kill leaves the old file or the new one.
func Write(path string, raw []byte, mode fs.FileMode) error {
	return Replace(path, func(temporary string) error { return os.WriteFile(temporary, raw, mode) })
}

// Replace exchanges a file in one step for what write makes.
func Replace(path string, write func(temporary string) error) error {
	temporary := path + "." + rand.Text()
	err := write(temporary)
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		_ = os.Remove(temporary) // it may not be there
	}
	return err
}
