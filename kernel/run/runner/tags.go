package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/cache"
	"noema/kernel/base/files"
)

// Tags are what a person says of a run. They are beside the store and enter no hash.
type Tags struct {
	Tags []string `json:"tags,omitempty"`
	Note string   `json:"note,omitempty"`
}

// Bounds of what is said of a run.
const (
	maxTags = 20
	maxTag  = 40   // characters
	maxNote = 2000 // characters
)

func tagsFile(store *cache.Store, run string) string {
	return filepath.Join(store.Dir(), "tags", run+".json")
}

// ReadTags reads what is said of a run; there may be nothing.
func ReadTags(store *cache.Store, run string) (t Tags, err error) {
	raw, err := files.Read(tagsFile(store, run), files.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &t)
	}
	if err != nil {
		err = fmt.Errorf("read the tags of run %q: %w", run, err)
	}
	return t, err
}

// WriteTags keeps what is said of a run, in place of what was said before. Tags are words:
// spaces and commas part them, and each is kept once.
func WriteTags(store *cache.Store, run string, t Tags) error {
	words := strings.FieldsFunc(strings.Join(t.Tags, " "), func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	slices.Sort(words)
	t = Tags{Tags: slices.Compact(words), Note: strings.TrimSpace(t.Note)}
	long := slices.ContainsFunc(t.Tags, func(tag string) bool { return len([]rune(tag)) > maxTag })
	if len(t.Tags) > maxTags || long || len([]rune(t.Note)) > maxNote {
		return Misused(fmt.Errorf("tag run %q: at most %d tags of %d characters and a note of %d: shorten them", run, maxTags, maxTag, maxNote))
	}
	file := tagsFile(store, run)
	if len(t.Tags) == 0 && t.Note == "" {
		return removeTags(store, run)
	}
	raw, err := json.Marshal(t)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = files.Write(file, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("tag run %q: %w", run, err)
	}
	return nil
}

// removeTags removes what is said of a run.
func removeTags(store *cache.Store, run string) error {
	if err := os.Remove(tagsFile(store, run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the tags of run %q: %w", run, err)
	}
	return nil
}
