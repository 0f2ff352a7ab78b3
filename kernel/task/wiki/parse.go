package wiki

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"noema/kernel/base/title"
)

// ErrUnreadable says that an article is not HTML that can be read.
var ErrUnreadable = errors.New("the article cannot be read")

// The bounds of an article: its bytes, its tags, and how deep elements nest.
const (
	maxHTML  = 16 << 20
	maxTags  = 400_000
	maxDepth = 400
)

// Parse reads an article's HTML: a page of a MediaWiki server in any of its
// skins, its content alone (action=render, the REST API's HTML), or a plain
// document. Only the article's own text is kept: headings of levels 1 to 3 begin
// sections, tables and lists become lines, and the infobox is a section of that
// name; menus, edit links, notes above the text, navigation boxes and reference
// lists are left out. The page's own title wins over the given one.
func Parse(r io.Reader, given, url string) (*Page, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxHTML+1))
	if err != nil {
		return nil, fmt.Errorf("parse article %q: %w", given, err)
	}
	if len(raw) > maxHTML {
		return nil, fmt.Errorf("parse article %q: %w: it is longer than %d bytes", given, ErrUnreadable, maxHTML)
	}
	if raw, err = withoutFormatting(raw); err == nil {
		var root *html.Node
		if root, err = html.Parse(bytes.NewReader(raw)); err == nil {
			return read(root, given, url), nil
		}
	}
	return nil, fmt.Errorf("parse article %q: %w: %w", given, ErrUnreadable, err)
}

// read makes a page of a document.
func read(root *html.Node, given, url string) *Page {
	b := &builder{page: &Page{Title: given, URL: url}, text: &strings.Builder{}}
	contents := contentOf(root)
	b.wiki = contents != nil
	if !b.wiki {
		contents = []*html.Node{root}
	}
	b.about(root, contents)
	for _, n := range contents {
		b.walk(n, 0)
	}
	b.finish()
	return b.page
}

// withoutFormatting drops the tags that only change how text looks. A parser of
// HTML opens unclosed ones again in every paragraph, which takes time and memory
// that grow with the square of the input.
func withoutFormatting(raw []byte) ([]byte, error) {
	formatting := []string{"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"}
	out := make([]byte, 0, len(raw))
	z := html.NewTokenizer(bytes.NewReader(raw))
	for tags := 0; ; {
		kind := z.Next()
		text := z.Raw()
		switch kind {
		case html.ErrorToken:
			return out, nil // the end: a tokenizer knows no other error of text in memory
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			if tags++; tags > maxTags {
				return nil, fmt.Errorf("it has more than %d tags", maxTags)
			}
			text = slices.Clone(text) // TagName writes into it
			if name, _ := z.TagName(); slices.Contains(formatting, string(name)) {
				continue
			}
		}
		out = append(out, text...)
	}
}

// contentOf finds the elements that hold the article's own content on a page of
// MediaWiki; none if it is not one. All skins put it into #mw-content-text, and
// the parser's output within into .mw-parser-output, which action=render and the
// REST API return alone. Versions before 1.30 have #mw-content-text alone.
func contentOf(root *html.Node) []*html.Node {
	within := root
	if list := topmost(root, func(n *html.Node) bool { return attribute(n, "id") == "mw-content-text" }); list != nil {
		within = list[0]
	}
	if list := topmost(within, func(n *html.Node) bool { return has(n, "mw-parser-output") }); list != nil {
		return list
	}
	if within != root {
		return []*html.Node{within}
	}
	return nil
}

// topmost lists the elements that fit and are not within another that does.
func topmost(n *html.Node, fits func(*html.Node) bool) (list []*html.Node) {
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && fits(c) {
			list = append(list, c)
		} else {
			list = append(list, topmost(c, fits)...)
		}
	}
	return list
}

// about finds the title of a MediaWiki page outside its content, and what it says
// of itself.
func (b *builder) about(root *html.Node, contents []*html.Node) {
	var heading, name string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case b.wiki && (n == contents[0] || has(n, "mw-parser-output")) && n.DataAtom != atom.Body:
			return
		case n.DataAtom == atom.Link && slices.Contains([]string{"canonical", "dc:isVersionOf"}, attribute(n, "rel")):
			if t := title.Of(attribute(n, "href")); !strings.Contains(t, "//") {
				b.page.canonical = title.Canonical(t)
			}
		case n.DataAtom == atom.Meta && attribute(n, "property") == "mw:PageProp/disambiguation":
			b.page.Disambiguation = true
		case n.DataAtom == atom.Title && n.Namespace == "":
			name = flat(n)
		case n.DataAtom == atom.H1 && (heading == "" || attribute(n, "id") == "firstHeading"):
			heading = flat(n)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(root)
	switch {
	case !b.wiki:
	case contents[0].DataAtom == atom.Body: // Parsoid: the title alone, and headings of level 1 are the article's
		b.page.Title = cmp.Or(name, b.page.Title)
	case heading != "":
		b.page.Title = heading
	}
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// has reports whether an element has one of the classes.
func has(n *html.Node, classes ...string) bool {
	return slices.ContainsFunc(strings.Fields(attribute(n, "class")), func(c string) bool { return slices.Contains(classes, c) })
}

// dropped reports whether an element is not text of the article: what scripts and
// forms are made of, what MediaWiki adds for editing and navigation, and what
// Wikipedia's templates add around the text.
func dropped(n *html.Node) bool {
	if slices.Contains(machinery(), n.DataAtom) || attribute(n, "role") == "navigation" ||
		slices.Contains(furnitureIDs(), attribute(n, "id")) || has(n, furniture()...) {
		return true
	}
	// Skins hide the sections that a reader folds away; they stay.
	hidden := strings.Contains(strings.ReplaceAll(strings.ToLower(attribute(n, "style")), " ", ""), "display:none")
	return hidden && n.DataAtom != atom.Section && !has(n, "collapsible-block") && n.DataAtom != atom.Math && !strings.Contains(attribute(n, "class"), "mwe-math")
}

func machinery() []atom.Atom {
	return []atom.Atom{atom.Script, atom.Style, atom.Noscript, atom.Head, atom.Nav, atom.Footer, atom.Template, atom.Select, atom.Textarea,
		atom.Button, atom.Input, atom.Svg, atom.Canvas, atom.Iframe, atom.Object, atom.Audio, atom.Video, atom.Map}
}

func furnitureIDs() []string {
	return []string{"toc", "siteSub", "contentSub", "contentSub2", "jump-to-nav", "siteNotice", "catlinks", "coordinates", "p-lang", "mw-panel",
		"mw-navigation", "mw-head", "mw-data-after-content", "column-one", "footer"}
}

func furniture() []string {
	return []string{
		// of MediaWiki
		"mw-editsection", "mw-editsection-like", "mw-jump-link", "mw-indicators", "mw-empty-elt", "mw-headline-number", "mw-cite-backlink",
		"mw-references-wrap", "references", "reference", "mw-pt-languages", "interlanguage-link", "catlinks", "printfooter", "noprint",
		"mw-collapsible-toggle", "mw-kartographer-maplink", "toc", "tocnumber", "indicator", "mw-ui-icon", "mf-icon", "usermessage", "noexcerpt",
		// of Wikipedia's templates
		"reflist", "navbox", "navbox-styles", "vertical-navbox", "sidebar", "navbar", "metadata", "ambox", "dmbox", "sistersitebox", "side-box",
		"portalbox", "portal-bar", "authority-control", "shortdescription", "hatnote", "dablink", "stub", "asbox", "geo-nondefault",
	}
}
