package wiki

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// TestParseSurvivesAnything reads HTML that was made to break parsers. Each is
// read in time that grows with its length, or refused with the reason.
func TestParseSurvivesAnything(t *testing.T) {
	n := 2000
	if os.Getenv("NOEMA_BENCH") != "" {
		n = 100_000
	}
	rep := func(s string) string { return strings.Repeat(s, n) }
	for name, c := range map[string]struct{ html, refused string }{
		"nothing":                {"", ""},
		"half a tag":             {"<", ""},
		"nested":                 {rep("<div>"), "512 nodes"},
		"nested lists":           {rep("<ul><li>"), "512 nodes"},
		"nested tables":          {rep("<table><tr><td>"), "512 nodes"},
		"no text":                {"\x00\xff<h2>\x00", ""},
		"headings":               {rep("<h2>a</h2>"), ""},
		"formatting never ended": {strings.Repeat("<b><i><font color=x><u>", 100) + rep("<p>x"), ""},
		"links never ended":      {rep("<p><a href=/wiki/X>x"), ""},
		"entities":               {rep("&amp;&#0;&#x110000;&bogus;"), ""},
		"scripts":                {rep("<script><h2>x</h2></script><style>p{}</style>"), ""},
		"a script never ended":   {"<p>x</p><script>" + rep("<p>y"), ""},
		"comments":               {rep("<!-- <p>x"), ""},
		"attributes":             {"<div " + rep("class=navbox a=b ") + ">x</div>", ""},
		"a long class":           {rep(`<p class="` + strings.Repeat("x ", 40) + `">y</p>`), ""},
		"many contents":          {rep("<div class=mw-parser-output><h1>x</h1></div>"), ""},
		"many links":             {"<div class=mw-parser-output><div class=hatnote>" + rep("<a href=/wiki/X></a>") + "</div></div>", ""},
		"items in items":         {"<div class=mw-parser-output><ul>" + rep("<li>x") + "</ul></div>", ""},
		"rows":                   {"<table>" + rep("<tr><td>x") + "</table>", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse(strings.NewReader(c.html), "x", "")
			if c.refused != "" {
				if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), c.refused) {
					t.Errorf("%v, want a refusal that says %q", err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if text := p.Text(); !utf8.ValidString(text) || strings.ContainsAny(text, "\x00\ufffd") {
				t.Errorf("the text has bytes that are none: %.80q", text)
			}
			if strings.Contains(p.Text(), "<p>y") {
				t.Error("a script was read")
			}
		})
	}
	for name, c := range map[string]struct{ html, refused string }{
		"too long":      {strings.Repeat("x", maxHTML+1), "longer than"},
		"too many tags": {strings.Repeat("<p>", maxTags+1), "more than"},
	} {
		if _, err := Parse(strings.NewReader(c.html), "x", ""); !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want a refusal that says %q", name, err, c.refused)
		}
	}
}

// TestHostileServers serves what no wiki does. A method is told, and goes on.
func TestHostileServers(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch r.URL.Path {
		case "/wiki/Endless":
			for line := strings.Repeat("<p>no end ", 1000); ; {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		case "/wiki/Deep":
			io.WriteString(w, strings.Repeat("<div>", 100_000))
		case "/wiki/Bytes":
			io.WriteString(w, "\x00\xff\xfe<h2>\x01</h2><p>text\x00</p>")
		}
	}))
	defer server.Close()
	e := NewEnvironment(&MediaWiki{Base: server.URL, Wait: time.Nanosecond})
	for name, want := range map[string]string{"Endless": "longer than", "Deep": "512 nodes", "Bytes": `"title":"Bytes"`, "Empty": `"lead":""`} {
		_, said := tool(t, e, "inspect", map[string]any{"url": name})
		if !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %q", name, said, want)
		}
	}
	before := requests.Load()
	if _, said := tool(t, e, "read_section", map[string]any{"url": "Bytes", "section": "Lead"}); requests.Load() != before || strings.Contains(said, "no section") {
		t.Errorf("reading on gives %s, after %d more requests", said, requests.Load()-before)
	}
}
