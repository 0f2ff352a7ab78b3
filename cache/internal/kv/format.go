package kv

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Format is the version of the directory's layout and records that this
// package reads and writes.
const Format = 1

const (
	formatFile = "FORMAT"
	formatTemp = "FORMAT.tmp"
	formatLine = "noema store %d"
)

// formatError says why a directory cannot be used as a store.
type formatError struct {
	text  string
	newer bool
}

func (e *formatError) Error() string        { return e.text }
func (e *formatError) Is(target error) bool { return e.newer && target == ErrNewerFormat }

// checkFormat reports whether dir is a store of this format (true) or fresh
// (false). FORMAT is the first thing ever made in a store, so a directory
// that holds anything else but no FORMAT belongs to somebody else.
func checkFormat(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("open store: %w", err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, formatFile))
	if err == nil {
		return true, parseFormat(dir, string(raw))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("open store: %w", err)
	}
	for _, e := range entries {
		if e.Name() != formatTemp && e.Name() != formatFile {
			return false, &formatError{text: fmt.Sprintf(
				"open store: %q is not a noema store (it holds %q but no %s file): point NOEMA_HOME to an empty or a new directory",
				dir, e.Name(), formatFile)}
		}
	}
	return false, nil
}

func parseFormat(dir, text string) error {
	var n int
	line := strings.TrimSpace(text)
	if _, err := fmt.Sscanf(line, formatLine, &n); err != nil || fmt.Sprintf(formatLine, n) != line || n < 1 {
		return &formatError{text: fmt.Sprintf(
			"open store: %q has an unreadable %s file (%.40q): restore the line %q if this is a noema store, or point NOEMA_HOME elsewhere",
			dir, formatFile, line, fmt.Sprintf(formatLine, Format))}
	}
	if n > Format {
		return &formatError{newer: true, text: fmt.Sprintf(
			"store %q has format %d and this noema knows %d: update noema, or point NOEMA_HOME elsewhere", dir, n, Format)}
	}
	return nil
}

// writeFormat marks a fresh directory, durably and at once: a half-written
// FORMAT is never seen.
func writeFormat(dir string) error {
	temp := filepath.Join(dir, formatTemp)
	f, err := os.Create(temp)
	if err != nil {
		return fmt.Errorf("create store: %w", err)
	}
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
