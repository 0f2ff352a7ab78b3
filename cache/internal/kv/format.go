package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Format is the version of the directory's layout and of what is in the records. It is
// raised when a build that knows only the version before would misread or drop what this
// one writes:
//
//	1  the first
//	2  a task's samples are blobs of their own; completions have the log probabilities of
//	   their tokens, and what of the tokens was cached or thought
//	3  requests are also as programs sent them, or to one of several models, and completions
//	   whole replies to them
//	4  programs' requests are kept as they were sent, with the rules by which keys know
//	   them again
//
// A store of an earlier format is read as it is. It is marked with this one before anything
// is written to it, so that an older noema says that it is too old.
const Format = 4

const (
	formatFile = "FORMAT"
	formatTemp = formatFile + ".tmp"
	formatLine = "noema store %d"
)

// formatError says why a directory cannot be used as a store.
type formatError struct {
	text  string
	newer bool
}

func (e *formatError) Error() string        { return e.text }
func (e *formatError) Is(target error) bool { return e.newer && target == ErrNewerFormat }

// checkFormat returns the format of the store in dir, or 0 if dir is fresh. FORMAT is the
// first thing ever made in a store, so a directory that holds anything else but no FORMAT
// belongs to somebody else.
func checkFormat(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("open store: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err == nil {
		return parseFormat(dir, string(raw))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("open store: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), formatTemp) && e.Name() != formatFile {
			return 0, &formatError{text: fmt.Sprintf(
				"open store: %q is not a noema store (it holds %q but no %s file): point NOEMA_HOME to an empty or a new directory",
				dir, e.Name(), formatFile)}
		}
	}
	return 0, nil
}

func parseFormat(dir, text string) (n int, err error) {
	line := strings.TrimSpace(text)
	if _, err := fmt.Sscanf(line, formatLine, &n); err != nil || fmt.Sprintf(formatLine, n) != line || n < 1 {
		return 0, &formatError{text: fmt.Sprintf(
			"open store: %q has an unreadable %s file (%.40q): restore the line %q if this is a noema store, or point NOEMA_HOME elsewhere",
			dir, formatFile, line, fmt.Sprintf(formatLine, Format))}
	}
	if n > Format {
		return n, &formatError{newer: true, text: fmt.Sprintf(
			"store %q has format %d and this noema knows %d: update noema, or point NOEMA_HOME elsewhere", dir, n, Format)}
	}
	return n, nil
}

// upgrade marks a directory that may be written to with the present format.
func upgrade(dir string) error {
	n, err := checkFormat(dir)
	if err != nil || n == Format {
		return err
	}
	return writeFormat(dir)
}

// writeFormat marks a directory, durably and at once: a half-written FORMAT is never seen.
// Processes may do so at the same time.
func writeFormat(dir string) error {
	f, err := os.CreateTemp(dir, formatTemp+"*")
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	temp := f.Name()
	_, err = fmt.Fprintf(f, formatLine+"\n", Format)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	if err := os.Rename(temp, filepath.Join(dir, formatFile)); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("create store: %w", err)
	}
	return nil
}
