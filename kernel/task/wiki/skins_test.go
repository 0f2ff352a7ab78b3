package wiki_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"noema/kernel/internal/test/wikitest"
	"noema/kernel/task/wiki"
)

// harbor is an article in plain HTML.
func harbor() wikitest.Article {
	return wikitest.Article{Title: "Silent Harbor (2016 film)", Body: `<p><b>Silent Harbor</b> is a <i>quiet</i> film.<sup id="cite_ref-1" class="reference"><a href="#cite_note-1">[junk 1]</a></sup> It was seen by many&nbsp;people.</p>
<h2>Plot</h2><p>Long ago, E = <span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;"><math alttext="{\displaystyle mc^{2}}"><mi>junk</mi></math></span><img class="mwe-math-fallback-image-inline" alt="junk"></span> held.</p>
<h3>Ending</h3><p>They left &amp; stayed.</p>
<h2>Cast</h2><div role="note" class="hatnote">Main junk: <a href="/wiki/List">list</a></div><table class="wikitable"><tbody><tr><th>Actor</th><th>Role</th></tr><tr><td>Ada</td><td>the<br>captain</td></tr></tbody></table><ul><li>one</li><li>two <b>three</b></li></ul>`}
}

// TestSkins reads one article in every layout, and must find the same text, and
// nothing of what stands around it.
func TestSkins(t *testing.T) {
	for _, skin := range wikitest.Skins() {
		t.Run(skin, func(t *testing.T) {
			p, err := wiki.Parse(strings.NewReader(wikitest.Render(skin, harbor())), "Silent Harbor (2016 film)", "")
			if err != nil {
				t.Fatal(err)
			}
			if p.Title != "Silent Harbor (2016 film)" || p.Disambiguation || strings.Join(p.Links, "|") != "Other things" {
				t.Errorf("title %q, links %q, disambiguation %v", p.Title, p.Links, p.Disambiguation)
			}
			if got := strings.Join(p.TOC(), "|"); got != "Infobox|Plot|  Ending|Cast" {
				t.Errorf("contents are %q", got)
			}
			if p.Lead != "Silent Harbor is a quiet film. It was seen by many people.\nWhat the picture shows" {
				t.Errorf("lead %q", p.Lead)
			}
			for name, want := range map[string]string{
				"Infobox": "Fact sheet\nMade by | The Makers and others\nCast | First Player, Second Player",
				"Plot":    "Long ago, E = mc^{2} held.\nEnding\nThey left & stayed.",
				"Cast":    "Actor | Role\nAda | the captain\n- one\n- two three",
			} {
				if _, got, err := p.Section(name); err != nil || got != want {
					t.Errorf("section %q is %q (%v), want %q", name, got, err, want)
				}
			}
			if text := strings.ToLower(p.Text() + strings.Join(p.Links, "")); strings.Contains(text, "junk") {
				t.Errorf("it read what is not the article:\n%s", text)
			}
		})
	}
}

// TestSkinsOverHTTP fetches redirects and lists as MediaWiki serves them: under
// the address that was asked for, with the other title on the page.
func TestSkinsOverHTTP(t *testing.T) {
	for _, skin := range wikitest.Skins() {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch a := harbor(); r.URL.Path {
			case "/wiki/Old_name":
				a.RedirectedFrom = "Old name"
				fmt.Fprint(w, wikitest.Render(skin, a))
			case "/wiki/Harbor":
				fmt.Fprint(w, wikitest.Render(skin, wikitest.Article{Title: "Harbor", Disambiguation: true,
					Body: `<p><b>Harbor</b> may be:</p><ul><li><a href="/wiki/Silent_Harbor_(2016_film)">Silent Harbor</a>, a film</li><li><a href="/wiki/Silent_Harbor_(2017_film)">Silent Harbor</a>, another</li></ul>`}))
			default:
				http.NotFound(w, r)
			}
		}))
		m := &wiki.MediaWiki{Base: server.URL, Wait: time.Nanosecond}
		p, err := m.Page(t.Context(), "Old name")
		switch {
		case err != nil:
			t.Errorf("%s: %v", skin, err)
		case skin == "render": // which says no title
		case p.Title != "Silent Harbor (2016 film)" || p.URL != "wiki/Silent_Harbor_%282016_film%29" || p.RedirectedFrom != "Old name":
			t.Errorf("%s: a redirect gives %q %q from %q", skin, p.Title, p.URL, p.RedirectedFrom)
		}
		p, err = m.Page(t.Context(), "harbor")
		if err == nil {
			t.Errorf("%s: a server that knows no such title gives %+v", skin, p)
		}
		p, err = m.Page(t.Context(), server.URL+"/wiki/Harbor#Films")
		if err != nil || !p.Disambiguation || strings.Join(p.Links, "|") != "Silent Harbor (2016 film)|Silent Harbor (2017 film)" || !strings.Contains(p.Lead, "- Silent Harbor, a film") || strings.Contains(p.Text(), "junk") {
			t.Errorf("%s: a disambiguation page gives %+v (%v)", skin, p, err)
		}
		server.Close()
	}
}
