package lab

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"noema/kernel/base/display"
)

// HTML is a page, or a part of one, to be shown: rendered in a notebook, which
// takes scripts out of notebooks that it does not trust, and as its text
// elsewhere.
func HTML(page string) Bundle { return display.HTMLText(page, pageText(page)) }

// Markdown is Markdown to be shown: rendered in a notebook, as it is elsewhere.
func Markdown(text string) Bundle { return display.MarkdownText(text) }

// SVG is a picture to be shown: drawn in a notebook, and the texts in it
// elsewhere.
func SVG(picture string) Bundle {
	b := display.Text(pictureText(picture))
	b[display.SVG] = []byte(picture)
	return b
}

// JSON is a value to be shown as JSON: a tree in a notebook, indented text
// elsewhere. A string, []byte or json.RawMessage is taken as JSON already. What
// has no JSON form shows the error.
func JSON(value any) Bundle {
	var raw []byte
	var err error
	switch v := value.(type) {
	case string:
		raw = []byte(v)
	case []byte:
		raw = v
	case json.RawMessage:
		raw = v
	default:
		raw, err = json.Marshal(v)
	}
	if err == nil && !json.Valid(raw) {
		err = json.Unmarshal(raw, new(any)) // which says where
	}
	if err != nil {
		return display.Of(fmt.Errorf("show JSON: %w", err))
	}
	return display.JSONValue(raw)
}

// pageText is the text of HTML: without scripts and styles, a line for each block.
func pageText(page string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			return strings.TrimSpace(b.String())
		}
		t := z.Token()
		if kind == html.TextToken {
			b.WriteString(strings.Join(strings.Fields(t.Data), " "))
			if strings.HasSuffix(t.Data, " ") {
				b.WriteByte(' ')
			}
			continue
		}
		switch t.DataAtom {
		case atom.Script, atom.Style:
			if kind == html.StartTagToken {
				z.Next() // its content is one token
			}
		case atom.Td, atom.Th:
			if s := b.String(); kind == html.StartTagToken && s != "" && s[len(s)-1] != ' ' && s[len(s)-1] != '\n' {
				b.WriteByte(' ')
			}
		case atom.Br, atom.P, atom.Div, atom.Tr, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.Table, atom.Pre:
			if !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
	}
}

// pictureText is the texts in a picture.
func pictureText(picture string) string {
	lines := []string{fmt.Sprintf("SVG picture of %s bytes", display.Count(len(picture)))}
	d := xml.NewDecoder(bytes.NewReader([]byte(picture)))
	d.Strict = false
	for {
		t, err := d.Token()
		if err != nil {
			return strings.Join(lines, "\n")
		}
		if text, ok := t.(xml.CharData); ok {
			if line := strings.TrimSpace(string(text)); line != "" {
				lines = append(lines, line)
			}
		}
	}
}
