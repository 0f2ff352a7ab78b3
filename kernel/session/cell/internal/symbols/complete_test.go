package symbols

import (
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"

	"noema/kernel/session/cell/internal/source"
)

// session is a scope as a session with some cells behind it has.
func session(t *testing.T, m *Importer) source.Scope {
	t.Helper()
	main := types.NewPackage("main", "main")
	objects := map[string]types.Object{}
	point := types.NewNamed(types.NewTypeName(token.NoPos, main, "Point", nil), types.NewStruct([]*types.Var{
		types.NewField(token.NoPos, main, "X", types.Typ[types.Int], false),
		types.NewField(token.NoPos, main, "label", types.Typ[types.String], false),
	}, nil), nil)
	objects["Point"] = point.Obj()
	objects["points"] = types.NewVar(token.NoPos, main, "points", types.NewSlice(point))
	kernel, err := m.Import("noema/kernel/lab")
	if err != nil {
		t.Fatal(err)
	}
	lab := kernel.Scope().Lookup("Lab").Type()
	objects["lab"] = types.NewVar(token.NoPos, main, "lab", types.NewPointer(lab))
	return source.Scope{
		Objects: objects,
		Imports: map[string]string{"strings": "strings", "fmt": "fmt", "str": "strconv"},
		Dot:     []string{"noema/kernel/lab"},
	}
}

// at takes the cursor's mark out of a text.
func at(t *testing.T, text string) (string, int) {
	t.Helper()
	before, after, ok := strings.Cut(text, "|")
	if !ok {
		t.Fatalf("no cursor in %q", text)
	}
	return before + after, len(before)
}

func TestComplete(t *testing.T) {
	m := NewImporter()
	scope := session(t, m)
	for _, tt := range []struct {
		name, text, replaces string
		want                 []string // all there, in this order
		not                  []string // none there
	}{
		{"package members", "strings.Cu|", "Cu", []string{"Cut", "CutPrefix", "CutSuffix"}, []string{"Compare", "cutLast"}},
		{"all members", "x := strings.|", "", []string{"Builder", "Contains", "ToUpper"}, []string{"explode"}},
		{"renamed import", "str.Ito|", "Ito", []string{"Itoa"}, nil},
		{"import of this cell", "import \"math\"\nmath.Sq|", "Sq", []string{"Sqrt", "SqrtE"}, nil},
		{"import of this cell under a name", "import mm \"math\"\nmm.Sqrt|", "Sqrt", []string{"Sqrt", "SqrtE"}, nil},
		{"package not imported", "sort.Sl|", "Sl", []string{"Slice", "SliceIsSorted"}, nil},
		{"generic functions that cells have", "import \"slices\"\nslices.Sort|", "Sort", []string{"Sort", "SortFunc", "SortStableFunc"}, nil},
		{"generic functions that cells lack", "import \"iter\"\niter.P|", "P", nil, []string{"Pull", "Pull2"}},
		{"session variable", "poi|", "poi", []string{"points"}, []string{"Point"}},
		{"other case", "POIN|", "POIN", []string{"Point", "points"}, nil},
		{"fields of an element", "points[0].|", "", []string{"X", "label"}, nil},
		{"method of a compiled value", "lab.Ru|", "Ru", []string{"Run"}, nil},
		{"unexported fields of a compiled value", "lab.|", "", []string{"Run"}, []string{"mu", "store"}},
		{"dot import", "Experim|", "Experim", []string{"Experiment"}, nil},
		{"field keys", "e := Experiment{Ta|", "Ta", []string{"Task"}, nil},
		{"field keys that are left", "p := Point{X: 1, |}", "", []string{"label"}, nil},
		{"keys come first", "p := Point{|}", "", []string{"X", "label", "Point"}, nil},
		{"local of a function", "func f(count int) {\n\tcolour := 1\n\tco|\n}", "co", []string{"colour", "count", "complex", "copy", "const", "continue"}, nil},
		{"not yet declared", "func f() {\n\tal|\n\talpha := 1\n}", "al", nil, []string{"alpha"}},
		{"loop variable", "for index, value := range points {\n\tva|", "va", []string{"value", "var"}, nil},
		{"member of a loop variable", "for _, p := range points {\n\tfmt.Println(p.|)\n}", "", []string{"X", "label"}, nil},
		{"in a loop's header", "for i := 0; i < len(points[0].la|", "la", []string{"label"}, nil},
		{"in a condition", "if points[0].|", "", []string{"X", "label"}, nil},
		{"in nested calls", "fmt.Println(strings.ToUpper(strings.TrimS|", "TrimS", []string{"TrimSpace", "TrimSuffix"}, nil},
		{"variable of this cell", "text := strings.NewReader(\"a\")\ntext.Read|", "Read", []string{"Read", "ReadAt", "ReadByte", "ReadRune"}, nil},
		{"function of this cell", "func compute() int { return 1 }\ncomp|", "comp", []string{"compute", "complex"}, nil},
		{"function below the cursor", "comp|\nfunc compute() int { return 1 }", "comp", []string{"compute"}, nil},
		{"result of a function of this cell", "func mk() *strings.Builder { return nil }\nmk().Wri|", "Wri", []string{"Write", "WriteByte"}, nil},
		{"type of this cell", "type Tree struct { left, right *Tree }\nvar tr Tree\ntr.left.ri|", "ri", []string{"right"}, nil},
		{"method of a type of this cell", "type Tree struct{}\nfunc (t Tree) Height() int { return 0 }\nvar tr Tree\ntr.|", "", []string{"Height"}, nil},
		{"receiver", "type Tree struct{ size int }\nfunc (t Tree) Height() int { return t.| }", "", []string{"size", "Height"}, nil},
		{"statement variables in a func", "total := 1.5\nfunc f() { to|", "to", []string{"total"}, nil},
		{"redeclared type", "type Point struct{ Deep int }\nvar p Point\np.|", "", []string{"Deep"}, []string{"label"}},
		{"embedded", "type B struct{ strings.Builder; n int }\nvar b B\nb.|", "", []string{"Builder", "n", "Len", "WriteString"}, []string{"buf", "addr"}},
		{"interface", "var e error\ne.|", "", []string{"Error"}, nil},
		{"type assertion", "var e any\ne.(error).|", "", []string{"Error"}, nil},
		{"closure", "f := func(n int) string {\n\treturn fmt.Spri|\n}", "Spri", []string{"Sprint", "Sprintf", "Sprintln"}, nil},
		{"own generic", "func Map[T, U any](xs []T, f func(T) U) []U { return nil }\nMap(points, func(p Point) int { return p.| })", "", []string{"X", "label"}, nil},
		{"import path", "import \"strin|\"", "strin", []string{"strings"}, nil},
		{"open import path", "import \"noema/ker|", "noema/ker", []string{"noema/kernel/base/score", "noema/kernel/lab"}, []string{"fmt"}},
		{"import path in a group", "import (\n\t\"fmt\"\n\tm \"math/r|\"\n)\nx := 1", "math/r", []string{"math/rand", "math/rand/v2"}, nil},
		{"package clause", "package ma|", "ma", nil, []string{"make"}},
		{"script", "package main\nimport \"os\"\nfunc main() {\n\tos.Ar|\n}", "Ar", []string{"Args"}, nil},
		{"keyword", "fal|", "fal", []string{"false", "fallthrough"}, nil},
		{"builtin", "appe|", "appe", []string{"append"}, nil},
		{"after an open parenthesis", "x := undefined(1, poi|\n", "poi", []string{"points"}, nil},
		{"value on the next line", "x :=\n\tpoi|", "poi", []string{"points"}, nil},
		{"operator and space", "x := 1 + |", "", []string{"points"}, []string{"x"}},
		{"after a broken line", "y := 1 +* 2\nstrings.Cu|", "Cu", []string{"Cut"}, nil},
		{"in a string", "s := \"strings.|\"", "", nil, []string{"Cut"}},
		{"in an open string", "s := \"strings.|", "", nil, []string{"Cut"}},
		{"in a comment", "// strings.|", "", nil, []string{"Cut"}},
		{"in a number", "x := 1.|", "", nil, []string{"X"}},
		{"nothing of that kind", "strings.Zzz|", "Zzz", nil, []string{"Cut"}},
		{"unknown name", "nowhere.|", "", nil, []string{"Cut", "X"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, cursor := at(t, tt.text)
			start, end, items := m.Complete(text, cursor, scope)
			if end != cursor || tt.replaces != "" && text[start:end] != tt.replaces {
				t.Errorf("replaces %q up to %d, want %q up to %d", text[start:end], end, tt.replaces, cursor)
			}
			var texts []string
			for _, it := range items {
				texts = append(texts, it.Text)
			}
			last := -1
			for _, want := range tt.want {
				i := slices.Index(texts, want)
				if i < 0 || i < last {
					t.Fatalf("%q is missing or out of order in %.300q", want, texts)
				}
				last = i
			}
			for _, not := range tt.not {
				if slices.Contains(texts, not) {
					t.Errorf("%q is offered", not)
				}
			}
		})
	}
}

func TestItems(t *testing.T) {
	m := NewImporter()
	scope := session(t, m)
	for _, tt := range []struct {
		text string
		want Item
	}{
		{"strings.Cut|", Item{"Cut", "func", "func(s string, sep string) (before string, after string, found bool)"}},
		{"strings.Builder|", Item{"Builder", "type", "struct"}},
		{"import \"math\"\nmath.MaxInt8|", Item{"MaxInt8", "const", "untyped int = 127"}},
		{"import \"io\"\nio.EOF|", Item{"EOF", "var", "error"}},
		{"strin|", Item{"strings", "package", "strings"}},
		{"st|", Item{"str", "package", "strconv"}},
		{"points|", Item{"points", "var", "[]Point"}},
		{"points[0].la|", Item{"label", "field", "string"}},
		{"var b strings.Builder\nb.Len|", Item{"Len", "method", "func() int"}},
		{"retur|", Item{"return", "keyword", ""}},
		{"appen|", Item{"append", "func", ""}},
		{"import \"embe|", Item{}},
		{"import \"strings|", Item{"strings", "package", "Package strings implements simple functions to manipulate UTF-8 encoded strings."}},
	} {
		text, cursor := at(t, tt.text)
		_, _, items := m.Complete(text, cursor, scope)
		if len(items) == 0 && tt.want == (Item{}) {
			continue
		}
		if len(items) == 0 || items[0] != tt.want && !slices.Contains(items, tt.want) {
			t.Errorf("%q: %+v, want %+v", tt.text, items, tt.want)
		}
	}
}

// A long cell must not make the person wait, whatever is in it.
func TestCompleteInALongCell(t *testing.T) {
	m := NewImporter()
	for _, line := range []string{"x = append(x, 1)\n", "{\n", "((((", "func f() {\n", "\"", "// a\n", "if a.b.c {"} {
		text := strings.Repeat(line, 200_000/len(line))
		start, end, _ := m.Complete(text, len(text), source.Scope{})
		if start > end || end != len(text) {
			t.Errorf("%q repeated: replaces %d to %d of %d", line, start, end, len(text))
		}
		m.Inspect(text, len(text)/2, source.Scope{})
	}
}

// The cursor may be anywhere and the text anything.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{"strings.Cu", "for i := range x {", "func f[T any](x T", "import (\n\"fm", "x.(", "T{a: ", "switch x := y.(type) { case ", "`", "'", "/*"} {
		f.Add(text, len(text))
	}
	m := NewImporter()
	scope := source.Scope{Imports: map[string]string{"strings": "strings"}, Dot: []string{"noema/methods"}}
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		start, end, items := m.Complete(text, cursor, scope)
		if start < 0 || start > end || end > len(text) {
			t.Errorf("replaces %d to %d of %d", start, end, len(text))
		}
		typed := text[start:end]
		for _, it := range items {
			if !strings.HasPrefix(strings.ToLower(it.Text), strings.ToLower(typed)) {
				t.Errorf("%q is offered for %q", it.Text, typed)
			}
		}
		m.Inspect(text, cursor, scope)
	})
}
