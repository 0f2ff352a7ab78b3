package battery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"noema/kernel/base/display"
	"noema/kernel/session/cell"
)

// helpers is what the generated programs share.
const helpers = `
type ID string

func at[T any](v T) *T { return &v }

func text(v any) string { return fmt.Sprintf("%+v", v) }

// walk prints what reflection finds in a value.
func walk(v reflect.Value, depth int) {
	fmt.Print(v.Kind(), " ")
	if depth == 0 || !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			f := v.Type().Field(i)
			fmt.Print(f.Name, " ", f.Tag, " ", f.IsExported(), " ", f.Index, " ")
			walk(v.Field(i), depth-1)
		}
	case reflect.Slice, reflect.Array:
		fmt.Print(v.Len(), " ")
		for i := 0; i < v.Len(); i++ {
			walk(v.Index(i), depth-1)
		}
	case reflect.Map:
		keys := v.MapKeys()
		sort.Slice(keys, func(i, j int) bool { return text(keys[i]) < text(keys[j]) })
		for _, k := range keys {
			fmt.Print(k, " ")
			walk(v.MapIndex(k), depth-1)
		}
	case reflect.Pointer, reflect.Interface:
		fmt.Print(v.IsNil(), " ")
		walk(v.Elem(), depth-1)
	case reflect.Func, reflect.Chan:
		fmt.Print(v.IsNil(), " ")
	case reflect.String:
		fmt.Print(v.String(), " ")
	case reflect.Int:
		fmt.Print(v.Int(), " ")
	}
}

// walkType prints what reflection knows of a type.
func walkType(t reflect.Type, depth int) {
	fmt.Print(t.Kind(), " ", t.Size(), " ", t.Comparable(), " ")
	if depth == 0 {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := 0; i < t.NumField(); i++ {
			fmt.Print(t.Field(i).Name, " ", t.Field(i).Offset, " ")
			walkType(t.Field(i).Type, depth-1)
		}
	case reflect.Map:
		walkType(t.Key(), depth-1)
		walkType(t.Elem(), depth-1)
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Chan:
		walkType(t.Elem(), depth-1)
	case reflect.Func:
		fmt.Print(t.NumIn(), t.NumOut(), " ")
		walkType(t.In(0), depth-1)
	}
}
`

// imports are those of the generated programs.
var imports = []string{
	"bytes", "encoding/gob", "encoding/json", "encoding/xml", "errors", "fmt", "maps", "os", "reflect", "slices",
	"sort", "strings", "text/template", "time",
}

// operations are what the programs do with a type T and the functions of its
// values, by name. "shown" is an expression that a session shows.
var operations = [][2]string{
	{"print", `fmt.Println(make0(), []T{make2()}, map[string]T{"k": make0()})`},
	{"plus", `fmt.Printf("%+v %+v\n", make0(), &[]T{make2()})`},
	{"gosyntax", `fmt.Printf("%#v\n", make2())`},
	{"types", `fmt.Printf("%T %T %T %T\n", make0(), []T{}, map[string]*T{}, func(T) {})`},
	{"verbs", `fmt.Printf("%s %q\n", make0(), make2())`},
	{"shown", `make0()`},
	{"json", `b, err := json.Marshal(make0()); fmt.Println(string(b), err)`},
	{"json list", `b, err := json.MarshalIndent(map[string][]T{"a": {make0(), make2()}}, "", " "); fmt.Println(string(b), err)`},
	{"json back", `b, _ := json.Marshal(make0()); var v T; err := json.Unmarshal(b, &v); fmt.Printf("%+v %v\n", v, err)`},
	{"json over", `b, _ := json.Marshal(make0()); v := make2(); err := json.NewDecoder(bytes.NewReader(b)).Decode(&v); c, _ := json.Marshal(v); fmt.Println(string(c), err)`},
	{"json null", `v := make0(); err := json.Unmarshal([]byte("null"), &v); c, _ := json.Marshal(v); fmt.Println(string(c), err)`},
	{"json nulls", `var v T; b, _ := json.Marshal(make0()); s := strings.NewReplacer("[]", "null", "{}", "null").Replace(string(b)); err := json.Unmarshal([]byte(s), &v); fmt.Printf("%+v %v\n", v, err)`},
	{"json wrong", `var v T; b, _ := json.Marshal(make0()); err := json.Unmarshal([]byte(strings.ReplaceAll(string(b), "\"s", "7, \"s")), &v); fmt.Println(err != nil)`},
	{"json error", `var v T; fmt.Println(json.Unmarshal([]byte("{\"Name\": 1}"), &v))`},
	{"equal", `fmt.Println(reflect.DeepEqual(make0(), make1()), reflect.DeepEqual(make0(), make2()), reflect.DeepEqual([]T{make0()}, []T{make1()}))`},
	{"sort", `l := []T{make0(), make2(), make1()}; sort.Slice(l, func(i, j int) bool { return text(l[i]) < text(l[j]) }); fmt.Println(l)`},
	{"sortfunc", `l := []T{make2(), make0(), make1()}; slices.SortFunc(l, func(a, b T) int { return strings.Compare(text(a), text(b)) }); fmt.Println(l, slices.IndexFunc(l, func(v T) bool { return text(v) == text(make2()) }))`},
	{"template", `err := template.Must(template.New("").Parse("{{.}} {{range $i, $v := .}}{{$i}}={{$v}}{{end}}\n")).Execute(os.Stdout, []T{make0(), make2()}); fmt.Println(err)`},
	{"template map", `err := template.Must(template.New("").Parse("{{len .}} {{with index . \"k\"}}{{.}}{{end}}\n")).Execute(os.Stdout, map[string]T{"k": make0()}); fmt.Println(err)`},
	{"template field", `err := template.Must(template.New("").Parse("{{range .L}}{{.Name}} {{printf \"%v\" .}}{{end}}\n")).Execute(os.Stdout, map[string]any{"L": []T{make0()}}); fmt.Println(err != nil)`},
	{"walk", `v := make0(); walk(reflect.ValueOf(v), 6); walk(reflect.ValueOf(&v), 4); walk(reflect.ValueOf([]T{v}), 5)`},
	{"kinds", `walkType(reflect.TypeOf(make0()), 5); walkType(reflect.TypeOf([]*T{}), 5); walkType(reflect.TypeFor[map[string]T](), 3)`},
	{"names", `t := reflect.TypeOf([]T{}); fmt.Println(t, t.Elem().Name(), t.Elem().String(), t.Elem().PkgPath())`},
	{"field names", `t := reflect.TypeOf(make0()); if t.Kind() == reflect.Struct { for i := 0; i < t.NumField(); i++ { fmt.Println(t.Field(i).Type, t.Field(i).Type.Name()) } }`},
	{"same types", `t := reflect.TypeOf(make0()); fmt.Println(t == reflect.TypeOf(make2()), reflect.TypeOf([]T{}).Elem() == t, reflect.TypeOf(&[]T{}).Elem().Elem() == t, reflect.PointerTo(t) == reflect.TypeFor[*T](), reflect.SliceOf(t) == reflect.TypeFor[[]T](), t == reflect.TypeFor[ID]())`},
	{"set", `l := []T{make0()}; v := reflect.ValueOf(&l).Elem(); v.Set(reflect.Append(v, reflect.ValueOf(make2()), reflect.Zero(v.Type().Elem()))); v.Index(0).Set(v.Index(1)); fmt.Println(l, reflect.New(v.Type().Elem()).Elem().IsZero())`},
	{"back", `x := reflect.ValueOf(make0()).Interface(); v, ok := x.(T); fmt.Println(ok, v)`},
	{"xml", `b, err := xml.Marshal(make0()); fmt.Println(string(b), err)`},
	{"xml back", `b, _ := xml.Marshal(make0()); var v T; err := xml.Unmarshal(b, &v); fmt.Printf("%+v %v\n", v, err != nil)`},
	{"gob", `var b bytes.Buffer; err := gob.NewEncoder(&b).Encode(make0()); fmt.Println(err != nil); if err == nil { var v T; err = gob.NewDecoder(&b).Decode(&v); fmt.Printf("%+v %v\n", v, err) }`},
	{"copy", `a := make0(); b := a; b = make2(); l := []T{a, b}; m := make([]T, 1); n := copy(m, l); k := append(l[:1:1], m...); fmt.Println(n, m, k, a, [2]T{a, b})`},
	{"keys", `v := make0(); m := map[*T]string{&v: "x"}; fmt.Println(m[&v], len(m)); n := map[any]int{}; n[&v]++; n[&v]++; fmt.Println(n[&v])`},
	{"hash", `defer func() { fmt.Println("panic", recover() != nil) }(); n := map[any]int{}; n[make0()]++; fmt.Println(len(n))`},
	{"map", `m := map[string]T{"a": make0(), "b": make2()}; m["c"] = m["a"]; delete(m, "b"); fmt.Println(len(m), m); fmt.Println(maps.Clone(m))`},
	{"assert", `for _, x := range []any{make0(), []T{make0()}, at(make0()), map[string]T{}, ID("i")} { switch v := x.(type) { case T: fmt.Println("T", v); case []T: fmt.Println("list", v); case *T: fmt.Println("at", *v); case map[string]T: fmt.Println("map", v); default: fmt.Printf("%T\n", v) } }`},
	{"chan", `c := make(chan T, 2); c <- make0(); c <- make2(); close(c); for v := range c { fmt.Println(v) }`},
	{"zero", `var v T; fmt.Printf("%+v %#v\n", v, v); p := new(T); *p = make2(); v = *p; fmt.Println(v)`},
	{"closure", `f := func(vs ...T) (n int, l []T) { for i := range vs { n += len(fmt.Sprintf("%T", vs[i])) }; return n, vs }; fmt.Println(f(make0(), make2()))`},
	{"generic", `fmt.Println(slices.Collect(slices.Values([]T{make0()})), at(at(make0())) != nil)`},
	{"wrapped", `err := fmt.Errorf("of %v: %w", make0(), errors.New("x")); fmt.Println(err)`},
	{"anything", `b, err := json.Marshal([]any{make0(), map[string]any{"x": at(make2())}}); fmt.Println(string(b), err); fmt.Println([]any{make0(), 1})`},
}

// operation is an operation's text for a family.
func (f *family) operation(text string) string {
	text = regexp.MustCompile(`([^%])\bT\b`).ReplaceAllString(text, "${1}"+f.root()) // %T is a verb
	return regexp.MustCompile(`\bmake([012])\(`).ReplaceAllString(text, "make"+f.id+"$1(")
}

// addresses differ from run to run.
var addresses = regexp.MustCompile(`0x[0-9a-f]+`)

// TestRecursiveTypes compares what sessions do with types that contain themselves
// with what compiled Go does: many types times many operations. Each must be the
// same, or be refused. More of both, in minutes: NOEMA_BENCH=1.
func TestRecursiveTypes(t *testing.T) {
	t.Parallel()
	n := 8
	if os.Getenv("NOEMA_BENCH") != "" {
		n = 160
	}
	families := make([]*family, n)
	for i := range families {
		families[i] = newFamily(fmt.Sprintf("F%d", i), uint64(i))
	}
	want := compileFamilies(t, families)
	count := map[string]int{}
	for _, f := range families {
		f.compare(t, want, count)
	}
	t.Logf("ssa: %v", count)
	if right := count["right"]; right < n*len(operations)*3/4 {
		t.Errorf("%d of %d are right: too many are refused", right, n*len(operations))
	}
}

// compileFamilies is what each operation on each family prints, compiled.
func compileFamilies(t *testing.T, families []*family) map[string]string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go tool here: nothing to compare with")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module battery\n\ngo 1.26\n")
	var decls, calls strings.Builder
	for _, f := range families {
		decls.WriteString(f.text)
		for i, o := range operations {
			body := o[1]
			if o[0] == "shown" {
				body = `fmt.Printf("%+v", ` + body + `)`
			}
			fmt.Fprintf(&decls, "func run%s%d() { %s }\n", f.id, i, f.operation(body))
			fmt.Fprintf(&calls, "run(%q, run%s%d)\n", f.id+" "+o[0], f.id, i)
		}
	}
	list := "import (\n\"" + strings.Join(imports, "\"\n\"") + "\"\n)\n"
	head := strings.Replace(fmt.Sprintf(runner, mark), "import \"fmt\"\n", list, 1)
	write(t, filepath.Join(dir, "main.go"), head+helpers+"var _ time.Duration\n"+decls.String()+"func main() {\n"+calls.String()+"}\n")
	return outputs(buildAndRun(t, dir))
}

// compare runs the operations on the family's types in one session.
func (f *family) compare(t *testing.T, want map[string]string, count map[string]int) {
	session, err := cell.New(cell.Options{Imports: imports})
	must(t, err)
	defer session.Close()
	_, err = session.Run(t.Context(), helpers, &recorder{})
	must(t, err)
	if _, err := session.Run(t.Context(), f.text, &recorder{}); err != nil {
		t.Errorf("%s: %v\n%s", f.id, err, f.text)
		return
	}
	for i := range operations {
		o := operations[(i*7+len(f.names)*5)%len(operations)] // in different orders
		text := f.operation(o[1])
		if o[0] != "shown" {
			text = "func() { " + text + " }()"
		}
		var out recorder
		ctx, cancel := context.WithTimeout(t.Context(), stuck)
		result, err := session.Run(ctx, text, &out)
		cancel()
		got := out.text()
		if o[0] == "shown" {
			got += string(result.Value[display.PlainText])
		}
		var fault *cell.Error
		switch errors.As(err, &fault); {
		case fault != nil && fault.Kind == "unsupported":
			count["refused"]++
			count["refused "+o[0]]++
			continue
		case fault != nil && fault.Kind == "panic":
			got += "panic: " + strings.TrimPrefix(fault.Faults[0].Message, "panic: ") + "\n"
		case err != nil:
			got += err.Error()
		}
		if plain := addresses.ReplaceAllString(got, "ADDRESS"); plain != addresses.ReplaceAllString(want[f.id+" "+o[0]], "ADDRESS") {
			count["wrong"]++
			count["wrong "+o[0]]++
			t.Errorf("%s: prints\n%s\nwant\n%s\n%s\n%s", o[0], got, want[f.id+" "+o[0]], text, f.text)
			continue
		}
		count["right"]++
	}
}
