package jupyter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
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
	logf    func(string, ...any)
	session int
	entries []entry
}

// maxHistory bounds what is kept of earlier sessions.
const maxHistory = 10_000

// openHistory reads a history; a line that is damaged is left out. A file that
// has grown to twice what is kept is cut to that.
func openHistory(file string, logf func(string, ...any)) *history {
	h := &history{file: file, logf: logf, session: 1}
	if file == "" {
		return h
	}
	raw, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		logf("read history: %v", err)
	}
	for line := range bytes.Lines(raw) {
		var e entry
		if json.Unmarshal(line, &e) == nil && e.Session > 0 {
			h.entries = append(h.entries, e)
			h.session = max(h.session, e.Session+1)
		}
	}
	if n := len(h.entries); n > maxHistory {
		h.entries = slices.Clone(h.entries[n-maxHistory:])
		if n > 2*maxHistory {
			h.rewrite()
		}
	}
	return h
}

// rewrite makes the file hold what is kept.
func (h *history) rewrite() {
	var b bytes.Buffer
	for _, e := range h.entries {
		raw, err := marshal(e)
		if err != nil {
			h.logf("shorten history: %v", err)
			return
		}
		b.Write(append(raw, '\n'))
	}
	fresh := fmt.Sprintf("%s.%d", h.file, os.Getpid())
	err := os.WriteFile(fresh, b.Bytes(), 0o600)
	if err == nil {
		err = os.Rename(fresh, h.file)
	}
	if err != nil {
		h.logf("shorten history: %v", err)
	}
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
	if err := h.write(e); err != nil {
		h.logf("keep history: %v", err)
	}
}

// write puts an entry at the end of the file, by one write, so that kernels that
// share it do not mix their lines.
func (h *history) write(e entry) error {
	raw, err := marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(raw, '\n'))
	return errors.Join(err, f.Close())
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

// search finds entries by a pattern in which * stands for any text and ? for
// any character; with unique, of the same only the last.
func (h *history) search(r historyRequest) (out []entry) {
	pattern, err := glob(r.Pattern)
	if err != nil {
		h.logf("search history: %v", err)
		return nil
	}
	seen := map[string]bool{}
	for _, e := range slices.Backward(h.entries) {
		if !pattern.MatchString(e.Source) || r.Unique && seen[e.Source] {
			continue
		}
		seen[e.Source] = true
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// glob is a pattern as a regular expression, whose time grows with the text
// alone.
func glob(pattern string) (*regexp.Regexp, error) {
	quoted := regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD"))
	quoted = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted)
	return regexp.Compile(`(?s)\A` + quoted + `\z`)
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
