package task

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"unicode/utf8"

	"noema/kernel/base/files"
	"noema/kernel/task/internal/words"
	"noema/methods"
)

// maxLine bounds one line of a JSON Lines file.
const maxLine = 24 << 20

// Line is one line of a JSON Lines file, or another record of a file.
type Line struct {
	File   string // base name
	Number int    // from 1
	Raw    []byte // its JSON without the line end; valid until the next line is read
	Unit   string // what Number counts if it is not lines, such as "element"
}

// EachLine calls each for every line of the JSON Lines file at path that is
// not blank. A byte order mark and Windows line ends are removed. It stops at
// the first error.
func EachLine(path string, each func(Line) error) (err error) {
	f, err := files.Open(path)
	if err != nil {
		return fmt.Errorf("read JSON lines: %w", err)
	}
	defer f.Close() // opened for reading: closing cannot lose anything
	return Lines(files.Limit(f, path, files.MaxLines), filepath.Base(path), each)
}

// Lines is [EachLine] for what a reader holds; name is for errors.
func Lines(in io.Reader, name string, each func(Line) error) error {
	r := bufio.NewReaderSize(files.Text(in), 64<<10)
	for number := 1; ; number++ {
		raw, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		line := Line{File: name, Number: number, Raw: bytes.TrimRight(raw, "\r\n")}
		if len(bytes.TrimSpace(line.Raw)) > 0 {
			if err := each(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// readLine returns the next line with its end; io.EOF comes with the last.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Decode decodes the line's one JSON value into what into points at. Errors
// name file, line and column.
func (l Line) Decode(into any) error { return l.decode(into, false) }

// DecodeStrict is Decode with unknown fields as errors.
func (l Line) DecodeStrict(into any) error { return l.decode(into, true) }

func (l Line) decode(into any, strict bool) error {
	if at := invalidUTF8(l.Raw); at >= 0 {
		return l.ErrorAt(at, errors.New("invalid UTF-8: save the file as UTF-8"))
	}
	if at := methods.LoneSurrogate(l.Raw); at >= 0 {
		return l.ErrorAt(at, fmt.Errorf("%s is half of a character: write it with its other half", l.Raw[at:at+6]))
	}
	d := json.NewDecoder(bytes.NewReader(l.Raw))
	if strict {
		d.DisallowUnknownFields()
	}
	err := d.Decode(into)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return l.ErrorAt(int(syntax.Offset)-1, words.Of(err))
	case errors.As(err, &kind):
		return l.ErrorAt(int(kind.Offset)-1, words.Of(err))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return l.ErrorAt(len(l.Raw), errors.New("the JSON value ends too early"))
	case err != nil: // an unknown field, which the error quotes
		_, name, _ := bytes.Cut([]byte(err.Error()), []byte("unknown field "))
		return l.ErrorAt(bytes.Index(l.Raw, name), words.Of(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return l.ErrorAt(int(d.InputOffset())-1, errors.New("more than one JSON value on the line"))
	}
	if at, key := duplicateKey(l.Raw); at >= 0 {
		return l.ErrorAt(at, fmt.Errorf("the key %.60q stands twice in one object: keep one", key))
	}
	return nil
}

// Errorf is an error about the line as a whole.
func (l Line) Errorf(format string, args ...any) error {
	return l.ErrorAt(0, fmt.Errorf(format, args...))
}

// ErrorAt is err at a byte offset; columns count characters from 1. Records that
// are not lines have no columns.
func (l Line) ErrorAt(offset int, err error) error {
	switch {
	case l.Unit != "":
		return fmt.Errorf("%s: %s %d: %w", l.File, l.Unit, l.Number, err)
	case l.Raw == nil:
		return fmt.Errorf("%s:%d: %w", l.File, l.Number, err)
	}
	offset = min(max(offset, 0), len(l.Raw))
	return fmt.Errorf("%s:%d:%d: %w", l.File, l.Number, utf8.RuneCount(l.Raw[:offset])+1, err)
}

// Offset is where the value of a field of the line's object begins; 0 if it has none.
func (l Line) Offset(field string) int {
	d := json.NewDecoder(bytes.NewReader(l.Raw))
	var key json.Token
	if _, err := d.Token(); err != nil {
		return 0
	}
	for d.More() {
		var value json.RawMessage
		var err error
		if key, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return 0
		}
		if key == field {
			return int(d.InputOffset()) - len(value)
		}
	}
	return 0
}

// invalidUTF8 is the offset of the first byte that is not UTF-8; -1 if none.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// duplicateKey is the offset of a key that stands twice in one object of a valid JSON
// value, and the key; -1 if there is none. The decoder would take the last one without a
// word, and others the first.
func duplicateKey(b []byte) (at int, key string) {
	var open []map[string]bool // the keys of each object around, nil for a list
	name := false              // a text that comes now is a key
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			open, name = append(open, map[string]bool{}), true
		case '[':
			open, name = append(open, nil), false
		case '}', ']':
			open, name = open[:len(open)-1], false
		case ',':
			name = open[len(open)-1] != nil
		case ':':
			name = false
		case '"':
			end := endOfText(b, i)
			if name {
				var key string
				keys := open[len(open)-1]
				if err := json.Unmarshal(b[i:end], &key); err == nil && keys[key] {
					return i, key
				}
				keys[key] = true
			}
			i = end - 1
		}
	}
	return -1, ""
}

// endOfText is the offset behind the text of JSON that begins at one.
func endOfText(b []byte, at int) int {
	for i := at + 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
