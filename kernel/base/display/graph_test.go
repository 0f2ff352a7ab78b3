package display

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"noema/methods"
)

// hostile is a graph that a model could have caused.
func hostile() methods.Graph {
	return methods.Graph{Kind: "l<wt\x00", Nodes: []methods.Node{
		{ID: "a", Label: "</text><script>x</script>", Value: "\"'&\x00\ufffe"}, {ID: "b", Layer: -5, State: "failed"}, {ID: "b"}, {ID: ""},
		{ID: "c", Text: strings.Repeat("z", 5000), State: "<odd\x1b>"}, {ID: "d\x01\u202e", Layer: 1 << 60, Value: strings.Repeat("日", 9000)},
	}, Edges: []methods.Edge{
		{From: "a", To: "b"}, {From: "b", To: "a"}, {From: "a", To: "nowhere"}, {From: "c", To: "c"},
		{From: "a", To: "c", Kind: "link"}, {From: "d\x01\u202e", To: "a"},
	}}
}

// wellFormed checks that a drawing is XML without scripts and styles, and
// returns its texts.
func wellFormed(t *testing.T, svg []byte) []string {
	t.Helper()
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatalf("the drawing is no XML: %v\n%.2000s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" || token.Name.Local == "style" {
				t.Errorf("the drawing holds a %s", token.Name.Local)
			}
			for _, a := range token.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("the drawing has an attribute %s", a.Name.Local)
				}
			}
		case xml.CharData:
			texts = append(texts, string(token))
		}
	}
}

func TestDrawingOfAnything(t *testing.T) {
	big := methods.Graph{Kind: "tree"}
	for i := range 2000 {
		big.Nodes = append(big.Nodes, methods.Node{ID: "n" + strconv.Itoa(i), Layer: i % 7})
		for j := range 10 {
			big.Edges = append(big.Edges, methods.Edge{From: "n" + strconv.Itoa(i), To: "n" + strconv.Itoa((i*7+j)%2000)})
		}
	}
	for _, g := range []methods.Graph{{}, {Nodes: []methods.Node{{ID: "alone"}}}, hostile(), big} {
		for _, kind := range []string{g.Kind, "tree"} {
			g.Kind = kind
			b := Draw(g).Display()
			texts := strings.Join(wellFormed(t, b[SVG]), " ")
			for form, s := range map[string]string{"text": string(b[PlainText]), "DOT": Draw(g).DOT(), "Mermaid": Draw(g).Mermaid(), "SVG": texts} {
				if s == "" || strings.ContainsAny(s, "\x00\x01\x1b\u202e") {
					t.Errorf("%s of %q is %.200q", form, g.Kind, s)
				}
			}
			if again := Draw(g).Display(); !bytes.Equal(again[SVG], b[SVG]) || !bytes.Equal(again[PlainText], b[PlainText]) {
				t.Errorf("two drawings of %q differ", g.Kind)
			}
		}
	}
	if b := Draw(big).Display(); !bytes.Contains(b[SVG], []byte("the first 500 of 2000 nodes and 1")) || !bytes.Contains(b[PlainText], []byte("… the first 500 of 2000 nodes")) {
		t.Errorf("a large graph does not say what is missing: %.300s", b[PlainText])
	}
}

func TestLayersFollowTheEdges(t *testing.T) {
	g := Draw(methods.Graph{Kind: "lwt", Nodes: []methods.Node{
		{ID: "final"}, {ID: "c1", State: "failed"}, {ID: "c2", State: "done", Value: "yes"}, {ID: "and"},
	}, Edges: []methods.Edge{
		{From: "c1", To: "and"}, {From: "c2", To: "and"}, {From: "and", To: "final"}, {From: "c1", To: "final"}, {From: "final", To: "c1", Kind: "link"},
	}})
	want := "lwt graph: 4 nodes, 5 edges\n 0  c1 [failed]\n 0  c2 = yes\n 1  and ← c1, c2\n 2  final ← and, c1 ⇢ c1\n"
	if got := g.Text(); got != want {
		t.Errorf("text is\n%s\nwant\n%s", got, want)
	}
}

func TestTreeIsIndented(t *testing.T) {
	g := Draw(methods.Graph{Kind: "tree", Nodes: []methods.Node{
		{ID: "n1", Label: "cats"}, {ID: "root", Label: "question"}, {ID: "n2"}, {ID: "n3"}, {ID: "x"}, {ID: "y"},
	}, Edges: []methods.Edge{
		{From: "root", To: "n1"}, {From: "root", To: "n3"}, {From: "n1", To: "n2"}, {From: "n2", To: "n3", Kind: "link"},
		{From: "x", To: "y"}, {From: "y", To: "x"},
	}})
	want := "tree graph: 6 nodes, 6 edges\nquestion\n  cats\n    n2 ⇢ n3\n  n3\nx\n  y\n"
	if got := g.Text(); got != want {
		t.Errorf("text is\n%s\nwant\n%s", got, want)
	}
}

func TestGraphLanguages(t *testing.T) {
	g := Draw(methods.Graph{Nodes: []methods.Node{{ID: `a"\`, Value: "<b>#1"}, {ID: "c"}}, Edges: []methods.Edge{{From: `a"\`, To: "c"}, {From: "c", To: `a"\`, Kind: "link"}}})
	if got, want := g.DOT(), "digraph {\n  n0 [label=\"a\\\"\\\\: <b>#1\"];\n  n1 [label=\"c\"];\n  n0 -> n1;\n  n1 -> n0 [style=dashed, constraint=false];\n}\n"; got != want {
		t.Errorf("DOT is\n%s\nwant\n%s", got, want)
	}
	if got, want := g.Mermaid(), "flowchart TD\n  n0[\"a#quot;\\: #lt;b#gt;#35;1\"]\n  n1[\"c\"]\n  n0 --> n1\n  n1 -.-> n0\n"; got != want {
		t.Errorf("Mermaid is\n%s\nwant\n%s", got, want)
	}
}

// TestEdgesGoBetweenNodes follows the straight parts of edges, which pass rows
// of nodes, and checks that none goes through a node.
func TestEdgesGoBetweenNodes(t *testing.T) {
	g := methods.Graph{Kind: "lwt", Nodes: []methods.Node{{ID: "final", State: "done", Kind: "final"}}}
	for i := range 30 {
		id := fmt.Sprintf("c%d", i)
		g.Nodes = append(g.Nodes, methods.Node{ID: id, State: "done"})
		g.Edges = append(g.Edges, methods.Edge{From: id, To: "final"})
	}
	svg := Draw(g).SVG()
	var lefts []int
	for _, m := range regexp.MustCompile(`</title><rect x="(\d+)" y="(\d+)"`).FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(m[1])
		lefts = append(lefts, x)
	}
	passes := 0
	for _, m := range regexp.MustCompile(`L(\d+) (\d+)`).FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(m[1])
		passes++
		for _, left := range lefts[:len(lefts)-1] { // the last is the final one, which nothing passes
			if left < x && x < left+nodeWidth {
				t.Fatalf("an edge goes down at %d, behind the node at %d", x, left)
			}
		}
	}
	if len(lefts) != 31 || passes == 0 {
		t.Errorf("%d nodes, %d ways past a row", len(lefts), passes)
	}
	if !strings.Contains(svg, ">done</text>") {
		t.Error("the colours are not explained")
	}
}

func BenchmarkDrawLargest(b *testing.B) {
	g := methods.Graph{Kind: "lwt"}
	for i := range maxNodes {
		g.Nodes = append(g.Nodes, methods.Node{ID: strconv.Itoa(i), Value: "yes", State: "done"})
		for j := range 4 {
			g.Edges = append(g.Edges, methods.Edge{From: strconv.Itoa(i), To: strconv.Itoa(min(i+1+j*3, maxNodes-1))})
		}
	}
	for b.Loop() {
		Draw(g).Display()
	}
}
