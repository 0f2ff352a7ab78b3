package display

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"regexp"
	"strings"
	"testing"
	"time"
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
		if Width(l) > 100 || strings.ContainsAny(l, "\x1b\u202e") {
			t.Errorf("line of width %d: %q", Width(l), l)
		}
	}
	if !strings.HasPrefix(lines[1], "日本") || !strings.Contains(lines[1], "      7  long") {
		t.Errorf("columns are not aligned: %q", lines[1])
	}
}

func TestTableOfManyColumnsFits(t *testing.T) {
	var table Table
	for range 20 {
		table.Add("a column of a long name")
	}
	table.Row("日本語日本語", "e\u0301e\u0301", "x")
	for l := range strings.Lines(table.Text()) {
		if w := Width(strings.TrimRight(l, "\n")); w > 100 {
			t.Errorf("a line has width %d: %q", w, l)
		}
	}
	whole := Table{Width: 10}
	whole.AddWhole("0.123 [0.001, 0.246]")
	if got := whole.Text(); got != "0.123 [0.001, 0.246]\n" {
		t.Errorf("a column that must stay whole is cut: %q", got)
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "ｱ": 1, "Ａ": 2, "🙂": 2, "½": 1, "…": 1, "ü": 1} {
		if got := Width(s); got != want {
			t.Errorf("width of %q is %d, want %d", s, got, want)
		}
	}
}

func TestPagesGetTheFirstRows(t *testing.T) {
	table := Table{Columns: []Column{{Name: "x"}}}
	for range maxPageRows + 7 {
		table.Row("y")
	}
	table.Rows[0][0] = strings.Repeat("z", 10*maxPageCell)
	b := table.Display()
	if got := strings.Count(string(b[PlainText]), "\n"); got != maxPageRows+8 {
		t.Errorf("the text has %d lines", got)
	}
	for _, mime := range []string{HTML, Markdown} {
		if s := string(b[mime]); !strings.Contains(s, "… 7 more rows") || strings.Count(s, "z") > maxPageCell {
			t.Errorf("%s of %d bytes does not say what is missing", mime, len(s))
		}
	}
}

func TestHTMLAndMarkdownShowTextAsText(t *testing.T) {
	table := Table{
		Title: "<b>", Columns: []Column{{Name: "a|b"}}, Notes: []string{"<i>", "[x]: http://evil"},
		Rows: [][]string{{"<script>alert(1)</script>|*x*"}, {"![x](http://evil/pixel.png) $x$ [a][b]"}},
	}
	for form, s := range map[string]string{"HTML": table.HTML(), "Markdown": table.Markdown()} {
		for _, bad := range []string{"<script", "<b>", "<i>"} {
			if strings.Contains(s, bad) {
				t.Errorf("%s holds %q: %s", form, bad, s)
			}
		}
	}
	md := table.Markdown()
	if strings.Count(strings.Split(md, "\n")[4], "|")-strings.Count(md, `\|`) > 2 {
		t.Errorf("a cell broke out of its row: %s", md)
	}
	live := regexp.MustCompile(`\\.`).ReplaceAllString(md, "") // without what is escaped
	for _, bad := range []string{"![", "](", "][", "]:", "$", "*x*"} {
		if strings.Contains(live, bad) {
			t.Errorf("Markdown holds %q: %s", bad, md)
		}
	}
	if got := escape("0.5 [0.4, 0.6]"); got != "0.5 [0.4, 0.6]" {
		t.Errorf("an interval becomes %q", got)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n":          "a\tb\n",
		"\x1b[2J\x00\x7f": "␛[2J␀␡",
		"\u009b2J":        "\uFFFD2J",
		"a\u202eb\u2066":  "a\uFFFDb\uFFFD",
		"a\u2028\ufffe":   "a\uFFFD\uFFFD",
		"a\xffb":          "a\uFFFDb",
		"日本 é":            "日本 é",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

type row struct {
	Name string
	N    int
}

// rude panics at whatever it is asked.
type rude struct{}

func (*rude) Error() string   { panic("no error") }
func (*rude) Display() Bundle { panic("no display") }

type shy struct{ Bundle }

func (s *shy) Display() Bundle { return s.Bundle }

// name says itself what it looks like.
type name struct{ First, Last string }

func (n name) String() string { return n.First + " " + n.Last }

type secret struct {
	A int
	b []string
	f func(int) bool
}

func TestOf(t *testing.T) {
	ring := map[string]any{}
	ring["self"] = ring
	type node struct {
		Next *node
		P    *int
	}
	seven := 7
	loop := []*node{{P: &seven}}
	loop[0].Next = loop[0]
	around := []any{nil}
	around[0] = &around
	for what, c := range map[string]struct {
		v    any
		want string
	}{
		"nil":             {nil, "nil"},
		"error":           {errors.New("no such run"), "error: no such run"},
		"text":            {"hello", "hello"},
		"structs":         {[]row{{"a", 1}, {"b", 22}}, "Name   N\na      1\nb     22\n"},
		"pointers":        {[]*row{{"a", 1}, nil}, "Name  N\na     1\n\n"},
		"interfaces":      {[]any{row{"a", 1}, &row{"b", 2}}, "Name  N\na     1\nb     2\n"},
		"mixed":           {[]any{row{"a", 1}, 3}, "[{Name:a N:1} 3]"},
		"map":             {map[string]int{"b": 2, "a": 1}, "key  value\na        1\nb        2\n"},
		"map of numbers":  {map[int]string{10: "x", 9: "y"}, "key  value\n9    y\n10   x\n"},
		"maps":            {[]map[string]any{{"a": 1}, nil, {"b": "x", "a": nil}}, "a      b\n1\n\n<nil>  x\n"},
		"no fields":       {[]struct{}{{}}, "[{}]"},
		"empty":           {[]row{}, "[]"},
		"number":          {3, "3"},
		"strings":         {[]string{"a", "b"}, "[a b]"},
		"struct":          {&secret{1, []string{"x"}, func(int) bool { return true }}, "&{A:1 b:[x] f:func(int) bool}"},
		"nil pointer":     {(*row)(nil), "<nil>"},
		"to numbers":      {[]*int{&seven, nil}, "[&7 <nil>]"},
		"in a map":        {map[string]*row{"a": {"b", 2}}, "key  value\na    {Name:b N:2}\n"},
		"in a table":      {loop, "Next                       P\n{Next:*display.node P:&7}  7\n"},
		"in a struct":     {*loop[0], "{Next:*display.node P:&7}"},
		"leads to itself": {around, "[&[*[]interface {}]]"},
		"names":           {[]name{{"Ada", "Lovelace"}}, "[Ada Lovelace]"},
		"times":           {[]time.Time{time.Unix(0, 0).UTC()}, "[1970-01-01 00:00:00 +0000 UTC]"},
		"duration":        {time.Second, "1s"},
		"table":           {Table{Columns: []Column{{Name: "x"}}}, "x\n"},
		"JSON":            {json.RawMessage(`{"a":[1]}`), "{\n  \"a\": [\n    1\n  ]\n}"},
		"image":           {image.NewGray(image.Rect(0, 0, 2, 3)), "image of 2 × 3 pixels"},
		"endless image":   {image.NewUniform(color.Black), "image of 2000000000 × 2000000000 pixels: not shown"},
		"no text":         {Bundle{SVG: []byte("<svg/>")}, "[image/svg+xml]"},
		"no bundle":       {&shy{}, "[]"},
		"nil displayer":   {(*shy)(nil), "nil"},
		"rude displayer":  {&rude{}, "a *display.rude that cannot be shown: its method panicked: no display"},
		"holds itself":    {[]any{ring}[0], "key   value\nself  " + strings.Repeat("map[self:", 10)},
		"steers":          {[]string{"\x1b[2J"}, "[␛[2J]"},
		"made at runtime": {struct{ Xname, XML string }{"a", "b"}, "{name:a XML:b}"},
	} {
		got := string(Of(c.v)[PlainText])
		if what == "holds itself" {
			got = got[:min(len(got), len(c.want))]
		}
		if got != c.want {
			t.Errorf("%s is shown as %q, want %q", what, got, c.want)
		}
	}
}

func TestOfIsBounded(t *testing.T) {
	deep := any("x")
	for range 1000 {
		deep = []any{deep, deep} // 2¹⁰⁰⁰ leaves
	}
	for what, v := range map[string]any{
		"text":    strings.Repeat("é", MaxText),
		"numbers": make([]int64, 5_000_000),
		"nested":  deep,
		"cells":   []row{{Name: strings.Repeat("x", 1<<24)}},
		"own":     &shy{Bundle{PlainText: bytes.Repeat([]byte("x"), 2*MaxText)}},
	} {
		for mime, content := range Of(v) {
			if len(content) > MaxText+100 {
				t.Errorf("%s: %s has %d bytes", what, mime, len(content))
			}
		}
	}
	if got := string(Of(make([]int64, 1<<20))[PlainText]); !strings.HasSuffix(got, "0 …") {
		t.Errorf("a cut text ends with %q", got[len(got)-10:])
	}
	many := make([]row, 1180)
	if got := string(Of(many)[PlainText]); !strings.HasSuffix(got, "… 980 more\n") {
		t.Errorf("a long table ends with %q", got[len(got)-20:])
	}
}

func TestOfTooManyColumns(t *testing.T) {
	m := map[string]int{}
	for _, r := range "abcdefghijklmnopqrstuvwxyz" {
		m["column "+string(r)] = 1
	}
	got := string(Of([]map[string]int{m})[PlainText])
	if !strings.Contains(got, "… 6 more columns: column u, ") {
		t.Errorf("the table does not name what it lacks: %s", got)
	}
}

func TestStack(t *testing.T) {
	b := Stack(Text("a < b"), Table{Columns: []Column{{Name: "x"}}})
	if got := string(b[PlainText]); got != "a < b\n\nx" {
		t.Errorf("text is %q", got)
	}
	if got := string(b[HTML]); !strings.HasPrefix(got, "<pre>a &lt; b</pre>") {
		t.Errorf("HTML is %q", got)
	}
	b = Stack(PNGImage([]byte("p"), `<a "picture">`), Bundle{SVG: []byte("<svg/>")})
	if got := string(b[HTML]); got != `<img alt="&lt;a &#34;picture&#34;&gt;" src="data:image/png;base64,cA==">`+"\n<svg/>" {
		t.Errorf("HTML is %q", got)
	}
	if _, ok := Stack()[PlainText]; !ok {
		t.Error("nothing, joined, has no text")
	}
}
