package display

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText bounds the text form of anything that is shown, in bytes. What is
// longer is cut, and says so.
const MaxText = 1 << 20

// Text is a bundle of plain text.
func Text(s string) Bundle { return Bundle{PlainText: []byte(Visible(cut(s)))} }

// PNGImage is a bundle of a picture, with a text for where it cannot be seen.
func PNGImage(png []byte, alt string) Bundle {
	return Bundle{PNG: png, PlainText: []byte(Visible(alt))}
}

// MarkdownText is a bundle of Markdown, which reads well as text, too.
func MarkdownText(s string) Bundle {
	return Bundle{Markdown: []byte(s), PlainText: []byte(Visible(cut(s)))}
}

// HTMLText is a bundle of HTML of the caller's own making, with its text form.
func HTMLText(html, text string) Bundle {
	return Bundle{HTML: []byte(html), PlainText: []byte(Visible(cut(text)))}
}

// JSONValue is a bundle of a JSON value, indented as text.
func JSONValue(raw json.RawMessage) Bundle {
	var v any
	text := string(raw)
	if err := json.Unmarshal(raw, &v); err == nil {
		if pretty, err := json.MarshalIndent(v, "", "  "); err == nil {
			text = string(pretty)
		}
	}
	return Bundle{JSON: raw, PlainText: []byte(Visible(cut(text)))}
}

// Stack is a bundle of several, one below the other, as text, HTML and Markdown.
func Stack(parts ...Displayer) Bundle {
	var bundles []Bundle
	for _, p := range parts {
		bundles = append(bundles, complete(p.Display()))
	}
	out := Bundle{PlainText: nil}
	for _, form := range []struct{ mime, between string }{{PlainText, "\n\n"}, {HTML, "\n"}, {Markdown, "\n\n"}} {
		var texts []string
		for _, b := range bundles {
			text, ok := b[form.mime]
			switch {
			case ok:
			case form.mime == HTML:
				text, ok = htmlOf(b)
			case form.mime == Markdown:
				text, ok = markdownOf(b)
			}
			if ok {
				texts = append(texts, strings.TrimRight(string(text), "\n"))
			}
		}
		if len(texts) == len(bundles) && len(texts) > 0 {
			out[form.mime] = []byte(strings.Join(texts, form.between))
		}
	}
	return out
}

// htmlOf shows a bundle without HTML within one that has it.
func htmlOf(b Bundle) ([]byte, bool) {
	if svg, ok := b[SVG]; ok {
		return bytes.Replace(svg, []byte(onPaper), []byte(">"), 1), true
	}
	text, ok := b[PlainText]
	for _, mime := range []string{PNG, JPEG} {
		if picture, ok := b[mime]; ok {
			return fmt.Appendf(nil, `<img alt="%s" src="data:%s;base64,%s">`,
				html.EscapeString(string(text)), mime, base64.StdEncoding.EncodeToString(picture)), true
		}
	}
	return []byte("<pre>" + html.EscapeString(string(text)) + "</pre>"), ok
}

// markdownOf shows the text of a bundle without Markdown line by line.
func markdownOf(b Bundle) ([]byte, bool) {
	text, ok := b[PlainText]
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, l := range lines {
		lines[i] = escape(l)
	}
	return []byte(strings.Join(lines, "  \n")), ok
}

// shorten cuts s to a number of characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == limit {
			return s[:i] + "…"
		}
	}
	return s
}

// cut bounds a text and says what is missing.
func cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	at := MaxText
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return fmt.Sprintf("%s\n… %d more bytes", s[:at], len(s)-at)
}

// Visible makes a text safe to show: control characters, which could steer a
// terminal, and marks that turn the direction of writing become visible
// characters, and bytes and codes that are not text the replacement character.
// Tabs and line ends stay.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < ' ':
			return '\u2400' + r // the picture of the control character
		case r == 0x7f:
			return '\u2421'
		case 0x80 <= r && r < 0xa0, turns(r), r&0xfffe == 0xfffe, r == 0x2028, r == 0x2029:
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// turns reports whether r changes the direction of the text that follows.
func turns(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// Line is s on one line of at most limit characters.
func Line(s string, limit int) string {
	s = Visible(strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " "))
	if r := []rune(s); len(r) > limit && limit > 0 {
		return string(r[:limit-1]) + "…"
	}
	return s
}

// longestName is how much of a name is looked at.
const longestName = 200

// shortNames cuts names to a limit, in their middle, and leaves as much more of them as
// tells them apart.
func shortNames(names []string, limit int) map[string]string {
	whole := map[string]string{}
	for _, name := range names {
		whole[name] = Line(name, longestName)
	}
	for ; ; limit += 8 {
		short, of := map[string]string{}, map[string]string{}
		clash := false
		for name, text := range whole {
			short[name] = middle(text, limit)
			other, taken := of[short[name]]
			clash = clash || taken && other != text
			of[short[name]] = text
		}
		if !clash || limit >= longestName {
			return short
		}
	}
}

// middle cuts a text in its middle.
func middle(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	tail := limit / 2
	return string(r[:limit-1-tail]) + "…" + string(r[len(r)-tail:])
}
