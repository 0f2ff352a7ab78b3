package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"reflect"
	"slices"
	"strings"
)

// Bounds of what is shown of a value. What is left out is said.
const (
	maxRows    = 200      // of the table of a slice or a map
	maxColumns = 20       // of such a table
	maxPixels  = 64 << 20 // of an image
	maxPicture = 8 << 20  // bytes of an image
)

// Of is what a value looks like: what it says itself, if it is a [Displayer], a
// picture of an image, the message of an error, a table of a slice of structs
// or maps or of a map, and else what fmt prints for %+v. It never fails: of a
// value whose own methods panic it shows that, unless it is a nil pointer.
func Of(v any) (b Bundle) {
	defer func() {
		p := recover()
		if r := reflect.ValueOf(v); p != nil && r.Kind() == reflect.Pointer && r.IsNil() {
			b = Text("nil")
		} else if p != nil {
			b = Text(fmt.Sprintf("a %T that cannot be shown: its method panicked: %v", v, p))
		}
	}()
	switch v := v.(type) {
	case nil:
		return Text("nil")
	case Displayer:
		return complete(v.Display())
	case error:
		return Text("error: " + v.Error())
	case image.Image:
		return picture(v)
	case json.RawMessage:
		return JSONValue(v)
	case string:
		return Text(v)
	}
	r := reflect.ValueOf(v)
	if t, ok := tableOf(r); ok {
		return t.Display()
	}
	return Text(sprint(r, MaxText-16)) // 16: room for a note that it is cut
}

// complete gives a bundle the text form that it lacks, and bounds the one that
// it has.
func complete(b Bundle) Bundle {
	text, ok := b[PlainText]
	if ok && len(text) <= MaxText {
		return b
	}
	out := Bundle{PlainText: []byte(cut(string(text)))}
	var forms []string
	for mime, content := range b {
		if mime != PlainText {
			out[mime] = content
			forms = append(forms, mime)
		}
	}
	if !ok {
		slices.Sort(forms)
		out[PlainText] = []byte("[" + strings.Join(forms, ", ") + "]")
	}
	return out
}

// picture shows an image as PNG.
func picture(i image.Image) Bundle {
	width, height := i.Bounds().Dx(), i.Bounds().Dy()
	alt := fmt.Sprintf("image of %d × %d pixels", width, height)
	if width <= 0 || height <= 0 || width > maxPixels/height {
		return Text(alt + ": not shown")
	}
	var b bytes.Buffer
	if err := png.Encode(&b, i); err != nil {
		return Text(fmt.Sprintf("%s: not shown: %v", alt, err))
	}
	if b.Len() > maxPicture {
		return Text(fmt.Sprintf("%s: not shown: it has %d MB as PNG", alt, b.Len()>>20))
	}
	return PNGImage(b.Bytes(), alt)
}

// tableOf makes a table of a slice or an array of structs or maps, or of a map.
// Values that say themselves what they look like as text get none.
func tableOf(v reflect.Value) (Table, bool) {
	if v.Type().Implements(stringer) {
		return Table{}, false
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		kind := v.Type().Elem()
		if v.Len() > 0 && kind.Kind() == reflect.Interface {
			if first := element(v.Index(0)); first.IsValid() {
				kind = first.Type()
			}
		}
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case v.Len() == 0 || reflect.PointerTo(kind).Implements(stringer) || reflect.PointerTo(kind).Implements(failure):
		case kind.Kind() == reflect.Struct:
			return structTable(v, kind)
		case kind.Kind() == reflect.Map && kind.Key().Kind() == reflect.String:
			return mapsTable(v)
		}
	case reflect.Map:
		return mapTable(v), v.Len() > 0
	}
	return Table{}, false
}

var (
	stringer = reflect.TypeFor[fmt.Stringer]()
	failure  = reflect.TypeFor[error]()
)

// element is what a pointer or an interface leads to.
func element(v reflect.Value) reflect.Value {
	for range 10 { // more steps than any value has that is not a ring of pointers
		if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
			return v
		}
		v = v.Elem()
	}
	return reflect.Value{}
}

// structTable has a column for each field that can be seen. There is no table
// if the elements are of several types.
func structTable(v reflect.Value, kind reflect.Type) (Table, bool) {
	t := Table{}
	var fields []int
	for i := range kind.NumField() {
		if f := kind.Field(i); f.IsExported() {
			fields = append(fields, i)
			t.Columns = append(t.Columns, Column{Name: fieldName(kind, i), Right: isNumber(f.Type.Kind())})
		}
	}
	for i := range min(v.Len(), maxRows) {
		row, e := make([]string, len(fields)), element(v.Index(i))
		if e.IsValid() && e.Type() != kind {
			return Table{}, false
		}
		for j, f := range fields {
			if e.IsValid() {
				row[j] = cell(e.Field(f))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.noteMore(v.Len() - maxRows)
	t.bound()
	return t, len(fields) > 0
}

// mapsTable has a column for each key of the maps that are shown.
func mapsTable(v reflect.Value) (Table, bool) {
	t := Table{}
	index := map[string]int{}
	var maps []reflect.Value
	for i := range min(v.Len(), maxRows) {
		m := element(v.Index(i))
		if m.IsValid() && (m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String) {
			return Table{}, false
		}
		maps = append(maps, m)
		if !m.IsValid() {
			continue
		}
		for _, k := range m.MapKeys() {
			index[k.String()] = 0
		}
	}
	for i, name := range sortedKeys(index) {
		index[name] = i
		t.Add(name)
	}
	for _, m := range maps {
		row := make([]string, len(index))
		if m.IsValid() {
			for it := m.MapRange(); it.Next(); {
				row[index[it.Key().String()]] = cell(it.Value())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.noteMore(v.Len() - maxRows)
	t.bound()
	return t, len(index) > 0
}

func mapTable(v reflect.Value) Table {
	t := Table{Columns: []Column{{Name: "key"}, {Name: "value", Right: isNumber(v.Type().Elem().Kind())}}}
	keys := keysOf(v)
	for _, k := range keys[:min(len(keys), maxRows)] {
		t.Row(cell(k), cell(v.MapIndex(k)))
	}
	t.noteMore(len(keys) - maxRows)
	return t
}

func (t *Table) noteMore(rows int) {
	if rows > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("… %d more", rows))
	}
}

// bound leaves out the last columns of a table that has too many, and names
// them.
func (t *Table) bound() {
	if len(t.Columns) <= maxColumns {
		return
	}
	var names []string
	for _, c := range t.Columns[maxColumns:] {
		names = append(names, c.Name)
	}
	t.Columns = t.Columns[:maxColumns]
	t.Notes = append(t.Notes, Line(fmt.Sprintf("… %d more columns: %s", len(names), strings.Join(names, ", ")), defaultWidth))
}

func isNumber(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Float64 }

// cell is a value in a table, without the & of a pointer.
func cell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer && !v.Type().Implements(stringer) && !v.Type().Implements(failure) {
		v = v.Elem()
	}
	return Line(sprint(v, 1000), 200)
}
