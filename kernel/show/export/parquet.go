package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is how many rows are held before they are written.
const rowGroup = 5000

// Parquet writes row groups, zstd-compressed, all columns optional: what is
// undefined is null. Lists are lists of structs.
func (r Rows) Parquet(w io.Writer) error {
	out := parquet.NewWriter(w, parquet.NewSchema("noema", group(r.Columns)), parquet.MaxRowsPerRowGroup(rowGroup))
	order := sortedColumns(r.Columns)
	for row, err := range r.Rows {
		if err != nil {
			return err
		}
		var values leaves
		for _, from := range order { // a group's columns are in the order of their names
			v := row[from]
			if text, ok := v.(string); ok && r.Columns[from].Kind == List {
				if err := json.Unmarshal([]byte(text), &v); err != nil {
					return fmt.Errorf("export %s: %w", r.Columns[from].Name, err)
				}
			}
			values.add(r.Columns[from], v, len(values), at{})
		}
		if _, err := out.WriteRows([]parquet.Row{slices.Concat(values...)}); err != nil {
			return fmt.Errorf("export parquet: %w", err)
		}
	}
	return out.Close()
}

func group(columns []Column) parquet.Group {
	g := parquet.Group{}
	for _, c := range columns {
		g[c.Name] = parquet.Optional(node(c))
	}
	return g
}

func node(c Column) parquet.Node {
	leaf := parquet.String()
	switch c.Kind {
	case Integer:
		leaf = parquet.Int(64)
	case Unsigned:
		leaf = parquet.Uint(64)
	case Float:
		leaf = parquet.Leaf(parquet.DoubleType)
	case Bool:
		leaf = parquet.Leaf(parquet.BooleanType)
	case List:
		if len(c.Fields) == 0 {
			return parquet.List(parquet.Optional(node(integers)))
		}
		return parquet.List(group(c.Fields))
	}
	return parquet.Compressed(leaf, &parquet.Zstd)
}

// integers are the elements of a list without fields.
var integers = Column{Name: "element", Kind: Integer}

// sortedColumns gives the places of the columns in the order of their names.
func sortedColumns(columns []Column) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(columns[a].Name, columns[b].Name) })
	return order
}

// leaves are the values of one row by leaf of the schema, with their levels as Dremel's
// paper (2010) has them.
type leaves [][]parquet.Value

// at is where in the schema a value is: its repetition and definition level, and the
// repetition level of what is within.
type at struct{ repeat, define, depth int }

// add appends a value of a column, whose first leaf is the given one, and returns the leaf
// after its last. Every column is optional, and adds a definition level.
func (l *leaves) add(c Column, v any, leaf int, p at) (next int) {
	if c.Kind != List {
		for len(*l) <= leaf {
			*l = append(*l, nil)
		}
		value := parquet.NullValue()
		if number, ok := v.(float64); ok && c.Kind == Integer {
			v = int64(number) // as JSON has it
		}
		if v != nil {
			value = parquet.ValueOf(v)
			p.define++
		}
		(*l)[leaf] = append((*l)[leaf], value.Level(p.repeat, p.define, leaf))
		return leaf + 1
	}
	elements, isList := v.([]any)
	if isList {
		p.define++
	}
	if len(elements) == 0 {
		return l.element(c, nil, leaf, p)
	}
	p.define, p.depth = p.define+1, p.depth+1
	for i, element := range elements {
		if i > 0 {
			p.repeat = p.depth
		}
		next = l.element(c, element, leaf, p)
	}
	return next
}

// element appends an element of a list, nil where there is none.
func (l *leaves) element(c Column, element any, leaf int, p at) (next int) {
	if len(c.Fields) == 0 {
		return l.add(integers, element, leaf, p)
	}
	fields, _ := element.(map[string]any)
	for _, i := range sortedColumns(c.Fields) {
		leaf = l.add(c.Fields[i], fields[c.Fields[i].Name], leaf, p)
	}
	return leaf
}
