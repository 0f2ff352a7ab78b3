package jupyter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"sync"
)

// entry is a cell that was run.
type entry struct {
	Session int    `json:"session"`
	Line    int    `json:"line"`
	Source  string `json:"source"`
}

// history is the cells of this and earlier sessions.
type history struct {
	mu      sync.Mutex
	file    string
	session int
	entries []entry
}

// maxHistory bounds what is kept of earlier sessions.
const maxHistory = 10_000

// openHistory reads a history; a file that is missing or damaged is as good as
// none, line by line.
func openHistory(file string) *history {
	h := &history{file: file, session: 1}
	raw, err := os.ReadFile(file)
	if file == "" || err != nil {
		return h
	}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			h.entries = append(h.entries, e)
			h.session = max(h.session, e.Session+1)
		}
	}
	if len(h.entries) > maxHistory {
		h.entries = slices.Clone(h.entries[len(h.entries)-maxHistory:])
	}
	return h
}

// add keeps a cell. That it cannot be written is no reason not to run it.
func (h *history) add(line int, source string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := entry{h.session, line, source}
	h.entries = append(h.entries, e)
	if h.file == "" {
		return
	}
	raw, err := marshal(e)
	if err != nil {
		return
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(raw, '\n'))
	_ = f.Close()
}

// historyRequest is the content of a history_request.
type historyRequest struct {
	Output  bool   `json:"output"`
	Raw     bool   `json:"raw"`
	Access  string `json:"hist_access_type"`
	Session int    `json:"session"`
	Start   int    `json:"start"`
	Stop    int    `json:"stop"`
	N       int    `json:"n"`
	Pattern string `json:"pattern"`
	Unique  bool   `json:"unique"`
}

// find selects entries.
func (h *history) find(r historyRequest) []entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.entries
	switch r.Access {
	case "range":
		session := r.Session
		if session <= 0 {
			session += h.session
		}
		var out []entry
		for _, e := range all {
			if e.Session == session && e.Line >= r.Start && (r.Stop == 0 || e.Line < r.Stop) {
				out = append(out, e)
			}
		}
		return out
	case "search":
		all = h.search(r)
	}
	if r.N > 0 && len(all) > r.N {
		all = all[len(all)-r.N:]
	}
	return slices.Clone(all)
}

// search finds entries by a pattern with * and ?.
func (h *history) search(r historyRequest) (out []entry) {
	seen := map[string]bool{}
	for _, e := range slices.Backward(h.entries) {
		if ok, err := path.Match(r.Pattern, e.Source); err != nil || !ok && !matchAcross(r.Pattern, e.Source) {
			continue
		}
		if r.Unique && seen[e.Source] {
			continue
		}
		seen[e.Source] = true
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// matchAcross is path.Match whose * also matches slashes.
func matchAcross(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch pattern[0] {
	case '*':
		for i := range len(text) + 1 {
			if matchAcross(pattern[1:], text[i:]) {
				return true
			}
		}
		return false
	case '?':
		return text != "" && matchAcross(pattern[1:], text[1:])
	}
	return text != "" && text[0] == pattern[0] && matchAcross(pattern[1:], text[1:])
}

func (k *kernel) historyOf(_ context.Context, m *message) {
	r := content[historyRequest](k, m)
	found := []any{}
	for _, e := range k.history.find(r) {
		if r.Output {
			found = append(found, []any{e.Session, e.Line, []any{e.Source, nil}})
		} else {
			found = append(found, []any{e.Session, e.Line, e.Source})
		}
	}
	k.reply(m, "history_reply", map[string]any{"status": "ok", "history": found})
}
