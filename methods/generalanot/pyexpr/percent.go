package pyexpr

import (
	"regexp"
	"strings"
)

// percentForm is what follows a percent sign:
// [(key)][flags][width][.precision]type.
var percentForm = regexp.MustCompile(`(?s)^(?:\(([^()]*)\))?([-+ 0]*)(\d*)(?:\.(\d*))?(.)`)

func (m *machine) percent(format string, args Value) Value {
	vals := []Value{args}
	if t, ok := args.(*Tuple); ok {
		vals = t.items
	}
	w, next := &writer{m: m}, 0
	for {
		text, rest, found := strings.Cut(format, "%")
		w.put(text)
		if !found {
			break
		}
		m.step(1)
		p := percentForm.FindStringSubmatch(rest)
		if p == nil {
			raise(valueError, "incomplete format")
		}
		format = rest[len(p[0]):]
		switch {
		case p[5] == "%":
			w.put("%")
		case strings.HasPrefix(rest, "("):
			w.put(m.percentOne(m.percentKey(args, p[1]), p))
			next = len(vals)
		case next == len(vals):
			raise(typeError, "not enough arguments for format string")
		default:
			next++
			w.put(m.percentOne(vals[next-1], p))
		}
	}
	switch args.(type) {
	case *Dict, *List, *Range: // for CPython they are mappings, whose use is optional
		next = len(vals)
	}
	if next < len(vals) {
		raise(typeError, "not all arguments converted during string formatting")
	}
	return m.str(w.String())
}

func (m *machine) percentKey(args Value, key string) Value {
	d, ok := args.(*Dict)
	if !ok {
		raise(typeError, "format requires a mapping")
	}
	return m.item(d, Str(key))
}

// percentOne formats one value; p is a match of percentForm.
func (m *machine) percentOne(v Value, p []string) string {
	f := formatSpec{fill: ' ', align: '>', width: specNumber(p[3]), prec: -1, verb: p[5]}
	left := strings.Contains(p[2], "-")
	if left {
		f.align = '<'
	} else if strings.Contains(p[2], "0") {
		f.fill, f.align = '0', '='
	}
	if strings.Contains(p[2], "+") {
		f.sign = "+"
	} else if strings.Contains(p[2], " ") {
		f.sign = " "
	}
	if strings.Contains(p[0], ".") {
		f.prec = specNumber(p[4])
	}
	switch f.verb {
	case "s", "r":
		if !left {
			f.fill, f.align = ' ', '>'
		}
		return m.formatStr(m.text(m.convert(v, f.verb[0])), f)
	case "e", "E", "f", "F", "g", "G":
		return m.formatFloat(realArg(v), f)
	case "d", "i", "x", "X", "o":
		if x, ok := v.(Float); ok && (f.verb == "d" || f.verb == "i") {
			v = truncate(float64(x))
		}
		if f.prec >= 0 {
			raise(valueError, "a precision of %%%s is not supported", f.verb)
		}
		i, ok := integer(v)
		if !ok {
			raise(typeError, "%%%s format: a number is required, not %s", f.verb, className(v))
		}
		return m.formatInt(bigOf(i), f)
	}
	raise(valueError, "unsupported format character %q: use s r d f e g x o, or an f-string", f.verb)
	return ""
}
