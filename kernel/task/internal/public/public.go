// Package public is what the readers of public data, which come in several files, share.
package public

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task"
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

// Line decodes a line into the struct behind a pointer, and drops the fields that this
// does not declare, at every depth but inside of those with the tag opaque, and those
// with the tag hidden, which are needed and not shown. The names of the dropped begin
// with what; without it, the line's own fields are kept.
func (d *Data) Line(l task.Line, what string, into any) error {
	if err := l.Decode(into); err != nil {
		return err
	}
	d.note(what, l.Raw, reflect.TypeOf(into))
	return nil
}

func (d *Data) note(what string, raw json.RawMessage, of reflect.Type) {
	switch of.Kind() {
	case reflect.Pointer:
		d.note(what, raw, of.Elem())
	case reflect.Slice:
		var list []json.RawMessage
		if of.Elem().Kind() == reflect.Struct && json.Unmarshal(raw, &list) == nil {
			for _, member := range list {
				d.note(what, member, of.Elem())
			}
		}
	case reflect.Struct:
		declared := map[string]reflect.StructField{}
		for _, f := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); declared[name].Index == nil || len(f.Index) == 1 {
				declared[name] = f
			}
		}
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(raw, &fields) // null has none
		for name, value := range fields {
			f, known := declared[name]
			switch path := strings.TrimPrefix(what+"."+name, "."); {
			case known && f.Tag.Get("hidden") == "" && f.Tag.Get("opaque") == "":
				d.note(path, value, f.Type)
			case what != "" && f.Tag.Get("opaque") == "":
				d.Drop(path)
			}
		}
	}
}

// Dropped lists the fields that problems do not show; empty without any.
func (d *Data) Dropped() string {
	return strings.Join(slices.Sorted(maps.Keys(d.dropped)), ", ")
}

// Names reads a list of texts, or one text with commas; null gives no names.
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
