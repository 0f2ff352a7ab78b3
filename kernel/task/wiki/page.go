// Package wiki reads articles at three resolutions, as research methods need
// them: what a search finds, what an article is about and has sections on, and
// the text of one section. Articles come from a MediaWiki server or from a
// corpus in files or in memory.
package wiki

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is an article.
type Page struct {
	Title          string
	URL            string
	Lead           string // the text before the first section
	Sections       []Section
	Disambiguation bool
	RedirectedFrom string // the title that led here, if it was another
}

// Section is a heading with the text up to the next heading of any level.
type Section struct {
	Title string
	Level int // 2 for h2, 3 for h3
	Text  string
}

// TOC lists the sections, those of level 3 indented.
func (p *Page) TOC() []string {
	lines := make([]string, len(p.Sections))
	for i, s := range p.Sections {
		lines[i] = strings.Repeat("  ", max(0, s.Level-2)) + s.Title
	}
	return lines
}

// Text is the whole article as text.
func (p *Page) Text() string {
	var b strings.Builder
	b.WriteString(p.Lead)
	for _, s := range p.Sections {
		b.WriteString("\n\n" + s.Title + "\n" + s.Text)
	}
	return strings.TrimSpace(b.String())
}

// Section finds a section by its heading, without regard to case, spaces and
// numbering. With a section of level 2 come its subsections. A missing one is an
// error that lists those that there are.
func (p *Page) Section(name string) (string, error) {
	want := normal(name)
	for i, s := range p.Sections {
		if normal(s.Title) != want || want == "" {
			continue
		}
		text := s.Text
		for _, sub := range p.Sections[i+1:] {
			if sub.Level <= s.Level {
				break
			}
			text += "\n" + sub.Title + "\n" + sub.Text
		}
		return strings.TrimSpace(text), nil
	}
	names := make([]string, len(p.Sections))
	for i, s := range p.Sections {
		names[i] = s.Title
	}
	return "", fmt.Errorf("article %q has no section %q; it has: %s", p.Title, name, strings.Join(names, "; "))
}

// normal is a heading without numbering, case and needless spaces.
func normal(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(s), "0123456789. ")), " "))
}

// maxHTML bounds an article, in bytes.
const maxHTML = 16 << 20

// Parse reads an article's HTML, as MediaWiki makes it: headings of level 2 and
// 3 begin sections, tables and lists become lines of text, and references,
// edit links, scripts and styles are dropped.
func Parse(r io.Reader, title, url string) (*Page, error) {
	root, err := html.Parse(io.LimitReader(r, maxHTML))
	if err != nil {
		return nil, fmt.Errorf("parse article %q: %w", title, err)
	}
	b := &builder{page: &Page{Title: title, URL: url}}
	b.walk(root, 0)
	b.end()
	return b.page, nil
}

// builder collects text into the lead or the present section.
type builder struct {
	page *Page
	text strings.Builder
}

// maxDepth bounds how deep elements may nest.
const maxDepth = 400

func (b *builder) walk(n *html.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch n.Type {
	case html.TextNode:
		b.write(n.Data)
		return
	case html.ElementNode:
		if b.skip(n) {
			return
		}
		switch n.DataAtom {
		case atom.H1:
			if t := flat(n); t != "" {
				b.page.Title = t
			}
			return
		case atom.H2, atom.H3:
			b.begin(n)
			return
		case atom.Tr:
			b.row(n)
			return
		case atom.Li:
			b.newline()
			b.write("- ")
		case atom.P, atom.Div, atom.Ul, atom.Ol, atom.Table, atom.Br, atom.H4, atom.H5, atom.Dl, atom.Dd, atom.Dt:
			b.newline()
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.walk(c, depth+1)
	}
	if n.DataAtom == atom.P || n.DataAtom == atom.Li || n.DataAtom == atom.Div {
		b.newline()
	}
}

// skip drops what is no text of the article, and notes what kind of page it is.
func (b *builder) skip(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Head, atom.Nav, atom.Footer:
		return true
	}
	class, id := attribute(n, "class"), attribute(n, "id")
	if id == "disambigbox" || has(class, "disambiguation") || has(class, "mw-disambig") || has(class, "dmbox") {
		b.page.Disambiguation = true
	}
	return has(class, "reference") || has(class, "mw-editsection") || has(class, "reflist") || id == "toc" || has(class, "toc") || has(class, "noprint")
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func has(class, name string) bool {
	for _, c := range strings.Fields(class) {
		if c == name {
			return true
		}
	}
	return false
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
	text := tidy(b.text.String())
	b.text.Reset()
	if k := len(b.page.Sections); k > 0 {
		b.page.Sections[k-1].Text = text
		return
	}
	b.page.Lead = text
}

// row writes a table's row as one line, its cells apart by bars.
func (b *builder) row(n *html.Node) {
	var cells []string
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
			cells = append(cells, flat(c))
		}
	}
	b.newline()
	b.write(strings.Join(cells, " | "))
	b.newline()
}

func (b *builder) write(s string) { b.text.WriteString(s) }
func (b *builder) newline()       { b.text.WriteString("\n") }

// flat is the text of an element on one line, without what is dropped.
func flat(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node, int)
	walk = func(n *html.Node, depth int) {
		if depth > maxDepth || n.Type == html.ElementNode && (&builder{page: &Page{}}).skip(n) {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	walk(n, 0)
	return strings.Join(strings.Fields(b.String()), " ")
}

// tidy puts each line's spaces in order and drops empty lines.
func tidy(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line != "-" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
