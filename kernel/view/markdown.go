package view

import (
	"html"
	"html/template"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markdown finds what models write most: blocks of code, headings, bold text, code.
var markdown = regexp.MustCompile("(?m)^ *```[^\n]*\n(?s:.*?)^ *```[ \t]*$|^#{1,6} [^\n]+$|\\*\\*[^\\s*](?:[^*\n]*[^\\s*])?\\*\\*|`[^`\n]+`")

// marked is a text with its Markdown set as it is meant. Its marks stay in the text, where a
// reader does not see them, so that what is copied is what was said; no other character is
// hidden, and nothing becomes a link or a picture.
func marked(text string) template.HTML {
	var b strings.Builder
	at := 0
	for _, m := range markdown.FindAllStringIndex(text, -1) {
		part := text[m[0]:m[1]]
		open, end, mark, behind := "<code>", "</code>", "`", "`"
		switch {
		case part[0] == '#':
			open, end, mark, behind = `<b class="h">`, "</b>", part[:strings.IndexByte(part, ' ')+1], ""
		case part[0] == '*':
			if within(text, m[0], m[1]) { // such as a power
				continue
			}
			open, end, mark, behind = "<b>", "</b>", "**", "**"
		case strings.Contains(part, "\n"):
			open, mark, behind = `<code class="fence">`, part[:strings.Index(part, "```")+3], part[strings.LastIndexByte(part, '\n')+1:]
		}
		b.WriteString(html.EscapeString(text[at:m[0]]) + open + "<i>" + mark + "</i>" + html.EscapeString(part[len(mark):len(part)-len(behind)]) + "<i>" + behind + "</i>" + end)
		at = m[1]
	}
	b.WriteString(html.EscapeString(text[at:]))
	return template.HTML(b.String()) // every part is escaped, or a mark
}

// within reports whether a letter or a digit touches a part of a text.
func within(text string, from, to int) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	before, _ := utf8.DecodeLastRuneInString(text[:from])
	after, _ := utf8.DecodeRuneInString(text[to:])
	return word(before) || word(after)
}
