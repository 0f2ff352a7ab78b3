package battery

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// shape is a type of a generated program.
type shape struct {
	kind   string // basic, ref, slice, array, map, pointer, struct, func, chan, any
	name   string // of a basic type or a declared one
	key    string // of a map
	elem   *shape
	fields []shapeField
}

type shapeField struct {
	name, tag string
	embedded  bool
	of        *shape
}

// text is the type in Go.
func (s *shape) text() string {
	switch s.kind {
	case "slice":
		return "[]" + s.elem.text()
	case "array":
		return "[2]" + s.elem.text()
	case "map":
		return "map[" + s.key + "]" + s.elem.text()
	case "pointer":
		return "*" + s.elem.text()
	case "chan":
		return "chan " + s.elem.text()
	case "func":
		return "func(" + s.elem.text() + ") " + s.elem.text()
	case "struct":
		var b strings.Builder
		b.WriteString("struct {\n")
		for _, f := range s.fields {
			if !f.embedded {
				b.WriteString(f.name + " ")
			}
			fmt.Fprintf(&b, "%s %s\n", f.of.text(), f.tag)
		}
		return b.String() + "}"
	}
	return s.name
}

// family is a few generated types that contain themselves or each other. The first
// is the one that programs work on.
type family struct {
	rng   *rand.Rand
	id    string
	names []string
	decls map[string]*shape
	param string // the type argument of a generic family, such as "[int]"
	text  string // its declarations
}

func basicShape(name string) *shape { return &shape{kind: "basic", name: name} }

func refShape(name string) *shape { return &shape{kind: "ref", name: name} }

// newFamily makes the types of a seed. Kinds of types that are no struct come in
// turn, so that a few seeds have all.
func newFamily(id string, seed uint64) *family {
	f := &family{rng: rand.New(rand.NewPCG(seed, 29)), id: id, decls: map[string]*shape{}}
	generic := seed%5 == 2
	if generic {
		f.param = []string{"[int]", "[string]"}[f.rng.IntN(2)]
	}
	n := 1 + f.rng.IntN(3)
	for i := range n {
		f.names = append(f.names, fmt.Sprintf("%s%c", id, 'A'+i))
	}
	for i, name := range f.names {
		next := f.names[(i+1)%n]
		if i == 0 && seed%3 == 1 {
			f.decls[name] = f.bare(seed/3, next)
			continue
		}
		f.decls[name] = f.record(next)
	}
	f.text = f.source()
	return f
}

func (f *family) ref(name string) *shape { return refShape(name + f.param) }

// bare is a type that is no struct: a map of itself, a slice of itself.
func (f *family) bare(turn uint64, next string) *shape {
	r := f.ref(next)
	return []*shape{
		{kind: "map", key: "string", elem: r},
		{kind: "slice", elem: r},
		{kind: "array", elem: &shape{kind: "slice", elem: r}},
		{kind: "slice", elem: &shape{kind: "pointer", elem: r}},
		{kind: "map", key: "int", elem: &shape{kind: "slice", elem: r}},
		{kind: "pointer", elem: &shape{kind: "slice", elem: r}},
		{kind: "slice", elem: &shape{kind: "map", key: "string", elem: r}},
		{kind: "func", elem: r},
	}[turn%8]
}

// record is a struct that leads to next, and perhaps to other types of the family.
func (f *family) record(next string) *shape {
	s := &shape{kind: "struct", fields: []shapeField{{name: "Name", of: basicShape("string")}}}
	if f.param != "" {
		s.fields = append(s.fields, shapeField{name: "Key", of: basicShape("K")})
	}
	if f.rng.IntN(2) == 0 {
		name := []string{"int", "float64", "bool", "[]byte", "any", "ID", "time.Duration"}[f.rng.IntN(7)]
		s.fields = append(s.fields, shapeField{name: "Score", of: basicShape(name)})
	}
	for i := range 1 + f.rng.IntN(3) {
		to := next
		if i > 0 {
			to = f.names[f.rng.IntN(len(f.names))]
		}
		field := shapeField{name: fmt.Sprintf("Part%d", i), of: f.edge(f.ref(to), 2)}
		switch f.rng.IntN(8) {
		case 0:
			field.name = fmt.Sprintf("part%d", i)
		case 1:
			field.tag = "`json:\"p" + fmt.Sprint(i) + ",omitempty\" xml:\"p" + fmt.Sprint(i) + "\"`"
		}
		s.fields = append(s.fields, field)
	}
	return s
}

// edge is a type through which a struct may lead to r.
func (f *family) edge(r *shape, depth int) *shape {
	inner := func() *shape {
		if depth == 0 || f.rng.IntN(3) > 0 {
			return r
		}
		return f.edge(r, depth-1)
	}
	switch f.rng.IntN(12) {
	case 0, 1, 2:
		return &shape{kind: "slice", elem: inner()}
	case 3, 4:
		return &shape{kind: "map", key: "string", elem: inner()}
	case 5:
		return &shape{kind: "map", key: "ID", elem: inner()}
	case 6, 7:
		return &shape{kind: "pointer", elem: inner()}
	case 8:
		return &shape{kind: "array", elem: &shape{kind: "slice", elem: inner()}}
	case 9:
		return &shape{kind: "func", elem: inner()}
	case 10:
		return &shape{kind: "slice", elem: &shape{kind: "struct", fields: []shapeField{
			{name: "N", of: basicShape("int")}, {name: "In", of: inner()}}}}
	}
	return &shape{kind: "chan", elem: inner()}
}

// value is an expression for a value of the type, with so many levels below it.
func (f *family) value(s *shape, depth int) string {
	t := s.text()
	switch s.kind {
	case "basic":
		return f.basic(s.name)
	case "ref":
		d := f.decls[strings.TrimSuffix(s.name, f.param)]
		if d.kind == "struct" {
			return t + f.fieldValues(d, depth)
		}
		return t + "(" + f.value(d, depth) + ")"
	case "struct":
		return t + f.fieldValues(s, depth)
	case "array":
		return t + "{" + f.value(s.elem, depth-1) + "}"
	}
	if depth <= 0 || s.kind == "chan" {
		return "(" + t + ")(nil)"
	}
	switch s.kind {
	case "slice":
		var parts []string
		for range f.rng.IntN(4) {
			parts = append(parts, f.value(s.elem, depth-1))
		}
		return t + "{" + strings.Join(parts, ", ") + "}"
	case "map":
		var parts []string
		for i := range f.rng.IntN(3) {
			key := fmt.Sprintf("%q", string(rune('a'+i)))
			if s.key == "int" {
				key = fmt.Sprint(i)
			}
			parts = append(parts, key+": "+f.value(s.elem, depth-1))
		}
		return t + "{" + strings.Join(parts, ", ") + "}"
	case "pointer":
		return "at(" + f.value(s.elem, depth-1) + ")"
	}
	return fmt.Sprintf("func(x %s) %s { return x }", s.elem.text(), s.elem.text())
}

func (f *family) fieldValues(s *shape, depth int) string {
	var parts []string
	for _, field := range s.fields {
		if f.rng.IntN(10) > 0 || field.name == "Name" {
			parts = append(parts, field.name+": "+f.value(field.of, depth-1))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (f *family) basic(name string) string {
	n := f.rng.IntN(100)
	switch name {
	case "K":
		return f.basic(strings.Trim(f.param, "[]"))
	case "string", "ID":
		return fmt.Sprintf("%q", fmt.Sprintf("s%d", n))
	case "float64":
		return fmt.Sprintf("%d.5", n)
	case "bool":
		return fmt.Sprint(n%2 == 0)
	case "[]byte":
		return fmt.Sprintf("[]byte(\"b%d\")", n)
	case "any":
		return []string{"nil", fmt.Sprint(n), `"any"`, "ID(\"x\")", "[]int{1}", f.value(f.ref(f.names[0]), 1)}[n%6]
	}
	return fmt.Sprint(n)
}

// source declares the types, and functions first, again and other, which make a
// value of the first type: the same twice, and another.
func (f *family) source() string {
	var b strings.Builder
	param := ""
	if f.param != "" {
		param = "[K any]"
	}
	for _, name := range f.names {
		text := f.decls[name].text()
		for _, other := range f.names {
			if param != "" {
				text = strings.ReplaceAll(text, other+f.param, other+"[K]")
			}
		}
		fmt.Fprintf(&b, "type %s%s %s\n", name, param, text)
	}
	t := f.root()
	v, w := f.value(refShape(t), 5), f.value(refShape(t), 5)
	for i, text := range []string{v, v, w} {
		fmt.Fprintf(&b, "func make%s%d() %s { return %s }\n", f.id, i, t, text)
	}
	return b.String()
}

// root is the type that programs work on.
func (f *family) root() string { return f.names[0] + f.param }
