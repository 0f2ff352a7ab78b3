package machine

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Package fmt handles the verbs %T and %p without asking the value. They are
// replaced by these two, for which it calls the value's Format.
const (
	verbType    = '\uE000'
	verbPointer = '\uE001'
)

// typed formats them.
type typed struct {
	m *Machine
	x any
}

func (t typed) Format(s fmt.State, verb rune) {
	switch verb {
	case verbType:
		fmt.Fprintf(s, fmt.FormatString(s, 's'), t.m.TypeName(t.x))
	case verbPointer:
		fmt.Fprintf(s, fmt.FormatString(s, 'p'), t.m.plain(t.x))
	default:
		fmt.Fprintf(s, fmt.FormatString(s, verb), t.m.View(t.x))
	}
}

// Error lets a %w have it.
func (t typed) Error() string { return fmt.Sprint(t.m.View(t.x)) }

// typeVerbs replaces %T and %p in the format of a call and wraps its arguments in
// typed. Of arguments that the format does not use, fmt names the types, too.
func (m *Machine) typeVerbs(in []reflect.Value, format int) {
	last := len(in) - 1
	all, ok := in[last].Interface().([]any)
	if !ok {
		return
	}
	text, found, used, stars := replaceVerbs(in[format].String(), len(all))
	used = min(used, len(all))
	var extra []string
	for _, x := range all[used:] {
		extra = append(extra, strings.TrimPrefix(fmt.Sprintf("%s=%v", m.TypeName(inView(x)), x), "<nil>="))
	}
	if extra != nil {
		text += "%%!(EXTRA " + strings.ReplaceAll(strings.Join(extra, ", "), "%", "%%") + ")"
	}
	views := slices.Clone(all[:used])
	for i, x := range views {
		switch {
		case slices.Contains(stars, i):
			views[i] = m.plain(inView(x))
		case found:
			views[i] = typed{m, inView(x)}
		}
	}
	in[format], in[last] = reflect.ValueOf(text), reflect.ValueOf(views)
}

// inView is the cell's value that a view prints, and anything else as it is.
func inView(x any) any {
	if p, ok := x.(Printed); ok {
		return p.x
	}
	return x
}

// replaceVerbs rewrites the verbs T and p of a format for so many arguments. It says whether
// there are any, how many arguments the format uses (all, if it chooses them by their
// indexes), and which of them are widths and precisions.
func replaceVerbs(text string, given int) (replaced string, found bool, used int, stars []int) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		b.WriteByte(text[i])
		if text[i] != '%' {
			continue
		}
		for i++; i < len(text) && strings.IndexByte("+-# 0123456789.*[]", text[i]) >= 0; i++ {
			b.WriteByte(text[i])
			switch text[i] {
			case '*':
				stars = append(stars, used)
				used++
			case '[':
				used = math.MinInt / 2
			}
		}
		if i >= len(text) {
			break
		}
		if text[i] != '%' {
			used++
		}
		verb, missing := rune(text[i]), used > given
		switch {
		case verb == 'T' && !missing:
			verb, found = verbType, true
		case verb == 'p' && !missing:
			verb, found = verbPointer, true
		case verb >= utf8.RuneSelf: // the rest of it follows
			b.WriteByte(text[i])
			continue
		}
		b.WriteRune(verb)
	}
	if used < 0 {
		used = math.MaxInt
	}
	return b.String(), found, used, stars
}
