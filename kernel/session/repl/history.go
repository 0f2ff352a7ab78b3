package repl

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/reeflective/readline"

	"noema/kernel/session/cell"
)

// history gives the line editor the cells of this and earlier sessions, each
// once.
type history struct {
	kept *cell.History

	mu     sync.Mutex
	cells  []string
	paused bool // what is typed now answers a cell and may be a secret
}

var _ readline.History = (*history)(nil)

// maxHistory bounds how many cells are kept, and maxHistoryCell the bytes of
// one.
const (
	maxHistory     = 5_000
	maxHistoryCell = 1 << 20
)

func openHistory(file string) *history {
	kept, _ := cell.OpenHistory(file, maxHistory) // an editor without its history is still an editor
	h := &history{kept: kept}
	seen := map[string]bool{}
	for _, e := range slices.Backward(kept.Entries()) {
		if !seen[e.Source] {
			seen[e.Source] = true
			h.cells = append(h.cells, e.Source)
		}
	}
	slices.Reverse(h.cells)
	return h
}

// pause says whether to forget what is written from now on.
func (h *history) pause(on bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.paused = on
}

// Write implements [readline.History].
func (h *history) Write(text string) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paused || strings.TrimSpace(text) == "" || len(text) > maxHistoryCell {
		return len(h.cells), nil
	}
	if i := slices.Index(h.cells, text); i >= 0 {
		h.cells = slices.Delete(h.cells, i, i+1)
	}
	h.cells = append(h.cells, text)
	if extra := len(h.cells) - maxHistory; extra > 0 {
		h.cells = slices.Delete(h.cells, 0, extra)
	}
	return len(h.cells), h.kept.Add(0, text)
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
