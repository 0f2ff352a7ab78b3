package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"noema/kernel/task"
)

// maxRecord bounds one record of a CSV.
const maxRecord = 24 << 20

var errLongRecord = fmt.Errorf("a record is longer than %d MiB: is a quote not closed?", maxRecord>>20)

// recordLimit fails where one record is too long: a quote that is not closed would
// read the whole file into memory.
type recordLimit struct {
	in   io.Reader
	left int
}

// Read implements [io.Reader].
func (l *recordLimit) Read(p []byte) (int, error) {
	n, err := l.in.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, errLongRecord
	}
	return n, err
}

// separators are the separators of cells by the names that a mapping has for them.
func separators() map[string]rune {
	return map[string]rune{"comma": ',', "tab": '\t', "semicolon": ';', "pipe": '|'}
}

// Separate sets the separator of a CSV's cells by its name.
func (t *Table) Separate(name string) error {
	if t.format != csvFormat {
		return fmt.Errorf("%s is %s: separator is for CSV", t.name, t.format)
	}
	t.comma, t.sniffed, t.unsure = separators()[name], "", ""
	for _, part := range t.parts {
		part.comma = t.comma
	}
	return nil
}

// headless is the table with its first row as data, and columns called 1, 2 and so on.
func (t *Table) headless() (*Table, error) {
	if t.format != csvFormat {
		return nil, fmt.Errorf("%s is %s: header is for CSV", t.name, t.format)
	}
	if t.unsure != "" {
		return nil, fmt.Errorf("%s: its rows have as many cells with one separator as with another: write separator=%s or separator=%s", t.name, separatorName(t.comma), t.unsure)
	}
	bare := *t
	bare.noHeader = true
	bare.parts = nil
	for _, part := range t.parts {
		p, err := part.headless()
		if err != nil {
			return nil, err
		}
		bare.parts = append(bare.parts, p)
	}
	return &bare, nil
}

// separatorName is the name of a separator.
func separatorName(comma rune) string {
	for name, c := range separators() {
		if c == comma {
			return name
		}
	}
	return string(comma)
}

// maxSniffed is how much of a CSV is looked at for its separator.
const maxSniffed = 64 << 10

// sniff finds the separator by the rows where the one that the name says gives rows of one cell
// or of several lengths and exactly one other does not. A first line "sep=;", as Excel writes
// it, says it.
func (t *Table) sniff() error {
	in, closed, err := t.open()
	if err != nil {
		return err
	}
	defer closed()
	head, err := io.ReadAll(io.LimitReader(in, maxSniffed))
	if err != nil {
		return nil // said where rows are read
	}
	if m := sepLine.FindSubmatch(head); m != nil {
		t.sepLine = true
		t.comma, _ = utf8.DecodeRune(m[1])
		return nil
	}
	var fit []string
	for _, name := range []string{"comma", "semicolon", "tab", "pipe"} {
		if even(head, separators()[name]) {
			fit = append(fit, name)
		}
	}
	own := separatorName(t.comma)
	switch {
	case len(fit) == 1 && fit[0] != own:
		t.comma, t.sniffed = separators()[fit[0]], fit[0]
	case len(fit) == 2 && slices.Contains(fit, own):
		t.unsure = fit[(slices.Index(fit, own)+1)%2]
	}
	return nil
}

// sepLine matches the first line by which Excel is told the separator.
var sepLine = regexp.MustCompile(`^sep=([^\r\n"])\r?\n`)

// even reports whether the beginning of a CSV has rows of one length, and of two cells or more,
// with a separator.
func even(head []byte, comma rune) bool {
	r := csv.NewReader(bytes.NewReader(head))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	cells, last, rows := 0, 0, 0
	for {
		record, err := r.Read()
		if len(head) == maxSniffed && (err != nil || r.InputOffset() == int64(len(head))) || errors.Is(err, io.EOF) {
			return rows > 0 && cells > 1 // the last record may be cut
		}
		if err != nil {
			return false
		}
		if last = len(record); rows > 0 && last != cells {
			return false
		}
		cells = last
		rows++
	}
}

func (t *Table) eachCSV(in io.Reader, each func(Row) error) error {
	buffered := bufio.NewReader(in)
	before := 0 // lines
	if t.sepLine {
		if _, err := buffered.ReadString('\n'); err != nil {
			return t.csvError(err)
		}
		before = 1
	}
	limit := &recordLimit{buffered, maxRecord}
	r := csv.NewReader(limit)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = t.comma, -1, true
	record, err := r.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	header := slices.Clone(record)
	if err == nil && t.noHeader {
		for i := range header {
			header[i] = strconv.Itoa(i + 1)
		}
	}
	if err == nil {
		err = t.checkHeader(header)
	}
	if err != nil {
		return t.csvError(err)
	}
	for first := t.noHeader; ; first = false {
		limit.left = maxRecord
		if !first {
			record, err = r.Read()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return t.csvError(err)
		}
		line, _ := r.FieldPos(0)
		line += before
		row := Row{Line: task.Line{File: t.name, Number: line}, order: header, cells: make(map[string]json.RawMessage, len(header))}
		if len(record) != len(header) {
			return row.Errorf("%d cells, where the header has %d columns: quote a cell that holds a separator", len(record), len(header))
		}
		for i, text := range record {
			if !utf8.ValidString(text) {
				at, column := r.FieldPos(i)
				return notUTF8(t.name, at+before, column+len(validPart(text)))
			}
			if header[i] == "" {
				continue
			}
			row.cells[header[i]] = nil
			if text != "" {
				row.cells[header[i]] = quoted(text)
			}
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// quoted is a text as JSON.
func quoted(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // texts always encode
		panic(err)
	}
	return raw
}

// validPart is the beginning of a text up to the first byte that is not UTF-8.
func validPart(text string) string {
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return text[:i]
		}
	}
	return text
}

func notUTF8(name string, line, column int) error {
	return fmt.Errorf("%s:%d:%d: invalid UTF-8: it is Latin-1, Windows-1252 or damaged: save the file as UTF-8", name, line, column)
}

// checkHeader cleans the names of the columns and refuses what cannot name them.
// A column without a name, as pandas writes for its index, is left out.
func (t *Table) checkHeader(header []string) error {
	if len(header) > maxColumns {
		return fmt.Errorf("%s:1: %d columns: at most %d are read", t.name, len(header), maxColumns)
	}
	first := map[string]bool{}
	for i, name := range header {
		if !utf8.ValidString(name) {
			return notUTF8(t.name, 1, 1+len(validPart(strings.Join(header[:i+1], ","))))
		}
		header[i] = strings.TrimSpace(name)
		if header[i] != "" && first[header[i]] {
			if looksLikeData(header) {
				return t.missing(Mapping{}, header, fmt.Errorf("the first row has %.60q twice, and looks like data", header[i]))
			}
			return fmt.Errorf("%s:1: two columns are called %q: rename one, or add a first line with the names", t.name, header[i])
		}
		first[header[i]] = true
	}
	if len(header) > 1 {
		return nil
	}
	for _, name := range []string{"tab", "semicolon", "pipe", "comma"} {
		if c := separators()[name]; c != t.comma && strings.ContainsRune(header[0], c) {
			return fmt.Errorf("%s:1: the header is one column, %.80q: write separator=%s if the cells are separated so", t.name, header[0], name)
		}
	}
	return nil
}

// csvError says in plain words what is wrong with a record.
func (t *Table) csvError(err error) error {
	var parse *csv.ParseError
	if !errors.As(err, &parse) {
		if errors.Is(err, errLongRecord) {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		return err
	}
	if errors.Is(parse.Err, csv.ErrBareQuote) {
		return fmt.Errorf("%s:%d:%d: a quote inside a cell: quote the whole cell and write the quote twice", t.name, parse.Line, parse.Column)
	}
	return fmt.Errorf("%s:%d:%d: a quote is missing or one too many, in the record that begins in line %d: inside a quoted cell write a quote twice",
		t.name, parse.Line, parse.Column, parse.StartLine)
}
