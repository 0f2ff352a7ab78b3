package cell

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"
)

// input is the standard input of cells: when a cell reads, the person is asked for
// a line.
type input struct {
	ask func() (string, error)

	mu   sync.Mutex
	line []byte // the unread rest of the last line
	back []byte // line before the last ReadRune
}

// Read implements [io.Reader]. When nobody can be asked, the input ends.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	if err := in.fill(); err != nil {
		return 0, err
	}
	n := copy(p, in.line)
	in.line, in.back = in.line[n:], nil
	return n, nil
}

// ReadRune implements [io.RuneReader], so that fmt.Scan loses nothing between
// calls.
func (in *input) ReadRune() (rune, int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.fill(); err != nil {
		return 0, 0, err
	}
	r, n := utf8.DecodeRune(in.line)
	in.back, in.line = in.line, in.line[n:]
	return r, n, nil
}

// UnreadRune implements [io.RuneScanner].
func (in *input) UnreadRune() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.back == nil {
		return errors.New("unread rune: the last operation was not ReadRune")
	}
	in.line, in.back = in.back, nil
	return nil
}

func (in *input) fill() error {
	if len(in.line) > 0 {
		return nil
	}
	line, err := in.ask()
	if err != nil {
		return io.EOF // which programs handle
	}
	in.line = []byte(line + "\n")
	return nil
}

// reset discards the rest of a line, at the beginning of a cell.
func (in *input) reset() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.line, in.back = nil, nil
}

// Stdin is os.Stdin in a cell: a reader that asks the person. It has the methods
// of [os.File] that reading needs.
type Stdin struct{ in *input }

// Read implements [io.Reader].
func (s Stdin) Read(p []byte) (int, error) { return s.in.Read(p) }

// Close does nothing: the next cell may still read.
func (s Stdin) Close() error { return nil }

// Name is "/dev/stdin".
func (s Stdin) Name() string { return "/dev/stdin" }

// Fd returns the descriptor of the process's standard input, which Read does not
// use.
func (s Stdin) Fd() uintptr { return os.Stdin.Fd() }

// Stat describes the process's standard input.
func (s Stdin) Stat() (fs.FileInfo, error) { return os.Stdin.Stat() }
