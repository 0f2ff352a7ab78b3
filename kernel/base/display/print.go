package display

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sprint is what fmt prints of v for %+v, of about limit bytes at most. fmt
// itself knows no limit: a slice of a hundred million numbers takes gigabytes,
// and a map that holds itself ends the process.
func sprint(v reflect.Value, limit int) string {
	p := printer{limit: limit}
	p.value(v, 0)
	if p.cut {
		return strings.TrimRight(p.String(), " ") + " …"
	}
	return p.String()
}

// maxNested is how deep a value may be nested before the rest is left out.
const maxNested = 50

type printer struct {
	strings.Builder
	limit int
	cut   bool             // something is left out
	path  map[uintptr]bool // pointers that lead to what is printed, to find rings
}

// full reports, and notes, that there is no room for more.
func (p *printer) full() bool {
	p.cut = p.cut || p.Len() >= p.limit
	return p.cut
}

func (p *printer) text(s string) {
	if room := p.limit - p.Len(); len(s) > room {
		s, p.cut = strings.ToValidUTF8(s[:max(room, 0)], ""), true
	}
	p.WriteString(s)
}

func (p *printer) value(v reflect.Value, depth int) {
	switch {
	case !v.IsValid():
		p.text("<nil>")
		return
	case depth > maxNested:
		p.text("…")
		return
	case p.said(v):
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		p.value(v.Elem(), depth+1)
	case reflect.Pointer:
		p.pointer(v, depth, false)
	case reflect.Slice, reflect.Array:
		p.list("[", v.Len(), "]", func(i int) { p.value(v.Index(i), depth+1) })
	case reflect.Struct:
		p.list("{", v.NumField(), "}", func(i int) {
			p.text(fieldName(v.Type(), i) + ":")
			p.field(v.Field(i), depth+1)
		})
	case reflect.Map:
		keys := keysOf(v)
		p.list("map[", len(keys), "]", func(i int) {
			p.value(keys[i], depth+1)
			p.text(":")
			p.value(v.MapIndex(keys[i]), depth+1)
		})
	default:
		p.scalar(v)
	}
}

// field prints a field of a struct.
func (p *printer) field(v reflect.Value, depth int) {
	if v.Kind() == reflect.Pointer && !p.said(v) {
		p.pointer(v, depth, true)
	} else if v.Kind() != reflect.Pointer {
		p.value(v, depth)
	}
}

// said prints what v says of itself, if it does.
func (p *printer) said(v reflect.Value) bool {
	if !v.CanInterface() || v.Kind() == reflect.Interface {
		return false
	}
	switch v.Interface().(type) {
	case fmt.Formatter, fmt.Stringer, error:
		p.text(fmt.Sprintf("%+v", v.Interface()))
		return true
	}
	return false
}

// pointer prints what a pointer leads to, since an address says nothing and is
// never the same twice. Of a struct within a struct the type is enough: behind it
// may be all that a program has.
func (p *printer) pointer(v reflect.Value, depth int, inStruct bool) {
	at := v.Pointer()
	switch kind := v.Elem().Kind(); {
	case kind == reflect.Invalid:
		p.text("<nil>")
	case kind == reflect.Struct && inStruct, p.path[at]:
		p.text(v.Type().String())
	default:
		if p.path == nil {
			p.path = map[uintptr]bool{}
		}
		p.path[at] = true
		p.text("&")
		p.value(v.Elem(), depth+1)
		delete(p.path, at)
	}
}

func (p *printer) list(open string, n int, end string, each func(i int)) {
	p.text(open)
	for i := range n {
		if p.full() {
			return
		}
		if i > 0 {
			p.text(" ")
		}
		each(i)
	}
	p.text(end)
}

func (p *printer) scalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		p.text(v.String())
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		if v.IsZero() {
			p.text("<nil>")
			return
		}
		p.text(v.Type().String()) // an address says nothing and is never the same twice
	default:
		p.text(fmt.Sprint(v)) // fmt prints what a reflect.Value holds
	}
}

// fieldName is the name of a struct's field. Types that are made at run time
// can only have exported fields; whoever makes them writes an X before the name
// of any other field.
func fieldName(t reflect.Type, i int) string {
	name := t.Field(i).Name
	if rest, ok := strings.CutPrefix(name, "X"); ok && t.Name() == "" {
		if r, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsUpper(r) {
			return rest
		}
	}
	return name
}

// keysOf are the keys of a map in order, where they have one.
func keysOf(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return compareKeys(a, b) })
	return keys
}

// compareKeys orders keys: by kind if they are of several, then by value, and
// those that are not numbers or strings by what they look like.
func compareKeys(a, b reflect.Value) int {
	a, b = element(a), element(b)
	if a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch {
	case a.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.CanUint():
		return cmp.Compare(a.Uint(), b.Uint())
	case a.CanFloat():
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	}
	return cmp.Compare(sprint(a, 200), sprint(b, 200))
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
