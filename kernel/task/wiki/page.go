// Package wiki reads articles at three resolutions, as research methods need
// them: what a search finds, what an article is about and has sections on, and
// the text of one section. Articles come from a MediaWiki server or from a
// corpus in files or in memory.
package wiki

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"noema/kernel/base/title"
)

// Page is an article.
type Page struct {
	Title          string
	URL            string
	Lead           string // the text before the first section
	Sections       []Section
	Links          []string // titles that the notes above its text lead to; of a disambiguation page, those that it lists
	Disambiguation bool
	RedirectedFrom string // the title that led here, if it was another

	canonical string // the title in the address that the page itself gives
}

// Section is a heading with the text up to the next heading of any level.
type Section struct {
	Title string
	Level int // 2 for h2, 3 for h3
	Text  string
}

// leadName names the lead where a section is asked for.
const leadName = "Lead"

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

// Section finds a section by its heading and returns its full name and text. With
// a section of level 2 come its subsections; "Lead" is the lead. If no heading is
// spelled as asked, case may differ, and then a number before the name that was
// asked for is left out. Of several that fit, all are returned, each below its
// name. A missing one is an error that lists the sections.
func (p *Page) Section(name string) (heading, text string, err error) {
	found := p.find(name)
	if len(found) == 0 && strings.EqualFold(strings.TrimSpace(name), leadName) {
		return leadName, p.Lead, nil
	}
	if len(found) == 0 {
		return "", "", fmt.Errorf("article %q has no section %q; it has: %s", p.Title, name, p.names())
	}
	if len(found) == 1 {
		return p.Sections[found[0]].Title, p.whole(found[0]), nil
	}
	var all []string
	for _, i := range found {
		all = append(all, p.pathOf(i)+":\n"+p.whole(i))
	}
	return p.Sections[found[0]].Title, strings.Join(all, "\n"), nil
}

// numbering is what a table of contents may show before a heading.
var numbering = regexp.MustCompile(`^\s*\d+(\.\d+)*\.?\s+`)

func (p *Page) find(name string) (found []int) {
	asked := title.Canonical(name)
	unnumbered := title.Fold(numbering.ReplaceAllString(name, ""))
	for _, same := range []func(s Section) bool{
		func(s Section) bool { return title.Canonical(s.Title) == asked },
		func(s Section) bool { return title.Fold(s.Title) == title.Fold(asked) },
		func(s Section) bool { return title.Fold(s.Title) == unnumbered },
	} {
		for i, s := range p.Sections {
			if asked != "" && same(s) {
				found = append(found, i)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	return found
}

// whole is the text of a section with its subsections.
func (p *Page) whole(i int) string {
	text := p.Sections[i].Text
	for _, sub := range p.Sections[i+1:] {
		if sub.Level <= p.Sections[i].Level {
			break
		}
		text += "\n" + sub.Title + "\n" + sub.Text
	}
	return strings.TrimSpace(text)
}

// pathOf is a section's heading behind the one that it stands below.
func (p *Page) pathOf(i int) string {
	for j := i - 1; j >= 0; j-- {
		if p.Sections[j].Level < p.Sections[i].Level {
			return p.Sections[j].Title + " › " + p.Sections[i].Title
		}
	}
	return p.Sections[i].Title
}

// maxNames bounds how many headings an error lists.
const maxNames = 80

func (p *Page) names() string {
	if len(p.Sections) == 0 {
		return leadName
	}
	var names []string
	for i, s := range p.Sections {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more", len(p.Sections)-i))
			break
		}
		names = append(names, s.Title)
	}
	return strings.Join(names, "; ")
}

// pages cuts a text into pages of at most size bytes each, at the end of a
// paragraph where one ends in the second half of the page, or else at the end of a
// sentence there, or else between words.
func pages(text string, size int) []string {
	var list []string
	for text = strings.TrimSpace(text); len(text) > size; {
		at := cutAt(text, size)
		list = append(list, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	return append(list, text)
}

// cutAt is where the first page of a text ends that is longer than size.
func cutAt(text string, size int) int {
	for size > 1 && !utf8.RuneStart(text[size]) {
		size--
	}
	for _, ends := range [][]string{{"\n"}, {". ", "! ", "? ", ".\n", "。"}, {" "}} {
		last := 0
		for _, end := range ends {
			if i := strings.LastIndex(text[:size], end); i >= 0 {
				last = max(last, i+len(end))
			}
		}
		if last > size/2 {
			return last
		}
	}
	return size
}
