// Package table reads samples from files of rows: CSV, TSV, a JSON list, JSON Lines
// and Parquet, the texts among them also packed with gzip or zstd. [Open] finds out
// what a file is, [Table.Each] gives its rows in one form, and [Load] makes a task of
// them by a [Mapping] of columns. Published layouts that need more than a mapping,
// such as MuSiQue's, are read from the same rows by the packages of their tasks.
package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/base/files"
	"noema/kernel/task"
	"noema/kernel/task/internal/words"
)

// The formats.
const (
	csvFormat     = "CSV"
	jsonFormat    = "JSON list"
	linesFormat   = "JSON Lines"
	objectsFormat = "JSON objects over several lines"
	keyedFormat   = "JSON object of rows by id"
	parquetFormat = "Parquet"
)

// Table is a file of rows, or several.
type Table struct {
	Path   string // as written after --task, without a mapping
	name   string // base name, for errors
	format string
	pack   string // "gz", "zst" or ""
	comma  rune   // between the cells of a CSV
	// what its rows said of a CSV: the name of their separator where the file's name says another,
	// of one that fits as well, that its first line is "sep=;", and that it has no header
	sniffed, unsure   string
	sepLine, noHeader bool
	trying            bool // a suggestion is tried: none is made
	parts             []*Table
	ctx               context.Context // of the one operation that a table is for: it ends every read
}

// Join is the rows of several tables of one format, one table after the other. Path is
// what stands for them in messages.
func Join(path string, parts []*Table) (*Table, error) {
	joined := &Table{ctx: parts[0].ctx, Path: path, name: path, format: parts[0].format, comma: parts[0].comma, sniffed: parts[0].sniffed, unsure: parts[0].unsure, parts: parts}
	for _, part := range parts {
		if part.format != joined.format {
			return nil, fmt.Errorf("open %s: %s is %s and %s is %s: want one format", path, parts[0].name, joined.format, part.name, part.format)
		}
	}
	return joined, nil
}

// Name is the file's base name without the ends that say its format.
func (t *Table) Name() string {
	name := strings.TrimSuffix(t.name, filepath.Ext(t.name))
	if t.pack != "" {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name
}

// IsCSV reports whether all cells are texts.
func (t *Table) IsCSV() bool { return t.format == csvFormat }

// Row is a row of a table: a value for each column, as JSON. The cells of a CSV are
// texts, and an empty one is absent.
type Row struct {
	task.Line
	order  []string // of the columns, where the file has one
	cells  map[string]json.RawMessage
	faults map[string]error // of cells that have no JSON form
}

// Columns are the names of the row's cells, sorted.
func (r Row) Columns() []string { return slices.Sorted(maps.Keys(r.cells)) }

// Has reports whether the row has all these columns, be they null.
func (r Row) Has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { _, ok := r.cells[c]; return !ok })
}

// Cell is the value in a column, or behind a path of names such as "answers.text";
// nil if it is absent or null.
func (r Row) Cell(path string) (json.RawMessage, error) {
	if err := r.faults[path]; err != nil {
		return nil, r.Fault(path, err)
	}
	if raw, ok := r.cells[path]; ok {
		return value(raw), nil
	}
	column, rest, nested := strings.Cut(path, ".")
	raw := r.cells[column]
	for nested && raw != nil {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return nil, nil
		}
		column, rest, nested = strings.Cut(rest, ".")
		raw = fields[column]
		if !nested {
			return value(raw), nil
		}
	}
	return nil, nil
}

// value is a cell's value without spaces around it; nil for null.
func value(raw json.RawMessage) json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// Fault is err at the place of a cell.
func (r Row) Fault(column string, err error) error {
	if r.Raw != nil && r.Unit == "" {
		column, _, _ = strings.Cut(column, ".")
		return r.ErrorAt(r.Offset(column), err)
	}
	return r.ErrorAt(0, fmt.Errorf("column %q: %w", column, err))
}

// Decode decodes the row into the struct behind a pointer. Texts in the columns of
// packed that hold a list or an object of JSON are opened first: repacked data sets
// have them.
func (r Row) Decode(into any, packed ...string) error {
	cells := maps.Clone(r.cells)
	for _, column := range packed {
		var text string
		if json.Unmarshal(cells[column], &text) == nil && strings.IndexAny(strings.TrimSpace(text), "[{") == 0 {
			cells[column] = json.RawMessage(text)
			if !json.Valid(cells[column]) {
				return r.Fault(column, errors.New("the text in it begins like JSON and is not: write a list or an object"))
			}
		}
	}
	raw, err := json.Marshal(cells)
	if err != nil {
		return r.ErrorAt(0, err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return r.ErrorAt(0, words.Of(err))
	}
	return nil
}

// Object is the row that a file of one JSON object is; false if it holds something else.
func Object(file string, raw []byte) (Row, bool) {
	row := Row{Line: task.Line{File: file, Number: 1, Raw: raw}}
	return row, json.Unmarshal(raw, &row.cells) == nil && row.cells != nil
}

// Each calls each for every row, in order, and stops at the first error, or when the
// context of [Open] ends. A row is valid until the next one is read.
func (t *Table) Each(each func(Row) error) error {
	for _, part := range t.parts {
		if err := part.Each(each); err != nil {
			return err
		}
	}
	if t.parts != nil {
		return nil
	}
	then := each
	each = func(r Row) error {
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		return then(r)
	}
	if t.format == parquetFormat {
		return t.eachParquet(each)
	}
	in, closed, err := t.open()
	if err != nil {
		return err
	}
	defer closed()
	if t.format != csvFormat {
		in = files.Finite(in)
	}
	switch t.format {
	case csvFormat:
		return t.eachCSV(in, each)
	case keyedFormat:
		return t.eachKeyed(in, each)
	case jsonFormat, objectsFormat:
		return files.EachElement(in, t.name, t.format == objectsFormat, func(number int, raw []byte) error {
			return eachJSON(task.Line{File: t.name, Number: number, Raw: raw, Unit: "element"}, each)
		})
	}
	return task.Lines(in, t.name, func(l task.Line) error { return eachJSON(l, each) })
}

func eachJSON(l task.Line, each func(Row) error) error {
	row := Row{Line: l}
	if err := l.Decode(&row.cells); err != nil {
		return err
	}
	if row.cells == nil {
		return l.Errorf("want an object, not null")
	}
	return each(row)
}

// errFirst ends [Table.Each] after a row.
var errFirst = errors.New("first row")

// First is the first row; without rows, one without columns.
func (t *Table) First() (first Row, err error) {
	err = t.Each(func(r Row) error {
		first = r
		first.Raw = bytes.Clone(r.Raw)
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return first, err
}

// open opens the file's content, unpacked and bounded.
func (t *Table) open() (io.Reader, func(), error) {
	f, err := t.file()
	if err != nil {
		return nil, nil, err
	}
	closed := func() { f.Close() } // opened for reading: closing cannot lose anything
	form, packed := map[string]string{"gz": files.Gzip, "zst": files.Zstd}[t.pack]
	if !packed {
		return files.Text(files.Limit(f, t.Path, files.MaxLines)), closed, nil
	}
	in, err := files.Unpack(f, form)
	if err != nil {
		closed()
		return nil, nil, fmt.Errorf("%s: it is not packed as its name says: %w", t.name, err)
	}
	return files.Text(files.Limit(in, t.Path, files.MaxLines)), func() { in.Close(); f.Close() }, nil
}

// source is a file that is not read on when ctx ended, as by Ctrl-C.
type source struct {
	*os.File
	ctx context.Context
}

func (t *Table) file() (source, error) {
	f, err := files.Open(t.Path)
	return source{f, t.ctx}, err
}

// Read implements [io.Reader].
func (s source) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.File.Read(p)
}

// ReadAt implements [io.ReaderAt].
func (s source) ReadAt(p []byte, at int64) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.File.ReadAt(p, at)
}

// WriteTo hides that of the file, which would read all of it in one go.
func (s source) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, struct{ io.Reader }{s}) }
