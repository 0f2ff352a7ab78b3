package display

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"io"
	"math"
	"strings"
	"testing"

	"noema/methods"
)

func TestTableFitsAndKeepsItsColumns(t *testing.T) {
	table := Table{Columns: []Column{{Name: "name"}, {Name: "n", Right: true}, {Name: "text"}}}
	table.Row("日本", "7", strings.Repeat("long ", 40))
	table.Row("evil\x1b[31m\u202e", "1,000", "two\nlines")
	lines := strings.Split(strings.TrimRight(table.Text(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines: %q", len(lines), lines)
	}
	for _, l := range lines {
		if width(l) > 100 || strings.ContainsAny(l, "\x1b\u202e") {
			t.Errorf("line of width %d: %q", width(l), l)
		}
	}
	if !strings.HasPrefix(lines[1], "日本") || !strings.Contains(lines[1], "      7  long") {
		t.Errorf("columns are not aligned: %q", lines[1])
	}
}

func TestHTMLAndMarkdownShowTextAsText(t *testing.T) {
	table := Table{Title: "<b>", Columns: []Column{{Name: "a|b"}}, Rows: [][]string{{"<script>alert(1)</script>|*x*"}}, Notes: []string{"<i>"}}
	for form, s := range map[string]string{"HTML": table.HTML(), "Markdown": table.Markdown()} {
		for _, bad := range []string{"<script", "<b>", "<i>"} {
			if strings.Contains(s, bad) {
				t.Errorf("%s holds %q: %s", form, bad, s)
			}
		}
	}
	if md := table.Markdown(); strings.Count(strings.Split(md, "\n")[4], "|")-strings.Count(md, `\|`) > 2 {
		t.Errorf("a cell broke out of its row: %s", md)
	}
}

func TestOf(t *testing.T) {
	type row struct {
		Name string
		N    int
	}
	for name, c := range map[string]struct {
		v    any
		want string
	}{
		"nil":     {nil, "nil"},
		"error":   {errors.New("no such run"), "error: no such run"},
		"text":    {"hello", "hello"},
		"structs": {[]row{{"a", 1}, {"b", 22}}, "Name   N\na      1\nb     22\n"},
		"ptrs":    {[]*row{{"a", 1}, nil}, "Name  N\na     1\n\n"},
		"map":     {map[string]int{"b": 2, "a": 1}, "key  value\na        1\nb        2\n"},
		"number":  {3, "3"},
		"table":   {Table{Columns: []Column{{Name: "x"}}}, "x\n"},
		"image":   {image.NewGray(image.Rect(0, 0, 2, 3)), "image of 2 × 3 pixels"},
		"no text": {Bundle{SVG: []byte("<svg/>")}, "[image/svg+xml]"},
	} {
		if got := string(Of(c.v)[PlainText]); got != c.want {
			t.Errorf("%s is shown as %q, want %q", name, got, c.want)
		}
	}
	if got := Of(strings.Repeat("é", MaxText))[PlainText]; len(got) > MaxText+100 || !bytes.Contains(got, []byte("more bytes")) {
		t.Errorf("a huge text is shown with %d bytes", len(got))
	}
}

// hostile is a graph that a model could have caused.
func hostile() methods.Graph {
	return methods.Graph{Kind: "l<wt", Nodes: []methods.Node{
		{ID: "a", Label: "</text><script>x</script>", Value: "\"'&\x00"}, {ID: "b", Layer: -5, State: "failed"}, {ID: "b"}, {ID: ""}, {ID: "c", Text: strings.Repeat("z", 5000)},
	}, Edges: []methods.Edge{{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "a", To: "nowhere"}, {From: "c", To: "c"}, {From: "a", To: "c", Kind: "link"}}}
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v\n%.2000s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "script" {
			t.Error("the drawing holds a script")
		}
	}
}

func TestDrawingOfAnything(t *testing.T) {
	big := methods.Graph{Kind: "tree"}
	for i := range 2000 {
		big.Nodes = append(big.Nodes, methods.Node{ID: strings.Repeat("n", i+1)})
	}
	for _, g := range []methods.Graph{{}, hostile(), big} {
		b := Draw(g).Display()
		wellFormed(t, b[SVG])
		if len(b[PlainText]) == 0 {
			t.Error("no text form")
		}
		Draw(g).DOT()
		Draw(g).Mermaid()
	}
}

func TestLayersFollowTheEdges(t *testing.T) {
	g := Draw(methods.Graph{Kind: "lwt", Nodes: []methods.Node{{ID: "final"}, {ID: "c1"}, {ID: "c2"}, {ID: "and"}}, Edges: []methods.Edge{
		{From: "c1", To: "and"}, {From: "c2", To: "and"}, {From: "and", To: "final"}, {From: "c1", To: "final"},
	}})
	want := "lwt graph: 4 nodes, 4 edges\n 0  c1\n 0  c2\n 1  and ← c1, c2\n 2  final ← and, c1\n"
	if got := g.Text(); got != want {
		t.Errorf("text is\n%s\nwant\n%s", got, want)
	}
}

func TestPlotsAreTheSameTwice(t *testing.T) {
	p := Plot{Title: "accuracy and cost", X: Axis{Label: "cost"}, Y: Axis{Label: "accuracy", Max: 1}, Series: []Series{
		{"anot", []Point{{X: 1, Y: 0.5, Low: 0.4, High: 0.6, Label: "anot"}, {X: math.NaN(), Y: 1}, {X: 2, Y: 0.7}}},
		{"nobody", nil}, {"infinite", []Point{{X: 1, Y: math.Inf(1)}}},
	}}
	for _, style := range []Style{Lines, Dots, Bars} {
		p.Style = style
		a, b := p.Display(), p.Display()
		if !bytes.Equal(a[SVG], b[SVG]) || !bytes.Equal(a[PNG], b[PNG]) || len(a[PNG]) == 0 {
			t.Errorf("style %d: two drawings differ, or there is none", style)
		}
		wellFormed(t, a[SVG])
	}
	if text := string(p.Display()[PlainText]); !strings.Contains(text, "0.5 [0.4, 0.6]") {
		t.Errorf("text is %s", text)
	}
}

func TestJoin(t *testing.T) {
	b := Join(Text("a < b"), Table{Columns: []Column{{Name: "x"}}})
	if got := string(b[PlainText]); got != "a < b\n\nx" {
		t.Errorf("text is %q", got)
	}
	if got := string(b[HTML]); !strings.HasPrefix(got, "<pre>a &lt; b</pre>") {
		t.Errorf("HTML is %q", got)
	}
}
