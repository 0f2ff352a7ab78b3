// Package public is what the readers of public data, which come in several files, share.
package public

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task/internal/words"
)

// Data notes what was read of a folder and what was not.
type Data struct {
	sources []string
	dropped map[string]bool
}

// File reads a file and adds it and the digest of its content to the source.
func (d *Data) File(path string) ([]byte, error) {
	raw, err := files.Read(path, files.MaxJSON)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	d.sources = append(d.sources, filepath.Base(path)+" sha256 "+hex.EncodeToString(sum[:8]))
	return raw, nil
}

// Source names the files that were read.
func (d *Data) Source() string { return strings.Join(d.sources, ", ") }

// Drop notes that problems do not show a field, such as "reviews.user".
func (d *Data) Drop(name string) {
	if d.dropped == nil {
		d.dropped = map[string]bool{}
	}
	d.dropped[name] = true
}

// Note drops the fields that are not among those shown.
func (d *Data) Note(what string, fields map[string]json.RawMessage, shown ...string) {
	for name := range fields {
		if !slices.Contains(shown, name) {
			d.Drop(what + "." + name)
		}
	}
}

// Dropped lists the fields that problems do not show; empty without any.
func (d *Data) Dropped() string {
	return strings.Join(slices.Sorted(maps.Keys(d.dropped)), ", ")
}

// Names reads a list of texts, or one text with commas; null is none.
func Names(raw json.RawMessage) (list []string, err error) {
	if len(raw) == 0 || raw[0] == '[' {
		if len(raw) > 0 {
			err = json.Unmarshal(raw, &list)
		}
		return list, words.Of(err)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, words.Of(err)
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && part != "None" {
			list = append(list, part)
		}
	}
	return list, nil
}
