package table

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"noema/kernel/task"
)

// eachParquet reads the row groups one after the other.
func (t *Table) eachParquet(each func(Row) error) (err error) {
	f, err := t.file()
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading: closing cannot lose anything
	info, err := f.Stat()
	if err != nil {
		return err
	}
	number := 0
	defer func() {
		if fault := recover(); fault != nil { // the library panics on some damaged files
			err = fmt.Errorf("%s: damaged after row %d: %v", t.name, number, fault)
		}
	}()
	if err := checkFooter(f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	file, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err == nil {
		err = checkPages(f, info.Size(), file)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	columns := file.Root().Columns()
	leaves := len(file.Schema().Columns())
	var order []string
	for _, c := range columns {
		order = append(order, c.Name())
	}
	for _, group := range file.RowGroups() {
		err := eachGroupRow(group, func(values parquet.Row) error {
			number++
			row := Row{Line: task.Line{File: t.name, Number: number, Unit: "row"}, order: order}
			row.cells, row.faults = assemble(columns, leaves, values)
			return each(row)
		})
		if errors.Is(err, errDamaged) {
			return fmt.Errorf("%s: row %d: %w", t.name, number+1, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

var errDamaged = errors.New("the file is damaged")

// eachGroupRow calls each for every row of a group.
func eachGroupRow(group parquet.RowGroup, each func(parquet.Row) error) error {
	rows := group.Rows()
	defer rows.Close()
	batch := make([]parquet.Row, 32)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			if err := each(row); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
	}
}

// assembler builds JSON from the values of a row, column by column, as their
// definition and repetition levels say.
//
// Source: Melnik et al. 2010, "Dremel", section 4.3; the lists and maps of
// apache/parquet-format, LogicalTypes.md.
type assembler struct {
	columns [][]parquet.Value // what is left of each leaf column
	fault   error             // the first value that has no JSON form
}

// assemble is the row that some values make, of a file with so many leaf columns.
func assemble(columns []*parquet.Column, leaves int, values parquet.Row) (cells map[string]json.RawMessage, faults map[string]error) {
	a := assembler{columns: make([][]parquet.Value, leaves)}
	values.Range(func(i int, v []parquet.Value) bool { a.columns[i] = v; return true })
	cells = make(map[string]json.RawMessage, len(columns))
	for _, c := range columns {
		a.fault = nil
		cells[c.Name()] = a.value(c, 0, 0)
		if a.fault == nil {
			continue
		}
		if faults == nil {
			faults = map[string]error{}
		}
		faults[c.Name()] = a.fault
	}
	return cells, faults
}

// value takes the value of a column off the leaf columns below it. Levels are those
// of what holds it; null is absent.
func (a *assembler) value(c *parquet.Column, definition, repetition int) json.RawMessage {
	if !c.Repeated() {
		return a.single(c, definition, repetition)
	}
	list := a.elements(c, definition, repetition, func(c *parquet.Column, d, r int) json.RawMessage { return a.content(c, d, r) })
	return join('[', list, ']')
}

// single is the value of a column that is not repeated.
func (a *assembler) single(c *parquet.Column, definition, repetition int) json.RawMessage {
	if c.Optional() {
		definition++
		if a.level(c) < definition {
			a.skip(c)
			return nil
		}
	}
	return a.content(c, definition, repetition)
}

// elements takes the elements of a repeated column.
func (a *assembler) elements(c *parquet.Column, definition, repetition int, of func(*parquet.Column, int, int) json.RawMessage) []json.RawMessage {
	definition++
	repetition++
	if a.level(c) < definition {
		a.skip(c)
		return nil
	}
	var list []json.RawMessage
	for more := true; more; more = a.again(c) == repetition {
		raw := of(c, definition, repetition)
		if raw == nil {
			raw = json.RawMessage("null")
		}
		list = append(list, raw)
	}
	return list
}

// content is what a column holds once it is there.
func (a *assembler) content(c *parquet.Column, definition, repetition int) json.RawMessage {
	if c.Leaf() {
		i := c.Index()
		if len(a.columns[i]) == 0 {
			panic("a column ends too early")
		}
		v := a.columns[i][0]
		a.columns[i] = a.columns[i][1:]
		raw, err := leafJSON(c, v)
		if err != nil && a.fault == nil {
			a.fault = err
		}
		return raw
	}
	inner := c.Columns()
	if len(inner) == 1 && inner[0].Repeated() {
		switch kind := logical(c); {
		case kind == "LIST":
			return join('[', a.elements(inner[0], definition, repetition, a.element), ']')
		case kind == "MAP" && len(inner[0].Columns()) == 2:
			return join('{', a.elements(inner[0], definition, repetition, a.entry), '}')
		}
	}
	fields := make([]json.RawMessage, 0, len(inner))
	for _, f := range inner {
		raw := a.value(f, definition, repetition)
		if raw == nil {
			raw = json.RawMessage("null")
		}
		fields = append(fields, pair(quoted(f.Name()), raw))
	}
	return join('{', fields, '}')
}

// element is the element of a list, which most writers wrap in a group of one.
func (a *assembler) element(c *parquet.Column, definition, repetition int) json.RawMessage {
	if inner := c.Columns(); len(inner) == 1 && c.Name() != "array" {
		return a.value(inner[0], definition, repetition)
	}
	return a.content(c, definition, repetition)
}

// entry is a key of a map with its value.
func (a *assembler) entry(c *parquet.Column, definition, repetition int) json.RawMessage {
	key, of := a.value(c.Columns()[0], definition, repetition), a.value(c.Columns()[1], definition, repetition)
	if len(key) == 0 || key[0] != '"' {
		key = quoted(string(key))
	}
	if of == nil {
		of = json.RawMessage("null")
	}
	return pair(key, of)
}

// level is how much of the path to the next value is there.
func (a *assembler) level(c *parquet.Column) int { return a.next(c).DefinitionLevel() }

// again is the level at which the next value repeats; -1 at the end of the row.
func (a *assembler) again(c *parquet.Column) int {
	if len(a.columns[leaf(c).Index()]) == 0 {
		return -1
	}
	return a.next(c).RepetitionLevel()
}

func (a *assembler) next(c *parquet.Column) parquet.Value {
	values := a.columns[leaf(c).Index()]
	if len(values) == 0 {
		panic("a column ends too early")
	}
	return values[0]
}

// skip takes the one value off that each leaf has for what is absent.
func (a *assembler) skip(c *parquet.Column) {
	if !c.Leaf() {
		for _, inner := range c.Columns() {
			a.skip(inner)
		}
		return
	}
	if i := c.Index(); len(a.columns[i]) > 0 {
		a.columns[i] = a.columns[i][1:]
	}
}

// leaf is the first leaf below a column.
func leaf(c *parquet.Column) *parquet.Column {
	for !c.Leaf() {
		if len(c.Columns()) == 0 {
			panic("a group without columns")
		}
		c = c.Columns()[0]
	}
	return c
}

func pair(key, of json.RawMessage) json.RawMessage {
	return append(append(append(make(json.RawMessage, 0, len(key)+len(of)+1), key...), ':'), of...)
}

func join(open byte, parts []json.RawMessage, end byte) json.RawMessage {
	out := json.RawMessage{open}
	for i, p := range parts {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, p...)
	}
	return append(out, end)
}
