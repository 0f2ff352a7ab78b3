package cell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"noema/kernel/base/files"
	"noema/methods"
)

// History is the cells of this and earlier sessions. Its file has a JSON object
// a line, and can be shared by several processes.
type History struct {
	file    string
	session int

	mu      sync.Mutex
	entries []HistoryEntry
}

// HistoryEntry is a cell that was run.
type HistoryEntry struct {
	Session int    `json:"session"` // from 1
	Line    int    `json:"line"`    // the number of the cell in its session
	Source  string `json:"source"`
}

// OpenHistory reads a file, of which it keeps the last cells, up to most. A
// damaged line is left out. A file that has grown to twice that is shortened.
// An empty name stands for a history that is kept in memory alone. With an error
// comes a history of what could be read.
func OpenHistory(file string, most int) (*History, error) {
	h := &History{file: file, session: 1}
	if file == "" {
		return h, nil
	}
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read history: %w", err)
	}
	_ = os.Chmod(file, 0o600) // a file that belongs to someone else is at least readable
	for line := range bytes.Lines(raw) {
		e := HistoryEntry{Session: 1}
		earlier := json.Unmarshal(line, &e.Source) == nil // earlier versions wrote the source alone
		if !earlier && (json.Unmarshal(line, &e) != nil || e.Session < 1) {
			continue
		}
		h.entries = append(h.entries, e)
		h.session = max(h.session, e.Session+1)
	}
	if n := len(h.entries); n > most {
		h.entries = slices.Clone(h.entries[n-most:])
		if n > 2*most {
			err = h.rewrite()
		}
	}
	return h, err
}

// rewrite replaces the file by what is kept.
func (h *History) rewrite() error {
	var all bytes.Buffer
	for _, e := range h.entries {
		all.Write(e.encode())
	}
	if err := files.Write(h.file, all.Bytes(), 0o600); err != nil {
		return fmt.Errorf("shorten history: %w", err)
	}
	return nil
}

// encode is the entry's line in the file.
func (e HistoryEntry) encode() []byte {
	raw, _ := methods.EncodeJSON(e) // numbers and a string always encode
	return append(raw, '\n')
}

// Session is the number of the present session.
func (h *History) Session() int { return h.session }

// Entries are the cells, the oldest first.
func (h *History) Entries() []HistoryEntry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.entries)
}

// Add keeps a cell of the present session. It is written at the end of the file
// by one write, so that the lines of several processes do not mix.
func (h *History) Add(line int, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := HistoryEntry{h.session, line, text}
	h.entries = append(h.entries, e)
	if h.file == "" {
		return nil
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	_, err = f.Write(e.encode())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	return nil
}
