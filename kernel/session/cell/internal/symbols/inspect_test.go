package symbols

import (
	"strings"
	"testing"
)

func TestInspect(t *testing.T) {
	m := NewImporter()
	scope := session(t, m)
	for _, tt := range []struct {
		text, name, kind string
		signature        string // begins with
		comment          string // contains
	}{
		{"strings.C|ut(s, sep)", "strings.Cut", "func", "func Cut(s, sep string) (before, after string, found bool)", "Cut slices s around the first instance of sep"},
		{"strings.Cut|", "strings.Cut", "func", "func Cut(", "first instance"},
		{"a, b, _ := strings.Cut(|", "strings.Cut", "func", "func Cut(", "first instance"},
		{"strings.Cut(points[0].label, \"=\"|)", "strings.Cut", "func", "func Cut(", ""},
		{"strings.Cut(\"a\", fmt.Sprint(1)|)", "strings.Cut", "func", "func Cut(", ""},
		{"str|ings.Cut", "strings", "package", "package strings // import \"strings\"", "simple functions to manipulate UTF-8"},
		{"strings.Builder|", "strings.Builder", "type", "type Builder struct {", "efficiently build a string"},
		{"var b strings.Builder\nb.WriteSt|ring(\"\")", "strings.Builder.WriteString", "method", "func (b *Builder) WriteString(s string) (int, error)", "appends the contents of s"},
		{"var e fmt.Stringer\ne.Strin|g()", "fmt.Stringer.String", "method", "func (fmt.Stringer).String() string", ""},
		{"import \"net/http\"\nc := http.Client{Timeo|ut: 1}", "http.Client.Timeout", "field", "Timeout time.Duration", "time limit for requests"},
		{"import \"net/http\"\nvar c http.Client\nc.Jar|", "http.Client.Jar", "field", "Jar http.CookieJar", "cookie jar"},
		{"import \"math\"\nmath.P|i", "math.Pi", "const", "const math.Pi untyped float", ""},
		{"import \"io\"\nio.EO|F", "io.EOF", "var", "var io.EOF error", "no more input"},
		{"slices.SortFu|nc", "slices.SortFunc", "func", "func SortFunc[S ~[]E, E any](x S, cmp func(a, b E) int)", "SortFunc sorts the slice x"},
		{"lab.Ru|n(nil)", "lab.Lab.Run", "method", "func (l *Lab) Run(", "Run"},
		{"Experi|ment{}", "lab.Experiment", "type", "type Experiment = runner.Experiment", ""},
		{"app|end(nil)", "append", "func", "func append(slice []Type, elems ...Type) []Type", "appends elements to the end"},
		{"var x int|", "int", "type", "type int int", "signed integer"},
		{"tru|e", "true", "const", "const true", ""},
		{"poin|ts", "points", "var", "var points []Point", ""},
		{"points[0].lab|el", "label", "field", "label string", ""},
		{"func sq(n int) int { return n|*n }", "n", "var", "var n int", ""},
		{"func sq(n int) int { return n*n }\nsq(|", "sq", "func", "func sq(n int) int", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			text, cursor := at(t, tt.text)
			info, ok := m.Inspect(text, cursor, scope)
			if !ok {
				t.Fatal("nothing found")
			}
			if info.Name != tt.name || info.Kind != tt.kind {
				t.Errorf("found %s %q, want %s %q", info.Kind, info.Name, tt.kind, tt.name)
			}
			if !strings.HasPrefix(info.Signature, tt.signature) {
				t.Errorf("signature %q, want %q", info.Signature, tt.signature)
			}
			if !strings.Contains(info.Comment, tt.comment) {
				t.Errorf("comment %q, want %q in it", info.Comment, tt.comment)
			}
			if info.Object == nil {
				t.Error("no object")
			}
		})
	}
}

func TestInspectNothing(t *testing.T) {
	m := NewImporter()
	scope := session(t, m)
	for _, text := range []string{
		"|", "1 +| 2", "nowhere|", "strings.Nowhere|", "s := \"strings.Cut|\"", "// strings.Cut|",
		"(((|", "f(|", "\x00\xff|", "x.y.z|", "func (|", "package |main", "points[0].Z|",
	} {
		text, cursor := at(t, text)
		if info, ok := m.Inspect(text, cursor, scope); ok {
			t.Errorf("%q: found %+v", text, info)
		}
	}
}

func TestInspectGivesTheSessionsObject(t *testing.T) {
	m := NewImporter()
	scope := session(t, m)
	for _, name := range []string{"points", "Point", "lab"} {
		info, ok := m.Inspect(name, len(name), scope)
		if !ok || info.Object != scope.Objects[name] {
			t.Errorf("%s is %v, want %v", name, info.Object, scope.Objects[name])
		}
	}
}
