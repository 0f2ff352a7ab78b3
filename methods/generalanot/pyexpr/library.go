package pyexpr

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"noema/methods"
)

// library is what formulas find without an environment.
type library struct {
	names   map[string]Value
	classes map[*Type]*class
}

// class is what a class offers.
type class struct {
	make    *builtin                       // what calling it does; nil for no call
	statics map[string]*builtin            // functions of the class itself: date.fromisoformat
	attrs   map[string]func(v Value) Value // data: the year of a date
	methods map[string]*builtin            // their first argument is the object
}

// builtin is a function with its parameters. do gets one value for each of
// them, nil where an optional one is not given, and then the rest.
type builtin struct {
	name       string
	params     []param
	positional int  // params that can be given by position; the others follow
	rest       bool // takes any number of further arguments
	keywords   bool // takes any names, as a dict in the last of params
	do         func(m *machine, a []Value) Value
}

type param struct {
	name     string
	optional bool
	byName   bool
}

// def declares a builtin by its name and its parameters: "x" must be given, "x?"
// may be, "x/" only by position, "*x" only by name, "x..." takes the rest and
// "**", which comes last of the others, a dict of all other names.
func def(signature string, do func(m *machine, a []Value) Value) *builtin {
	words := strings.Fields(signature)
	b := &builtin{name: words[0], do: do}
	for _, w := range words[1:] {
		if strings.HasSuffix(w, "...") {
			b.rest = true
			continue
		}
		p := param{name: strings.Trim(w, "*?/"), optional: strings.Contains(w, "?"), byName: !strings.HasSuffix(w, "/")}
		b.params = append(b.params, p)
		b.keywords = b.keywords || w == "**"
		if w[0] != '*' {
			b.positional++
		}
	}
	return b
}

// defMethod declares a method: do gets the object first.
func defMethod(signature string, do func(m *machine, a []Value) Value) *builtin {
	name, params, _ := strings.Cut(signature, " ")
	return def(name+" self/ "+params, do)
}

func byName(bs ...*builtin) map[string]*builtin {
	out := make(map[string]*builtin, len(bs))
	for _, b := range bs {
		out[b.name] = b
	}
	return out
}

// call sorts the arguments into the parameters and calls do. Every error about
// the number or the names of a builtin's arguments is raised here.
func (b *builtin) call(m *machine, args []Value, kw []keyword) Value {
	m.alloc(16 * (len(b.params) + len(args)))
	out := make([]Value, len(b.params))
	n := copy(out[:b.positional], args)
	if n < len(args) && !b.rest {
		raise(typeError, "%s: too many arguments by position", b.usage())
	}
	more := new(Dict)
	if b.keywords {
		out[len(out)-1] = more
	}
	for _, k := range kw {
		i := slices.IndexFunc(b.params, func(p param) bool { return p.byName && p.name == k.name })
		if i < 0 && b.keywords {
			more.put(m, Str(k.name), k.val)
			continue
		}
		if i < 0 {
			raise(typeError, "%s: there is no parameter '%s'", b.usage(), k.name)
		}
		if out[i] != nil {
			raise(typeError, "%s: '%s' is given by name and by position", b.usage(), k.name)
		}
		out[i] = k.val
	}
	for i, p := range b.params {
		if out[i] == nil && !p.optional {
			raise(typeError, "%s: '%s' is missing", b.usage(), p.name)
		}
	}
	return b.do(m, append(out, args[n:]...))
}

// usage is how the builtin is called, without the object of a method.
func (b *builtin) usage() string {
	var names []string
	for _, p := range b.params {
		if p.name != "self" && p.name != "" {
			names = append(names, p.name)
		}
	}
	if b.rest {
		names = append(names, "...")
	}
	return b.name + "(" + strings.Join(names, ", ") + ")"
}

func (b *builtin) value() *Func { return &Func{b.name, b.call} }

// stdlib is built once. What it refers to must not refer to it: functions of
// the library find it in their machine.
var stdlib = sync.OnceValue(func() *library {
	l := &library{names: map[string]Value{}, classes: classes()}
	for t, c := range l.classes {
		if c.make != nil {
			l.names[c.make.name] = t
		}
	}
	for _, b := range builtins() {
		l.names[b.name] = b.value()
	}
	mathNames := mathModule()
	for _, bare := range []string{"log", "log10", "exp", "sqrt", "floor", "ceil"} {
		l.names[bare] = mathNames[bare]
	}
	l.names["math"] = &Module{"math", mathNames}
	l.names["collections"] = &Module{"collections", map[string]Value{"Counter": typeCounter}}
	l.names["statistics"] = &Module{"statistics", statisticsModule()}
	l.names["re"] = &Module{"re", reModule()}
	return l
})

// Builtins are the names that formulas may use without an environment, sorted.
func Builtins() []string { return slices.Sorted(maps.Keys(stdlib().names)) }

// Instead is what a formula writes instead of a name that Python has and
// formulas have not: "use isinstance(x, str)". It is empty for other names.
func Instead(name string) string {
	for names, cure := range map[string]string{
		"type callable hasattr":          "use isinstance(x, str)",
		"getattr setattr vars dir":       "use x.name or d['name']",
		"hash id":                        "use the value itself as a key",
		"Fraction Decimal fractions":     "use integers or floats",
		"defaultdict OrderedDict":        "use a dict comprehension, Counter or d.get(key, default)",
		"reduce functools itertools":     "use sum, max, min or a comprehension",
		"np numpy pd pandas scipy":       "use sum, statistics and comprehensions",
		"json ast eval exec compile":     "pass the data as an input",
		"print input open os sys random": "a formula only computes a value",
		"bytes bytearray complex slice":  "use texts, numbers and xs[a:b]",
		"hex oct bin ascii":              "use repr or an f-string",
		"string unicodedata":             "use the methods of str",
		"timezone tzinfo zoneinfo pytz":  "use datetimes without a zone",
		"mean median mode stdev":         "use statistics." + name,
		"search findall sub match":       "use re." + name,
		"fsum prod pi inf nan isnan":     "use math." + name,
	} {
		if slices.Contains(strings.Fields(names), name) {
			return cure
		}
	}
	return ""
}

func (l *library) method(t *Type, name string) *builtin {
	for ; t != nil; t = t.base {
		if c := l.classes[t]; c != nil && c.methods[name] != nil {
			return c.methods[name]
		}
	}
	return nil
}

func (m *machine) attr(v Value, name string) Value {
	switch x := v.(type) {
	case *Module:
		if val := x.attrs[name]; val != nil {
			return val
		}
		known := slices.Sorted(maps.Keys(x.attrs))
		hint := methods.DidYouMean(name, known)
		if hint == "" {
			hint = ": it has " + strings.Join(known, ", ")
		}
		raise(attributeError, "module '%s' has no attribute '%s'%s", x.name, name, hint)
	case *Type:
		return m.classAttr(x, name)
	}
	if c := m.lib.classes[v.class()]; c != nil && c.attrs[name] != nil {
		return c.attrs[name](v)
	}
	b := m.lib.method(v.class(), name)
	if b == nil {
		m.noAttr(v.class(), name)
	}
	return &Func{name, func(m *machine, args []Value, kw []keyword) Value { return b.call(m, append([]Value{v}, args...), kw) }}
}

// classAttr is a function of a class: its own, or a method whose object is the
// first argument, such as str.lower.
func (m *machine) classAttr(t *Type, name string) Value {
	if c := m.lib.classes[t]; c != nil && c.statics[name] != nil {
		return c.statics[name].value()
	}
	b := m.lib.method(t, name)
	if b == nil {
		m.noAttr(t, name)
	}
	return &Func{name, func(m *machine, args []Value, kw []keyword) Value {
		if len(args) == 0 || !args[0].class().is(t) {
			raise(typeError, "descriptor '%s' requires a '%s' object", name, t.name)
		}
		return b.call(m, args, kw)
	}}
}

// noAttr says that a class lacks an attribute, and what there is instead.
func (m *machine) noAttr(t *Type, name string) {
	if cure := instead(t, name); cure != "" {
		raise(attributeError, "'%s.%s' is not supported: %s", t.name, name, cure)
	}
	var known []string
	for at := t; at != nil; at = at.base {
		if c := m.lib.classes[at]; c != nil {
			known = slices.Concat(known, slices.Collect(maps.Keys(c.methods)), slices.Collect(maps.Keys(c.attrs)), slices.Collect(maps.Keys(c.statics)))
		}
	}
	slices.Sort(known)
	hint := methods.DidYouMean(name, known)
	if hint == "" && len(known) > 0 {
		hint = ": it has " + strings.Join(slices.Compact(known), ", ")
	}
	raise(attributeError, "'%s' object has no attribute '%s'%s", t.name, name, hint)
}

// instead is what a formula writes instead of methods that CPython has and
// that have no near name here.
func instead(t *Type, name string) string {
	has := func(names string) bool { return slices.Contains(strings.Fields(names), name) }
	changes := "it changes its object, which a formula cannot do: "
	switch {
	case t.is(typeDate) && has("today now utcnow"):
		return "it reads the clock, which a formula cannot do: pass the day as an input"
	case t.is(typeDate) && has("isocalendar"):
		return "use (d - date(d.year, 1, 1)).days // 7 or weekday()"
	case t.is(typeDate) && has("combine min max resolution"), t == typeTime && has("min max resolution strftime"):
		return "write it out: datetime(d.year, d.month, d.day, 12, 30), time(23, 59)"
	case t.is(typeDate) && has("replace"):
		return "make a new one: date(d.year, d.month, 1)"
	case t == typeList && has("sort"):
		return changes + "use sorted(xs)"
	case t == typeList && has("append extend insert reverse"):
		return changes + "use xs + [x] or xs[::-1]"
	case t == typeCounter && has("update subtract"):
		return changes + "count once, as in Counter([*xs, *ys])"
	case t == typeCounter && has("elements"):
		return "use [k for k, n in c.items() for i in range(n)]"
	case t == typeCounter && has("fromkeys"):
		return "use Counter(xs)"
	case t.is(typeDict) && has("update setdefault"):
		return changes + "use {**d, key: value}"
	case t == typeSet && has("add update remove discard"):
		return changes + "use s | {x} or s - {x}"
	case t == typeStr && has("center ljust rjust expandtabs format_map"):
		return "use an f-string such as f'{s:>10}'"
	case t == typeStr && has("title capitalize swapcase"):
		return "use upper or lower"
	case t == typeStr && has("isdecimal isnumeric"):
		return "use isdigit"
	case t == typeStr && has("splitlines"):
		return `use split('\n')`
	case (t == typeList || t.is(typeDict) || t == typeSet) && has("pop popitem clear remove"):
		return changes + "use an index or a comprehension"
	}
	return ""
}
