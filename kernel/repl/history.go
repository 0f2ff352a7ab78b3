package repl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/reeflective/readline"
)

// history is the cells of this and earlier sessions, each once. Its file has a
// JSON string a line.
type history struct {
	mu    sync.Mutex
	file  string
	cells []string
	muted bool // what is typed now is an answer to a cell, which may be a secret
}

var _ readline.History = (*history)(nil)

// maxHistory bounds how many cells are kept, and maxHistoryCell the bytes of
// one.
const (
	maxHistory     = 5_000
	maxHistoryCell = 1 << 20
)

// openHistory reads a history; a damaged line is as good as none. A file that
// has grown far beyond what is kept is written anew.
func openHistory(file string) *history {
	h := &history{file: file}
	raw, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	_ = os.Chmod(file, 0o600) // a file that is not ours is at least readable
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 8*maxHistoryCell)
	read := 0
	for ; lines.Scan(); read++ {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil {
			h.cells = append(h.cells, text)
		}
	}
	h.cells = lastOfEach(h.cells)
	if read > 2*maxHistory {
		_ = h.rewrite() // the old file serves as well
	}
	return h
}

// lastOfEach keeps the last of equal cells, in order, and the newest of all.
func lastOfEach(cells []string) []string {
	seen := make(map[string]bool, len(cells))
	var kept []string
	for _, c := range slices.Backward(cells) {
		if !seen[c] && len(kept) < maxHistory {
			seen[c] = true
			kept = append(kept, c)
		}
	}
	slices.Reverse(kept)
	return kept
}

// rewrite replaces the file by what is kept.
func (h *history) rewrite() error {
	var all bytes.Buffer
	enc := json.NewEncoder(&all)
	for _, c := range h.cells {
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(h.file), ".history-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(all.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// mute says whether what is written from now on is to be forgotten.
func (h *history) mute(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.muted = on
}

// Write implements [readline.History].
func (h *history) Write(text string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.muted || strings.TrimSpace(text) == "" || len(text) > maxHistoryCell {
		return len(h.cells), nil
	}
	if i := slices.Index(h.cells, text); i >= 0 {
		h.cells = slices.Delete(h.cells, i, i+1)
	}
	h.cells = append(h.cells, text)
	if extra := len(h.cells) - maxHistory; extra > 0 {
		h.cells = slices.Delete(h.cells, 0, extra)
	}
	if h.file == "" {
		return len(h.cells), nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return len(h.cells), err
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return len(h.cells), err
	}
	_, err = f.Write(append(raw, '\n'))
	return len(h.cells), errors.Join(err, f.Close())
}

// GetLine implements [readline.History].
func (h *history) GetLine(i int) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < 0 || i >= len(h.cells) {
		return "", fmt.Errorf("history has no entry %d", i)
	}
	return h.cells[i], nil
}

// Len implements [readline.History].
func (h *history) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.cells)
}

// Dump implements [readline.History].
func (h *history) Dump() any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.cells)
}
