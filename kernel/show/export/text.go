package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"noema/kernel/result/record"
)

// JSONL writes a JSON object a line, with the columns in their order and null
// for what is undefined. Seeds are texts, since as numbers they would lose digits in most
// readers of JSON; lists are lists.
func (r Rows) JSONL(w io.Writer) error {
	var line bytes.Buffer
	for row, err := range r.Rows {
		if err != nil {
			return err
		}
		line.Reset()
		for i, v := range row {
			line.WriteByte(",{"[btoi(i == 0)])
			name, err := record.Marshal(r.Columns[i].Name)
			if err != nil {
				return err
			}
			value, err := r.Columns[i].json(v)
			if err != nil {
				return fmt.Errorf("export %s: %w", r.Columns[i].Name, err)
			}
			line.Write(name)
			line.WriteByte(':')
			line.Write(value)
		}
		line.WriteString("}\n")
		if _, err := w.Write(line.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// json is a value as JSON.
func (c Column) json(v any) ([]byte, error) {
	text, isText := v.(string)
	switch {
	case c.Kind == List && isText:
		return []byte(text), nil
	case c.Kind == Unsigned && v != nil:
		v = formatSeed(v.(uint64))
	}
	return record.Marshal(v)
}

// JSON writes an array of such objects.
func (r Rows) JSON(w io.Writer) error {
	var lines bytes.Buffer
	if err := r.JSONL(&lines); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "[%s]\n", bytes.ReplaceAll(bytes.TrimSpace(lines.Bytes()), []byte("\n"), []byte(",\n ")))
	return err
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// CSV writes a header and a line for each row; what is undefined is empty. A
// text that a spreadsheet would take for a formula is written with a leading
// apostrophe, so that model output cannot run there.
func (r Rows) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	cells := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		cells[i] = c.Name
	}
	if err := out.Write(cells); err != nil {
		return err
	}
	for row, err := range r.Rows {
		if err != nil {
			return err
		}
		for i, v := range row {
			cells[i] = cell(v)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if strings.ContainsAny(first(v), "=+-@\t\r") && !number(v) {
			return "'" + v
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

func first(s string) string {
	if s == "" {
		return ""
	}
	return s[:1]
}

func number(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// formatSeed writes a random seed as text: as a number it would lose digits in most
// readers of JSON.
func formatSeed(seed uint64) string { return strconv.FormatUint(seed, 10) }
