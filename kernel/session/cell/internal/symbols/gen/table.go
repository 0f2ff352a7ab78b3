package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/traefik/yaegi/stdlib"
)

// tableFile writes tables.go: what yaegi's tables lack of each package. The layout
// is that of yaegi's extract command: functions, variables, types as nil pointers to
// them, and for each interface a struct of functions, through which interpreted types
// satisfy it. Package symbols finds their names, see named there. Constants are left
// out, because the type checker knows their values, and generic functions and types,
// which reflection cannot hold.
func tableFile(world []*source) ([]byte, error) {
	t := &table{imports: map[string]string{"reflect": "reflect", "sync": "sync"}}
	for _, s := range world {
		key := path.Join(s.PkgPath, s.Name)
		known, std := stdlib.Symbols[key]
		t.values, t.typesOnly, t.std, t.prefix = nil, slices.Contains(given, s.PkgPath), std, strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(s.PkgPath)
		for _, name := range s.Types.Scope().Names() {
			if _, ok := known[name]; !ok && s.Types.Scope().Lookup(name).Exported() {
				t.add(s.Types.Scope().Lookup(name))
			}
		}
		if len(t.values) == 0 && std {
			continue
		}
		fmt.Fprintf(&t.entries, "%q: named(%s),\n", key, filled(t.values))
	}
	return format.Source(t.file())
}

// table is the file in the making.
type table struct {
	imports map[string]string
	entries bytes.Buffer
	wraps   []string // declarations of interface wrappers
	prefix  string   // of the wrappers of the package in hand, as math_rand_v2
	values  []string // its entries

	typesOnly bool // it is one of given
	std       bool // it is of the standard library, whose newest interfaces no cell implements
}

func (t *table) add(o types.Object) {
	switch o := o.(type) {
	case *types.TypeName:
		t.addType(o)
	case *types.Var:
		if !t.typesOnly {
			t.values = append(t.values, fmt.Sprintf("%q, reflect.ValueOf(&%s).Elem()", o.Name(), t.ref(o)))
		}
	case *types.Func:
		if !t.typesOnly && o.Signature().TypeParams().Len() == 0 {
			t.values = append(t.values, t.ref(o))
		}
	}
}

func (t *table) addType(o *types.TypeName) {
	if isGeneric(o.Type()) {
		return
	}
	iface, ok := o.Type().Underlying().(*types.Interface)
	if ok && !iface.IsMethodSet() {
		return // a constraint
	}
	value := "(*" + t.ref(o) + ")(nil)"
	if named, ok := types.Unalias(o.Type()).(*types.Named); !ok || named.Obj().Name() != o.Name() || named.TypeArgs().Len() > 0 {
		value = fmt.Sprintf("%q, %s", o.Name(), value) // an alias, which has no name of its own at run time
	}
	t.values = append(t.values, value)
	if ok && !o.IsAlias() && !t.typesOnly && !t.std { // a wrapper goes by the type's own name
		wrap := "wrap_" + t.prefix + "_" + o.Name()
		t.wraps = append(t.wraps, t.wrapper(wrap, o, iface))
		t.values = append(t.values, "(*"+wrap+")(nil)")
	}
}

// isGeneric says that the type has parameters that no instance has filled.
func isGeneric(t types.Type) bool {
	switch t := t.(type) {
	case *types.Named:
		return t.TypeParams().Len() > t.TypeArgs().Len()
	case *types.Alias:
		return t.TypeParams().Len() > t.TypeArgs().Len()
	}
	return false
}

// filled is a list of values in lines of up to 110 characters.
func filled(values []string) string {
	if all := strings.Join(values, ", "); len(all) < 90 {
		return all
	}
	b := strings.Builder{}
	b.WriteByte('\n')
	width := 0
	for _, v := range values {
		if width += len(v) + 2; width > 110 {
			b.WriteByte('\n')
			width = len(v) + 2
		}
		b.WriteString(v + ", ")
	}
	return b.String() + "\n"
}

// ref names an object of the package itself.
func (t *table) ref(o types.Object) string { return t.qualify(o.Pkg()) + "." + o.Name() }

// qualify names a package in the table's file. Two of one name get a number.
func (t *table) qualify(p *types.Package) string {
	if name, ok := t.imports[p.Path()]; ok {
		return name
	}
	name := p.Name()
	taken := slices.Collect(maps.Values(t.imports))
	for n := 2; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("%s%d", p.Name(), n)
	}
	t.imports[p.Path()] = name
	return name
}

// wrapper declares the struct through which interpreted types satisfy the
// interface. The interpreter knows its fields by their names.
func (t *table) wrapper(name string, o *types.TypeName, iface *types.Interface) string {
	var fields, methods strings.Builder
	for i := range iface.NumMethods() {
		m := iface.Method(i)
		if !m.Exported() {
			continue
		}
		sig := m.Signature()
		params, args := t.params(sig)
		results := t.tuple(sig.Results())
		fmt.Fprintf(&fields, "W%s func(%s) (%s)\n", m.Name(), params, results)
		fmt.Fprintf(&methods, "func (w %s) %s(%s) (%s) {%s}\n", name, m.Name(), params, results, forward(m, args))
	}
	return fmt.Sprintf("type %s struct {\nIValue any\n%s}\n\n%s\n", name, &fields, &methods)
}

// forward is the body of a wrapper's method: one line that calls the field. A
// String that the interpreted type lacks is empty, since fmt calls it on any value.
func forward(m *types.Func, args string) string {
	sig, call := m.Signature(), fmt.Sprintf(" w.W%s(%s) ", m.Name(), args)
	if sig.Results().Len() > 0 {
		call = " return" + call
	}
	if m.Name() == "String" && sig.Params().Len() == 0 {
		call = "\nif w.WString == nil {\nreturn \"\"\n}\n" + call
	}
	return call
}

// params are a signature's parameters under plain names, and the arguments that
// pass them on.
func (t *table) params(sig *types.Signature) (params, args string) {
	var names, decls []string
	for i := range sig.Params().Len() {
		name, typ := fmt.Sprintf("a%d", i), types.TypeString(sig.Params().At(i).Type(), t.qualify)
		if sig.Variadic() && i == sig.Params().Len()-1 {
			names, decls = append(names, name+"..."), append(decls, name+" ..."+strings.TrimPrefix(typ, "[]"))
			continue
		}
		names, decls = append(names, name), append(decls, name+" "+typ)
	}
	return strings.Join(decls, ", "), strings.Join(names, ", ")
}

func (t *table) tuple(results *types.Tuple) string {
	all := make([]string, results.Len())
	for i := range all {
		all[i] = types.TypeString(results.At(i).Type(), t.qualify)
	}
	return strings.Join(all, ", ")
}

// file is the source text, before it is formatted.
func (t *table) file() []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated by go run ./kernel/session/cell/internal/symbols/gen. DO NOT EDIT.\n\npackage symbols\n\n//lint:file-ignore SA1019 a table holds deprecated names too\n\nimport (\n")
	for _, p := range slices.Sorted(maps.Keys(t.imports)) {
		if name := t.imports[p]; name != path.Base(p) {
			fmt.Fprintf(&b, "%s ", name)
		}
		fmt.Fprintf(&b, "%q\n", p)
	}
	b.WriteString(")\n\n// tables are what comes on top of yaegi's own.\nvar tables = sync.OnceValue(func() map[string]map[string]reflect.Value {\nreturn map[string]map[string]reflect.Value{\n")
	b.Write(t.entries.Bytes())
	b.WriteString("}\n})\n\n// The wrappers let interpreted types satisfy interfaces.\n\n" + strings.Join(t.wraps, ""))
	return b.Bytes()
}
