package aot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/methods/reply"
)

// The bounds of an outline.
const (
	maxOutline = 150 // lines
	maxSamples = 6   // values of a line
	maxSample  = 40  // bytes of a value
	maxKeys    = 40  // keys of an object that stand for themselves
)

// outline says what is where in data: a line for each path with the kinds of
// values there and some of them. All items of a list share a path, such as
// items[].name.
type outline struct {
	paths []string // in the order of the data, keys sorted
	lines map[string]*outlineLine
}

type outlineLine struct {
	kinds   []string
	samples []string
	more    bool
}

func outlineOf(fields map[string]any) string {
	o := outline{lines: map[string]*outlineLine{}}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		o.add(key, fields[key], 0)
	}
	slices.SortFunc(o.paths, strings.Compare)
	var b strings.Builder
	for i, path := range o.paths {
		if i == maxOutline {
			fmt.Fprintf(&b, "and %d more paths\n", len(o.paths)-i)
			break
		}
		l := o.lines[path]
		fmt.Fprintf(&b, "%s: %s", path, strings.Join(l.kinds, " or "))
		if len(l.samples) > 0 {
			b.WriteString(", " + strings.Join(l.samples, " | "))
		}
		if l.more {
			b.WriteString(" | …")
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (o *outline) line(path string) *outlineLine {
	l := o.lines[path]
	if l == nil {
		l = &outlineLine{}
		o.lines[path] = l
		o.paths = append(o.paths, path)
	}
	return l
}

// maxPaths bounds the paths that an outline keeps while it is made.
const maxPaths = 2000

func (o *outline) add(path string, v any, depth int) {
	if len(o.paths) >= maxPaths && o.lines[path] == nil || depth > 20 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) > maxKeys || depth == 0 && alike(v) {
			o.entries(path, v, keys, depth)
			return
		}
		for _, key := range keys {
			o.add(path+"."+key, v[key], depth+1)
		}
		if len(keys) == 0 {
			o.line(path).note("object", "")
		}
	case []any:
		kind := "list"
		if depth == 0 {
			kind = fmt.Sprintf("list of %d", len(v))
		}
		o.line(path).note(kind, "")
		for _, e := range v {
			o.add(path+"[]", e, depth+1)
		}
	case string:
		short, cut := reply.Head(v, maxSample)
		if cut {
			short += "…"
		}
		o.line(path).note("text", strconv.Quote(reply.OneLine(short, 2*maxSample)))
	case json.Number:
		o.line(path).note("number", string(v))
	case bool:
		o.line(path).note("true or false", "")
	case nil:
		o.line(path).note("null", "")
	}
}

// alike reports whether an object is a table: its values are all lists.
func alike(v map[string]any) bool {
	for _, e := range v {
		if _, ok := e.([]any); !ok {
			return false
		}
	}
	return len(v) > maxSamples
}

// entries shows an object with many keys as a table.
func (o *outline) entries(path string, v map[string]any, keys []string, depth int) {
	for _, key := range keys {
		o.line(path).note(fmt.Sprintf("object of %d keys", len(keys)), strconv.Quote(reply.OneLine(key, maxSample)))
		o.add(path+".*", v[key], depth+1)
	}
}

// note adds a kind of value, and a value if it is new.
func (l *outlineLine) note(kind, sample string) {
	if !slices.Contains(l.kinds, kind) && len(l.kinds) < maxSamples {
		l.kinds = append(l.kinds, kind)
	}
	switch {
	case sample == "" || slices.Contains(l.samples, sample):
	case len(l.samples) == maxSamples:
		l.more = true
	default:
		l.samples = append(l.samples, sample)
	}
}
