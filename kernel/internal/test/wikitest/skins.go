// Package wikitest renders articles as MediaWiki serves them, with everything
// that stands around an article's own text: menus, language lists, edit links,
// navigation boxes, notes, references. Every such word has the letters "junk", so
// that a test can tell that none of them was read.
//
// Source: the structure is that of the templates of MediaWiki 1.35 to 1.43 and
// its skins; the words are our own.
package wikitest

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// Skins lists the layouts: six skins with old and new markup of headings, and the
// content alone as action=render and the REST API return it.
func Skins() []string {
	return []string{"vector-legacy", "vector-2022", "minerva", "minerva-old", "monobook", "timeless", "parsoid", "render"}
}

// Article is what a page shows. Body is the HTML of the text, with plain headings
// of levels 2 and 3.
type Article struct {
	Title, Body    string
	RedirectedFrom string // a title
	Disambiguation bool
}

// Render is the page of an article in a skin.
func Render(skin string, a Article) string {
	title := html.EscapeString(a.Title)
	content := headings(a.Body, skin)
	if !a.Disambiguation {
		content = above(skin) + content + below()
	} else {
		content += `<div role="note" class="metadata plainlinks dmbox dmbox-disambig" id="disambigbox"><p>This junk page lists junk.</p></div>`
	}
	output := `<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">` + content + "</div>"
	path := "https://wiki.example/wiki/" + strings.ReplaceAll(title, " ", "_")
	head := "<!DOCTYPE html><html class=\"client-nojs\" lang=\"en\" dir=\"ltr\"><head><meta charset=\"UTF-8\"><title>" + title +
		` - Junkpedia</title><script>var junk = {"wgPageName":"Junk"};</script><style>.junk{color:red}</style><link rel="canonical" href="` + path + `"></head>`
	redirected := ""
	if a.RedirectedFrom != "" {
		redirected = `<span class="mw-redirectedfrom">(Redirected from <a href="/w/index.php?title=Junk&amp;redirect=no" class="mw-redirect">junk</a>)</span>`
	}
	switch skin {
	case "render":
		return output
	case "parsoid":
		return parsoid(title, content)
	}
	text := `<div id="mw-content-text" class="mw-body-content">` + output + `<div class="printfooter" data-nosnippet="">Retrieved from "junk"</div></div>`
	return head + strings.NewReplacer("{title}", title, "{text}", text, "{redirected}", redirected).Replace(frames()[skin]) + "</html>"
}

var plainHeading = regexp.MustCompile(`<h([23])>([^<]*)</h[23]>`)

// headings writes each heading as a skin does.
func headings(body, skin string) string {
	if slices.Contains([]string{"minerva", "minerva-old"}, skin) {
		return folded(body, skin)
	}
	return plainHeading.ReplaceAllStringFunc(body, func(h string) string {
		m := plainHeading.FindStringSubmatch(h)
		return heading(m[1], m[2], skin, "")
	})
}

func heading(level, name, skin, icon string) string {
	id := strings.ReplaceAll(name, " ", "_")
	edit := `<span class="mw-editsection"><span class="mw-editsection-bracket">[</span><a href="/w/index.php?title=X&amp;action=edit">junk edit</a><span class="mw-editsection-bracket">]</span></span>`
	switch skin {
	case "vector-legacy", "monobook", "minerva-old":
		return fmt.Sprintf(`<h%s>%s<span id="%s_old"></span><span class="mw-headline" id="%s">%s</span>%s</h%s>`, level, icon, id, id, name, edit, level)
	case "parsoid":
		return fmt.Sprintf(`<h%s id="%s">%s</h%s>`, level, id, name, level)
	}
	return fmt.Sprintf(`<div class="mw-heading mw-heading%s">%s<h%s id="%s">%s</h%s>%s</div>`, level, icon, level, id, name, level, edit)
}

// folded puts each section of level 2 into an element that a reader unfolds.
func folded(body, skin string) string {
	icon := `<span class="indicator mf-icon mf-icon-expand mf-icon--small">junk</span>`
	if skin == "minerva-old" {
		icon = `<div class="mw-ui-icon mw-ui-icon-mf-expand indicator">junk</div>`
	}
	var b strings.Builder
	b.WriteString(`<section class="mf-section-0" id="mf-section-0">`)
	for i, part := range strings.Split(body, "<h2>") {
		if i > 0 {
			name, rest, _ := strings.Cut(part, "</h2>")
			fmt.Fprintf(&b, `</section>%s<section class="mf-section-%d collapsible-block" id="mf-section-%d" style="display: none;">`, heading("2", name, skin, icon), i, i)
			part = rest
		}
		b.WriteString(plainHeading.ReplaceAllStringFunc(part, func(h string) string {
			return heading("3", plainHeading.FindStringSubmatch(h)[2], skin, "")
		}))
	}
	return b.String() + "</section>"
}

// above is what Wikipedia's templates put before the first paragraph.
func above(skin string) string {
	toc := ""
	if skin == "vector-legacy" || skin == "monobook" {
		toc = `<div id="toc" class="toc" role="navigation"><div class="toctitle"><h2 id="mw-toc-heading">Junk contents</h2></div><ul><li class="toclevel-1"><a href="#X"><span class="tocnumber">1</span> <span class="toctext">junk</span></a></li></ul></div>`
	}
	return `<div class="shortdescription nomobile noexcerpt noprint searchaux" style="display:none">Junk description</div>
<div role="note" class="hatnote navigation-not-searchable">For junk uses, see <a href="/wiki/Other_things" class="mw-disambig" title="Other things">Other junk</a>.</div>
<table class="box-More_citations_needed plainlinks metadata ambox ambox-content" role="presentation"><tbody><tr><td class="mbox-text">This junk needs citations.</td></tr></tbody></table>
<table class="infobox vevent"><tbody><tr><th colspan="2" class="infobox-above summary">Fact sheet</th></tr>
<tr><th scope="row" class="infobox-label">Made by</th><td class="infobox-data">The Makers<br>and others</td></tr>
<tr><th scope="row" class="infobox-label">Cast</th><td class="infobox-data"><div class="plainlist"><ul><li>First Player</li>
<li>Second Player<sup class="reference"><a href="#n">[junk]</a></sup></li></ul></div></td></tr></tbody></table>
<figure class="mw-default-size" typeof="mw:File/Thumb"><a href="/wiki/File:X.jpg" class="mw-file-description"><img alt="junk" src="//x/x.jpg"></a><figcaption>What the picture shows</figcaption></figure>
<p class="mw-empty-elt"></p>` + toc
}

// below is what they put after the last.
func below() string {
	return `<div class="mw-heading mw-heading2"><h2 id="References">References</h2></div>
<div class="reflist"><div class="mw-references-wrap"><ol class="references"><li id="cite_note-1"><span class="mw-cite-backlink"><b><a href="#r">^</a></b></span> <cite class="citation web">Junk source</cite></li></ol></div></div>
<div role="navigation" class="navbox" aria-labelledby="J"><table class="nowraplinks"><tbody><tr><th><div class="navbar plainlinks">v t e</div>Junk box</th></tr><tr><td class="navbox-list"><ul><li><a href="/wiki/Junk">Junk</a></li></ul></td></tr></tbody></table></div>
<div class="side-box metadata sister-box">Junk on sister projects</div><table class="sidebar nomobile"><tbody><tr><td>Junk series</td></tr></tbody></table>`
}

func parsoid(title, content string) string {
	var b strings.Builder
	for i, part := range strings.Split(content, "<h2 ") {
		if i > 0 {
			part = "<h2 " + part
		}
		fmt.Fprintf(&b, `<section data-mw-section-id="%d" id="mw%d">%s</section>`, i, i, part)
	}
	return `<!DOCTYPE html><html prefix="dc: http://purl.org/dc/terms/ mw: http://mediawiki.org/rdf/"><head prefix="mwr: https://wiki.example/wiki/Special:Redirect/"><meta charset="utf-8"/><title>` +
		title + `</title><link rel="dc:isVersionOf" href="//wiki.example/wiki/` + strings.ReplaceAll(title, " ", "_") + `"/></head><body lang="en" class="mw-content-ltr sitedir-ltr ltr mw-body-content parsoid-body mediawiki mw-parser-output" dir="ltr">` +
		b.String() + `</body></html>`
}
