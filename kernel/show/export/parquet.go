package export

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// rowGroup is how many rows are held before they are written.
const rowGroup = 5000

// Parquet writes row groups, zstd-compressed, all columns optional: what is
// undefined is null.
func (r Rows) Parquet(w io.Writer) error {
	group := parquet.Group{}
	for _, c := range r.Columns {
		group[c.Name] = parquet.Optional(parquet.Compressed(node(c.Kind), &parquet.Zstd))
	}
	schema := parquet.NewSchema("noema", group)
	out := parquet.NewWriter(w, schema, parquet.MaxRowsPerRowGroup(rowGroup))
	order := sortedColumns(r.Columns)
	for row, err := range r.Rows {
		if err != nil {
			return err
		}
		values := make(parquet.Row, len(order))
		for at, from := range order { // a group's columns are in the order of their names
			values[at] = parquetValue(row[from]).Level(0, level(row[from]), at)
		}
		if _, err := out.WriteRows([]parquet.Row{values}); err != nil {
			return fmt.Errorf("export parquet: %w", err)
		}
	}
	return out.Close()
}

func node(k Kind) parquet.Node {
	switch k {
	case Integer:
		return parquet.Int(64)
	case Float:
		return parquet.Leaf(parquet.DoubleType)
	case Bool:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.String()
}

// sortedColumns gives the places of the columns in the order of their names.
func sortedColumns(columns []Column) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(columns[a].Name, columns[b].Name) })
	return order
}

func parquetValue(v any) parquet.Value {
	if v == nil {
		return parquet.NullValue()
	}
	return parquet.ValueOf(v)
}

// level is the definition level of an optional value.
func level(v any) int {
	if v == nil {
		return 0
	}
	return 1
}
