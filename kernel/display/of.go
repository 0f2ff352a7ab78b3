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

// maxRows bounds the table of a slice or a map.
const maxRows = 200

// Of is what a value looks like: what it says itself, if it is a [Displayer], a
// picture of an image, the message of an error, a table of a slice or a map of
// structs, and else what fmt prints.
func Of(v any) Bundle {
	switch v := v.(type) {
	case nil:
		return Text("nil")
	case Displayer:
		return complete(v.Display())
	case error:
		return Text("error: " + v.Error())
	case image.Image:
		var b bytes.Buffer
		if err := png.Encode(&b, v); err != nil {
			return Text(fmt.Sprintf("an image that cannot be encoded: %v", err))
		}
		return PNGImage(b.Bytes(), fmt.Sprintf("image of %d × %d pixels", v.Bounds().Dx(), v.Bounds().Dy()))
	case json.RawMessage:
		return JSONValue(v)
	case string:
		return Text(v)
	case fmt.Stringer:
		return Text(v.String())
	}
	if t, ok := tableOf(reflect.ValueOf(v)); ok {
		return t.Display()
	}
	return Text(fmt.Sprintf("%+v", v))
}

// complete adds the text form to a bundle that lacks it.
func complete(b Bundle) Bundle {
	if _, ok := b[PlainText]; ok || b == nil {
		return b
	}
	var forms []string
	for mime := range b {
		forms = append(forms, mime)
	}
	slices.Sort(forms)
	out := Bundle{PlainText: []byte("[" + strings.Join(forms, ", ") + "]")}
	for mime, content := range b {
		out[mime] = content
	}
	return out
}

// tableOf makes a table of a slice or an array of structs or maps, or of a map.
func tableOf(v reflect.Value) (Table, bool) {
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Len() == 0 {
			return Table{}, false
		}
		first := element(v.Index(0))
		if first.Kind() == reflect.Struct && first.NumField() > 0 {
			return structTable(v), true
		}
	case reflect.Map:
		if v.Len() > 0 {
			return mapTable(v), true
		}
	}
	return Table{}, false
}

// element is what a pointer or an interface leads to.
func element(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return reflect.Value{}
		}
		v = v.Elem()
	}
	return v
}

func structTable(v reflect.Value) Table {
	t := Table{}
	kind := element(v.Index(0)).Type()
	var fields []int
	for i := range kind.NumField() {
		if f := kind.Field(i); f.IsExported() {
			fields = append(fields, i)
			t.Columns = append(t.Columns, Column{Name: f.Name, Right: isNumber(f.Type.Kind())})
		}
	}
	for i := range min(v.Len(), maxRows) {
		row, e := make([]string, len(fields)), element(v.Index(i))
		for j, f := range fields {
			if e.IsValid() && e.Type() == kind {
				row[j] = cell(e.Field(f))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if more := v.Len() - maxRows; more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("… %d more", more))
	}
	return t
}

func mapTable(v reflect.Value) Table {
	t := Table{Columns: []Column{{Name: "key"}, {Name: "value", Right: isNumber(v.Type().Elem().Kind())}}}
	rows := make([][]string, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		rows = append(rows, []string{cell(it.Key()), cell(it.Value())})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	if more := len(rows) - maxRows; more > 0 {
		rows = rows[:maxRows]
		t.Notes = append(t.Notes, fmt.Sprintf("… %d more", more))
	}
	t.Rows = rows
	return t
}

func isNumber(k reflect.Kind) bool { return reflect.Int <= k && k <= reflect.Float64 }

func cell(v reflect.Value) string {
	if !v.CanInterface() {
		return ""
	}
	return Line(fmt.Sprint(v.Interface()), 200)
}
