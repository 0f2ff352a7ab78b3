package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task"
)

// Formats are the formats, for errors.
const Formats = ".csv, .tsv, .json, .jsonl or .parquet; all but the last also with .gz or .zst behind"

// Open finds out what the file at path is, by the end of its name; for JSON its
// beginning says whether it is a list, an object that holds a list, objects, or lines. It is an error if the content
// is known to be something else. When ctx ends, so does every read of the table.
func Open(ctx context.Context, path string) (*Table, error) {
	if _, err := files.Check(path, math.MaxInt64); err != nil {
		return nil, err
	}
	t := &Table{ctx: ctx, Path: path, name: filepath.Base(path), comma: ','}
	ext := strings.ToLower(filepath.Ext(t.name))
	switch ext {
	case ".gz", ".zst":
		t.pack = ext[1:]
		ext = strings.ToLower(filepath.Ext(strings.TrimSuffix(t.name, filepath.Ext(t.name))))
	case ".bz2", ".xz", ".zip", ".xlsx", ".xls", ".tar", ".arrow", ".feather":
		return nil, fmt.Errorf("open %s: %s files are not read: write the rows as %s", t.name, ext, Formats)
	}
	head, err := t.head()
	if err != nil {
		return nil, err
	}
	if ext == ".parquet" && t.pack == "" && bytes.HasPrefix(head, []byte("PAR1")) {
		t.format = parquetFormat
		return t, nil
	}
	if what := foreign(head); what != "" {
		return nil, fmt.Errorf("open %s: its content is %s", t.name, what)
	}
	text := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case ext == ".parquet":
		return nil, fmt.Errorf("open %s: it is not a Parquet file: those begin with PAR1, and pack their columns themselves", t.name)
	case ext == ".csv":
		t.format = csvFormat
		return t, t.sniff()
	case ext == ".tsv":
		t.format, t.comma = csvFormat, '\t'
		return t, t.sniff()
	case bytes.HasPrefix(text, []byte("[")):
		t.format = jsonFormat
	case ext == ".json" && severalLines(text):
		t.format = t.objects(jsonFormat, true)
	case ext == ".json" || severalLines(text):
		t.format = t.objects(linesFormat, severalLines(text))
	case ext == ".jsonl" || ext == ".ndjson" || bytes.HasPrefix(text, []byte("{")):
		t.format = linesFormat
	default:
		return nil, fmt.Errorf("open %s: its name does not say what it is: name it %s", t.name, Formats)
	}
	return t, nil
}

// severalLines reports whether text begins with a JSON object that does not end on its
// first line.
func severalLines(text []byte) bool {
	line, _, ends := bytes.Cut(text, []byte("\n"))
	var object map[string]json.RawMessage
	return ends && errors.Is(json.NewDecoder(bytes.NewReader(line)).Decode(&object), io.ErrUnexpectedEOF)
}

// objects is the format of content that begins with an object: one that holds the rows in a
// list, the first of several over several lines, or a row on its line.
func (t *Table) objects(otherwise string, severalLines bool) string {
	in, closed, err := t.open()
	if err != nil {
		return otherwise
	}
	defer closed()
	var first, next map[string]json.RawMessage
	d := json.NewDecoder(files.Finite(io.LimitReader(in, files.MaxJSON)))
	if d.Decode(&first) != nil {
		return otherwise
	}
	has := func(of map[string]json.RawMessage) func(string) bool {
		return func(name string) bool { return of[name] != nil }
	}
	switch {
	case !d.More():
		if holdsList(first) && !slices.ContainsFunc(usualNames("input"), has(first)) {
			return jsonFormat
		}
		if keyed(first) {
			return keyedFormat
		}
	case severalLines && d.Decode(&next) == nil && slices.ContainsFunc(slices.Collect(maps.Keys(next)), has(first)):
		return objectsFormat
	}
	return otherwise
}

// keyed reports whether an object has rows by their ids: all its members are objects, and those
// have columns with usual names or all the same ones. One with a column's name is a row itself, or
// written by columns.
func keyed(object map[string]json.RawMessage) bool {
	shared := map[string]int{}
	for name, raw := range object {
		var row map[string]json.RawMessage
		usual := slices.Concat(usualNames("input"), usualNames("target"), usualNames("choices"))
		if json.Unmarshal(raw, &row) != nil || row == nil || slices.Contains(usual, strings.ToLower(name)) {
			return false
		}
		for column := range row {
			shared[column]++
		}
	}
	for column, n := range shared {
		if n == len(object) && (n > 1 || slices.Contains(usualNames("input"), column)) {
			return true
		}
	}
	return false
}

// eachKeyed calls each for every member of the object around the rows; its key is the id of a
// row that has none.
func (t *Table) eachKeyed(in io.Reader, each func(Row) error) error {
	d := json.NewDecoder(in)
	_, err := d.Token()
	for number := 1; err == nil && d.More(); number++ {
		key, _ := d.Token()
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			break
		}
		if err := eachJSON(task.Line{File: t.name, Number: number, Raw: raw, Unit: "element"}, func(row Row) error {
			if _, has := row.cells["id"]; !has {
				row.cells["id"] = quoted(key.(string)) // a key of an object
			}
			return each(row)
		}); err != nil {
			return err
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	return nil
}

// holdsList reports whether a member of an object is a list of objects.
func holdsList(object map[string]json.RawMessage) bool {
	for _, raw := range object {
		var rows []map[string]json.RawMessage
		if json.Unmarshal(raw, &rows) == nil && len(rows) > 0 {
			return true
		}
	}
	return false
}

// head is the beginning of the content.
func (t *Table) head() ([]byte, error) {
	in, closed, err := t.open()
	if err != nil {
		return nil, err
	}
	defer closed()
	head := make([]byte, 512)
	n, err := io.ReadFull(in, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("open %s: %w", t.name, err)
	}
	return head[:n], nil
}

// foreign names content that has a mark of its own, with the cure.
func foreign(head []byte) string {
	for _, f := range []struct{ mark, what string }{
		{"PAR1", "Parquet: name it FILE.parquet"},
		{"\x1f\x8b", "packed with gzip: add .gz to its name"},
		{"\x28\xb5\x2f\xfd", "packed with zstd: add .zst to its name"},
		{"PK\x03\x04", "a zip archive or a workbook: save the sheet as CSV"},
		{"BZh", "packed with bzip2: unpack it first"},
		{"\xfd7zXZ", "packed with xz: unpack it first"},
		{"ARROW1", "an Arrow file: write it as Parquet"},
		{"\xff\xfe", "UTF-16: save it as UTF-8"},
		{"\xfe\xff", "UTF-16: save it as UTF-8"},
		{"version https://git-lfs", "a pointer of Git LFS, not the data: run \"git lfs pull\""},
		{"<!DOCTYPE", "a web page, not the data: download the file itself"},
		{"<html", "a web page, not the data: download the file itself"},
	} {
		if bytes.HasPrefix(head, []byte(f.mark)) {
			return f.what
		}
	}
	return ""
}
