package pyexpr

import (
	"math/big"
	"regexp"
	"strings"
)

// percentForm is a conversion behind its "%" and its key in parentheses.
var percentForm = regexp.MustCompile(`(?s)^([-+ #0]*)(\*|\d+)?(\.(\*|\d*))?[hlL]?(.)?`)

// percenter is at work on one text % arguments.
type percenter struct {
	m    *machine
	args []Value
	dict Value // what keys are looked up in, or nil
}

func (m *machine) percent(s string, arg Value) Value {
	p := &percenter{m: m, args: []Value{arg}}
	switch x := arg.(type) {
	case *Tuple:
		p.args = x.items
	case *Dict, *List, *Range, *Match: // what has keys or indices need not be used
		p.dict = arg
	}
	w := &writer{m: m}
	for {
		m.step(1)
		text, rest, found := strings.Cut(s, "%")
		if w.put(text); !found {
			break
		}
		if s, found = strings.CutPrefix(rest, "%"); found {
			w.put("%")
		} else {
			s = p.conversion(w, rest)
		}
	}
	if len(p.args) > 0 && p.dict == nil {
		raise(typeError, "not all arguments converted during string formatting")
	}
	return m.str(w.String())
}

func (p *percenter) next() Value {
	if len(p.args) == 0 {
		raise(typeError, "not enough arguments for format string")
	}
	v := p.args[0]
	p.args = p.args[1:]
	return v
}

// conversion writes one conversion and returns what follows it.
func (p *percenter) conversion(w *writer, s string) string {
	if strings.HasPrefix(s, "(") {
		key, rest, ok := strings.Cut(s[1:], ")")
		switch {
		case p.dict == nil:
			raise(typeError, "format requires a mapping")
		case !ok:
			raise(valueError, "incomplete format key")
		}
		p.args, s = []Value{p.m.item(p.dict, Str(key))}, rest
	}
	p.m.work(len(s))
	part := percentForm.FindStringSubmatch(s)
	flags, verb := part[1], part[5]
	f := formatSpec{fill: ' ', align: '>', prec: -1, width: p.number(part[2])}
	if part[3] != "" {
		f.prec = max(p.number(part[4]), 0)
	}
	for _, sign := range " +" {
		if strings.ContainsRune(flags, sign) && !strings.Contains("sr", verb) {
			f.sign = string(sign)
		}
	}
	switch {
	case verb == "":
		raise(valueError, "incomplete format")
	case strings.Contains(flags, "#"):
		raise(valueError, "the flag # of %% is not supported: use an f-string")
	case strings.Contains(flags, "-") || f.width < 0:
		f.align, f.width = '<', max(f.width, -f.width)
	case strings.Contains(flags, "0") && !strings.Contains("sr", verb):
		f.fill, f.align = '0', '='
	}
	w.put(p.m.converted(p.next(), verb, f))
	return s[len(part[0]):]
}

func (p *percenter) number(s string) int {
	if s != "*" {
		return specNumber(s)
	}
	v := p.next()
	if _, ok := integer(v); !ok {
		raise(typeError, "* wants int")
	}
	return intArg(v, 0)
}

// converted is one value by one conversion.
func (m *machine) converted(v Value, verb string, f formatSpec) string {
	switch verb {
	case "s":
		return m.formatStr(m.text(v), f)
	case "r":
		return m.formatStr(m.repr(v), f)
	case "e", "f", "g":
		f.verb = verb
		return m.formatFloat(realArg(v), f)
	case "d", "i", "u":
		if x, isFloat := v.(Float); isFloat {
			v = truncate(float64(x))
		}
		z := bigOf(integerArg(v))
		digits := bigText(new(big.Int).Abs(z))
		m.alloc(3*len(digits) + max(f.prec, 0))
		return m.padNumber(z.Sign() < 0, strings.Repeat("0", max(f.prec-len(digits), 0))+digits, "", f)
	case "c", "a", "x", "X", "o", "E", "F", "G":
		raise(valueError, "%%%s is not supported: use %%d, %%s or %%.2f", verb)
	}
	raise(valueError, "unsupported format character '%s'", verb)
	return ""
}
