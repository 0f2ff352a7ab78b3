package yaegi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"
)

// sight is what a compiled function would see in a value of a cell's type, which the
// interpreter gives it without its name and methods, and with exported fields.
type sight struct {
	methods string // the names of methods that it would call
	names   bool   // the names of fields
	verb    string // kinds that the verb of a format does not fit print the names of types; "" fits all
}

// same reports whether compiled code sees in a value what it sees in Go. Hidden is a
// value of an unexported field, of which compiled code calls no method. No type within
// may contain itself.
func (l *lowering) same(t types.Type, s sight, hidden bool, within ...types.Type) bool {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		if has(t, s.methods) && (hidden || l.owns(t)) || slices.Contains(within, t) {
			return false
		}
		if !l.owns(t) && !hidden {
			return s.verb == "" || has(t, s.methods)
		}
		within = append(slices.Clip(within), n)
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer && fits(u, s.verb)
	case *types.Struct:
		for f := range u.Fields() {
			if s.names && (f.Embedded() || !f.Exported()) || !l.same(f.Type(), s, hidden || !f.Exported(), within...) {
				return false
			}
		}
		return true
	case *types.Map:
		return l.same(u.Key(), s, hidden, within...) && l.same(u.Elem(), s, hidden, within...)
	case *types.Pointer:
		return s.verb == "" && l.same(u.Elem(), s, hidden, within...)
	case *types.Slice, *types.Array:
		return l.same(u.(interface{ Elem() types.Type }).Elem(), s, hidden, within...)
	case *types.Interface:
		return !hidden && s.verb == "" && (u.Empty() || !l.owns(t))
	}
	return false
}

// has reports whether values of a type, or pointers to them, have one of the methods.
func has(t types.Type, names string) bool {
	if _, pointer := t.Underlying().(*types.Pointer); !pointer && !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		if slices.Contains(strings.Fields(names), m.Obj().Name()) {
			return true
		}
	}
	return false
}

// fits reports whether a verb prints a value of a basic type.
func fits(b *types.Basic, verb string) bool {
	info := b.Info()
	switch {
	case verb == "":
		return true
	case info&types.IsInteger != 0:
		return strings.Contains("bcdoOqxXU", verb)
	case info&types.IsFloat != 0:
		return strings.Contains("beEfFgGxX", verb)
	case info&types.IsString != 0:
		return strings.Contains("sqxX", verb)
	}
	return info&types.IsBoolean != 0 && verb == "t"
}

// formatting are the methods that package fmt calls.
const formatting = "Error String Format GoString"

// printing is the verb, with its flags, by which a call prints an argument; ok is false
// if it does not print it, or not surely by that verb.
func (l *lowering) printing(call *ast.CallExpr, f *types.Func, x ast.Expr) (verb string, ok bool) {
	path, sig := f.Pkg().Path(), f.Signature()
	switch {
	case path == "noema/cell/hooks":
		return "+v", true
	case call.Ellipsis.IsValid() || !sig.Variadic():
		return "", false
	case path != "log" && (path != "fmt" || !strings.Contains(f.Name(), "rint") && f.Name() != "Errorf" && !strings.HasPrefix(f.Name(), "Append")):
		return "", false
	}
	first := sig.Params().Len() - 1
	at := slices.Index(call.Args, x) - first
	if !strings.HasSuffix(f.Name(), "f") {
		return "v", at >= 0
	}
	format := l.info.Types[call.Args[max(first-1, 0)]].Value
	if format == nil || format.Kind() != constant.String {
		return "", false
	}
	all, ok := verbs(constant.StringVal(format))
	if !ok || at < 0 || at >= len(all) {
		return "", false
	}
	return all[at], true
}

// verbs are those of a format, each with its flags, for one value after the other; ok
// is false if they take the values in another order.
func verbs(format string) (all []string, ok bool) {
	for {
		_, rest, found := strings.Cut(format, "%")
		if !found {
			return all, true
		}
		verb := strings.TrimLeft(rest, "+-# 0123456789.")
		if verb == "" || verb[0] == '*' || verb[0] == '[' {
			return nil, false
		}
		if verb[0] != '%' {
			all = append(all, rest[:len(rest)-len(verb)+1])
		}
		format = verb[1:]
	}
}

// printed reports whether an argument is only printed, and arranges that it prints as
// in Go: the interpreter loses the methods that package fmt calls.
func (l *lowering) printed(c conversion, f *types.Func) bool {
	flags, ok := l.printing(c.call, f, c.x)
	if !ok || strings.ContainsAny(flags, "#Tpw") {
		return false
	}
	verb := flags[len(flags)-1:]
	shows := f.Pkg().Path() == "noema/cell/hooks"
	if shows && has(c.from, "Error Display ColorModel") {
		return false
	}
	v := l.typeText(c.from)
	if has(c.from, formatting) {
		by := l.texting(c.from)
		if has(c.from, "Format GoString") {
			return false
		}
		if by != "" && strings.Contains("vsxXq", verb) {
			nilToo := ""
			if _, pointer := c.from.Underlying().(*types.Pointer); pointer {
				nilToo = fmt.Sprintf("if v == nil {\n%s.Refuse(\"yaegi goes wrong with a nil pointer whose type has a method %s\")\n}\n", hostName, by)
			}
			l.boxes[c.x] = box{fmt.Sprintf("func(v %s) any {\n%sreturn %s.Text(%v, v.%s())\n}", v, nilToo, hostName, isString(c.from), by), c.to}
			return true
		}
		if n, ok := types.Unalias(c.from).(*types.Named); !ok || by != "" && verb == "v" || !l.same(n.Underlying(), sight{methods: formatting, names: strings.Contains(flags, "+"), verb: strings.Trim(verb, "v")}, false) {
			return false
		}
		l.boxes[c.x] = box{fmt.Sprintf("func(v %s) any {\nreturn v\n}", v), c.to}
		return true
	}
	return l.same(c.from, sight{methods: formatting, names: strings.Contains(flags, "+"), verb: strings.Trim(verb, "v")}, false)
}

// texting is the method by which package fmt prints a value of a type: Error, String,
// or none, "".
func (l *lowering) texting(t types.Type) string {
	set := types.NewMethodSet(t)
	for _, name := range []string{"Error", "String"} {
		if m := set.Lookup(nil, name); m != nil && len(m.Index()) == 1 && m.Type().String() == "func() string" {
			return name
		}
	}
	return ""
}

// taken reports whether a compiled function does with an argument of a cell's type
// what it does in Go.
func (l *lowering) taken(c conversion) bool {
	f, ok := l.callee0(c.call)
	if !ok || f.Pkg() == nil || l.own(f) {
		return false
	}
	switch f.Pkg().Path() + "." + f.Name() {
	case "sort.Slice", "sort.SliceStable", "sort.SliceIsSorted":
		return true
	case "reflect.DeepEqual":
		return types.Identical(l.info.TypeOf(c.call.Args[0]), l.info.TypeOf(c.call.Args[1]))
	case "encoding/json.Marshal", "encoding/json.MarshalIndent", "encoding/json.Encode":
		return l.same(c.from, sight{methods: "MarshalJSON MarshalText", names: true}, false)
	case "encoding/json.Unmarshal", "encoding/json.Decode":
		l.hosted[c.call] = f.Name()
		return l.same(c.from, sight{methods: "UnmarshalJSON UnmarshalText", names: true}, false)
	case "errors.As":
		to, ok := c.from.Underlying().(*types.Pointer)
		if ok && !types.IsInterface(to.Elem()) && l.failure(to.Elem()) {
			l.hosted[c.call] = "As"
			return true
		}
		return false
	}
	return l.printed(c, f)
}
