package wiki

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

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
