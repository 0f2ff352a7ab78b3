package wiki

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"noema/kernel/base/title"
)

// builder collects text into the lead or the present section.
type builder struct {
	page    *Page
	wiki    bool             // the content of a MediaWiki page, not a plain document
	titled  bool             // a plain document's first heading was read
	text    *strings.Builder // of the present section
	aside   strings.Builder  // captions of its pictures, which come after the text
	listed  []string         // titles that items of lists begin with links to
	infobox strings.Builder
}

func (b *builder) walk(n *html.Node, depth int) {
	if depth > maxDepth {
		return
	}
	block := false
	switch n.Type {
	case html.TextNode:
		b.write(n.Data)
		return
	case html.ElementNode:
		if b.special(n, depth) {
			return
		}
		block = slices.Contains(blocks(), n.DataAtom)
	}
	if block {
		b.write("\n")
	}
	if n.DataAtom == atom.Li {
		b.write("- ")
		b.item(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.walk(c, depth+1)
	}
	if block {
		b.write("\n")
	}
}

// blocks are the elements whose text stands on lines of its own.
func blocks() []atom.Atom {
	return []atom.Atom{atom.P, atom.Div, atom.Section, atom.Article, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Caption,
		atom.Br, atom.Hr, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Pre, atom.Center, atom.Figcaption, atom.Summary, atom.Details}
}

// special deals with the elements whose content is not text of the present
// section, and reports whether n is one.
func (b *builder) special(n *html.Node, depth int) bool {
	if b.note(n); dropped(n) {
		return true
	}
	switch {
	case n.DataAtom == atom.H1 && !b.wiki && !b.titled:
		b.titled = true
		if t := flat(n); t != "" {
			b.page.Title = t
		}
	case n.DataAtom == atom.H1, n.DataAtom == atom.H2, n.DataAtom == atom.H3:
		b.begin(n)
	case n.DataAtom == atom.Table && has(n, "infobox"):
		b.into(&b.infobox, n, depth)
	case n.DataAtom == atom.Figure && attribute(n, "typeof") != "", has(n, "thumb", "tsingle"):
		b.into(&b.aside, n, depth)
	case n.DataAtom == atom.Tr:
		b.row(n)
	case n.DataAtom == atom.Math:
		b.write(formula(n))
	default:
		return false
	}
	return true
}

// into walks an element's children with another place for the text.
func (b *builder) into(place *strings.Builder, n *html.Node, depth int) {
	text := b.text
	b.text = place
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.walk(c, depth+1)
	}
	b.text = text
	place.WriteString("\n")
}

// note keeps what an element says of the page: whether it is a list of articles
// of one name, and where the notes above its text lead.
func (b *builder) note(n *html.Node) {
	if id := attribute(n, "id"); id == "disambigbox" || has(n, "dmbox") || has(n, "mw-disambig", "disambiguation") && n.DataAtom != atom.A {
		b.page.Disambiguation = true
	}
	if !has(n, "hatnote", "dablink") || len(b.page.Sections) > 0 {
		return
	}
	for link := range n.Descendants() {
		if t := linked(link); t != "" && len(b.page.Links) < maxListed && !slices.Contains(b.page.Links, t) {
			b.page.Links = append(b.page.Links, t)
		}
	}
}

// item keeps the title that an item of a list leads to: its first link.
func (b *builder) item(n *html.Node) {
	for link := range n.Descendants() {
		if t := linked(link); t != "" {
			b.listed = append(b.listed, t)
			return
		}
		if link.DataAtom == atom.Li || len(b.listed) == maxListed {
			return
		}
	}
}

// maxListed bounds the links of a page that lists articles.
const maxListed = 300

// linked is the title of the article that an element links to; "" if it is not
// such a link.
func linked(n *html.Node) string {
	if n.Type != html.ElementNode || n.DataAtom != atom.A || has(n, "new", "external", "extiw") {
		return ""
	}
	href := attribute(n, "href")
	t := title.Canonical(title.Of(href))
	if strings.HasPrefix(href, "#") || strings.Contains(t, "//") || strings.HasPrefix(t, "/") {
		return ""
	}
	return t
}

// begin ends what came before a heading and opens its section.
func (b *builder) begin(n *html.Node) {
	b.end()
	level := 2
	if n.DataAtom == atom.H3 {
		level = 3
	}
	b.page.Sections = append(b.page.Sections, Section{Title: flat(n), Level: level})
}

func (b *builder) end() {
	text := tidy(b.text.String() + "\n" + b.aside.String())
	b.text.Reset()
	b.aside.Reset()
	if k := len(b.page.Sections); k > 0 {
		b.page.Sections[k-1].Text = text
		return
	}
	b.page.Lead = text
}

// finish ends the last section, drops those with nothing to read, and puts the
// infobox first.
func (b *builder) finish() {
	b.end()
	var kept []Section
	for i, s := range b.page.Sections {
		next := i + 1
		if s.Text != "" || !b.wiki || next < len(b.page.Sections) && b.page.Sections[next].Level > s.Level && b.page.whole(i) != "" {
			kept = append(kept, s)
		}
	}
	if text := tidy(b.infobox.String()); text != "" {
		kept = append([]Section{{Title: "Infobox", Level: 2, Text: text}}, kept...)
	}
	b.page.Sections = kept
	if b.page.Disambiguation {
		b.page.Links = b.listed
	}
}

// row writes a table's row as one line, its cells apart by bars.
func (b *builder) row(n *html.Node) {
	var cells []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if (c.DataAtom == atom.Td || c.DataAtom == atom.Th) && !dropped(c) {
			if text := flat(c); text != "" || len(cells) > 0 {
				cells = append(cells, text)
			}
		}
	}
	b.write("\n" + strings.TrimRight(strings.Join(cells, " | "), " |") + "\n")
}

func (b *builder) write(s string) { b.text.WriteString(s) }

// flat is the text of an element on one line, without what is dropped.
func flat(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node, int)
	walk = func(n *html.Node, depth int) {
		switch {
		case depth > maxDepth || n.Type == html.ElementNode && depth > 0 && dropped(n):
			return
		case n.DataAtom == atom.Math:
			b.WriteString(formula(n))
			return
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		}
		apart := n.Type == html.ElementNode && depth > 0 && (slices.Contains(blocks(), n.DataAtom) || n.DataAtom == atom.Td || n.DataAtom == atom.Th)
		if n.DataAtom == atom.Li && follows(n) {
			b.WriteString(",")
		}
		if apart {
			b.WriteString(" ")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
		if apart {
			b.WriteString(" ")
		}
	}
	walk(n, 0)
	return strings.ReplaceAll(clean(b.String()), " ,", ",")
}

// follows reports whether an item of a list is not the first.
func follows(n *html.Node) bool {
	for p := n.PrevSibling; p != nil; p = p.PrevSibling {
		if p.DataAtom == atom.Li {
			return true
		}
	}
	return false
}

// formula is how a formula was written.
func formula(n *html.Node) string {
	text := strings.TrimPrefix(attribute(n, "alttext"), `{\displaystyle `)
	return " " + strings.TrimSuffix(text, "}") + " "
}

// clean puts a line's spaces in order, and drops characters that control.
func clean(line string) string {
	line = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r == 0xfffd {
			return ' '
		}
		return r
	}, line)
	return strings.Join(strings.Fields(line), " ")
}

// tidy cleans each line and drops empty ones.
func tidy(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = clean(line); line != "" && line != "-" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
