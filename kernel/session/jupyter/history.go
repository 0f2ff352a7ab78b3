package jupyter

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/session/cell"
)

// maxHistory bounds how many cells of earlier sessions are kept.
const maxHistory = 10_000

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

// find selects entries of a history.
func (r historyRequest) find(h *cell.History) ([]cell.HistoryEntry, error) {
	all := h.Entries()
	switch r.Access {
	case "range":
		session := r.Session
		if session <= 0 {
			session += h.Session()
		}
		return slices.DeleteFunc(all, func(e cell.HistoryEntry) bool {
			return e.Session != session || e.Line < r.Start || r.Stop != 0 && e.Line >= r.Stop
		}), nil
	case "search":
		pattern, err := glob(r.Pattern)
		if err != nil {
			return nil, err
		}
		all = r.search(all, pattern)
	}
	if r.N > 0 && len(all) > r.N {
		all = all[len(all)-r.N:]
	}
	return all, nil
}

// search finds entries that match; with unique, of equal ones only the last.
func (r historyRequest) search(all []cell.HistoryEntry, pattern *regexp.Regexp) (out []cell.HistoryEntry) {
	seen := map[string]bool{}
	for _, e := range slices.Backward(all) {
		if !pattern.MatchString(e.Source) || r.Unique && seen[e.Source] {
			continue
		}
		seen[e.Source] = true
		out = append(out, e)
	}
	slices.Reverse(out)
	return out
}

// glob makes a regular expression of a pattern in which * stands for any text and
// ? for any character. Its time grows linearly with the text.
func glob(pattern string) (*regexp.Regexp, error) {
	quoted := regexp.QuoteMeta(strings.ToValidUTF8(pattern, "\uFFFD"))
	quoted = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(quoted)
	return regexp.Compile(`(?s)\A` + quoted + `\z`)
}

func (k *kernel) historyOf(_ context.Context, m *message) {
	r := content[historyRequest](k, m)
	entries, err := r.find(k.history)
	if err != nil {
		k.logf("search history: %v", err)
	}
	found := []any{}
	for _, e := range entries {
		if r.Output {
			found = append(found, []any{e.Session, e.Line, []any{e.Source, nil}})
		} else {
			found = append(found, []any{e.Session, e.Line, e.Source})
		}
	}
	k.reply(m, "history_reply", map[string]any{"status": "ok", "history": found})
}
