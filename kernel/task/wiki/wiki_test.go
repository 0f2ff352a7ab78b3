package wiki

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"noema/methods"
)

const article = `<html><head><title>x</title><style>p{}</style></head><body><h1 id="firstHeading">Silent Harbor</h1>
<div class="mw-parser-output"><p><b>Silent Harbor</b> is a film.<sup class="reference">[1]</sup></p>
<div id="toc" class="toc">Contents 1 Plot</div>
<h2><span>Plot</span><span class="mw-editsection">[edit]</span></h2><p>Long ago.</p><script>evil()</script>
<h3>Ending</h3><p>They left &amp; stayed.</p>
<h2>Cast</h2><table><tr><th>Actor</th><th>Role</th></tr><tr><td>Ada</td><td>the<br>captain</td></tr></table>
<ul><li>one</li><li>two <b>three</b></li></ul><div class="reflist"><p>1. a source</p></div></div></body></html>`

func TestParseReadsAnArticle(t *testing.T) {
	p, err := Parse(strings.NewReader(article), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Title != "Silent Harbor" || p.Lead != "Silent Harbor is a film." {
		t.Errorf("title %q, lead %q", p.Title, p.Lead)
	}
	if got := strings.Join(p.TOC(), "|"); got != "Plot|  Ending|Cast" {
		t.Errorf("contents are %q", got)
	}
	for section, want := range map[string]string{
		"plot":   "Long ago.\nEnding\nThey left & stayed.",
		"2 Cast": "Actor | Role\nAda | the captain\n- one\n- two three",
		"Ending": "They left & stayed.",
	} {
		if _, got, err := p.Section(section); err != nil || got != want {
			t.Errorf("section %q is %q (%v), want %q", section, got, err, want)
		}
	}
	if _, _, err := p.Section("Music"); err == nil || !strings.Contains(err.Error(), "it has: Plot; Ending; Cast") {
		t.Errorf("a missing section gives %v", err)
	}
}

func corpus(t *testing.T) *Corpus {
	t.Helper()
	p, err := Parse(strings.NewReader(article), "", "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCorpus([]*Page{p, Paragraphs("Ada", "Ada is a captain. She sailed."), {Title: "Harbor", Lead: "may be", Disambiguation: true}},
		map[string]string{"Silent Harbour": "Silent Harbor"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tool(t *testing.T, e Environment, name string, args any) (map[string]any, string) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Call(t.Context(), methods.ToolCall{Name: name, Arguments: raw})
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if !r.IsError {
		if err := json.Unmarshal([]byte(r.Content), &o); err != nil {
			t.Fatalf("%s: %v", r.Content, err)
		}
	}
	return o, r.Content
}

func TestThreeResolutions(t *testing.T) {
	e := NewEnvironment(corpus(t))
	o, text := tool(t, e, "search", map[string]string{"query": "the captain's harbor film"})
	if !strings.Contains(text, `"title":"Silent Harbor"`) || len(o["results"].([]any)) != 3 {
		t.Errorf("search gives %s", text)
	}
	o, _ = tool(t, e, "inspect", map[string]string{"url": "wiki/Silent_Harbour"})
	if o["title"] != "Silent Harbor" || o["redirected_from"] != "Silent Harbour" || o["lead"] != "Silent Harbor is a film." || o["lead_pages"] != nil {
		t.Errorf("inspect gives %v", o)
	}
	if o, _ = tool(t, e, "inspect", map[string]string{"url": "Harbor"}); o["disambiguation"] != true {
		t.Errorf("a disambiguation page gives %v", o)
	}
	if o, _ = tool(t, e, "read_section", map[string]string{"url": "Ada", "section": "Text"}); o["text"] != "Ada is a captain. She sailed." {
		t.Errorf("reading gives %v", o)
	}
	for _, wrong := range []map[string]string{{"url": "Nowhere"}, {"url": ""}} {
		if _, text := tool(t, e, "inspect", wrong); !strings.Contains(text, "no such article") && !strings.Contains(text, "empty") {
			t.Errorf("inspect %v gives %s", wrong, text)
		}
	}
	if _, text := tool(t, e, "read_section", map[string]string{"url": "Ada", "section": "Life"}); !strings.Contains(text, "it has: Text") {
		t.Errorf("a missing section gives %s", text)
	}
	if _, err := e.Call(t.Context(), methods.ToolCall{Name: "delete", Arguments: json.RawMessage(`{}`)}); !errors.Is(err, methods.ErrUnknownTool) {
		t.Errorf("an unknown tool gives %v", err)
	}
}

// TestMediaWiki speaks to a real server that is busy at first.
func TestMediaWiki(t *testing.T) {
	var requests, agents atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.UserAgent(), "noema") {
			agents.Add(1)
		}
		switch n := requests.Add(1); {
		case n == 1:
			w.Header().Set("Retry-After", "0")
			http.Error(w, "busy", http.StatusTooManyRequests)
		case r.URL.Path == "/w/api.php":
			fmt.Fprint(w, `{"query":{"search":[{"title":"Silent Harbor","snippet":"a <span class=\"searchmatch\">film</span> &quot;x&quot;"}]}}`)
		case r.URL.Path == "/wiki/Old_name":
			http.Redirect(w, r, "/wiki/Silent_Harbor", http.StatusMovedPermanently)
		case r.URL.Path == "/wiki/Silent_Harbor":
			fmt.Fprint(w, article)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	m := &MediaWiki{Base: server.URL, Wait: time.Millisecond}
	hits, err := m.Search(t.Context(), "harbor", 5)
	if err != nil || len(hits) != 1 || hits[0].Snippet != `a film "x"` {
		t.Errorf("search gives %+v (%v)", hits, err)
	}
	p, err := m.Page(t.Context(), "wiki/Old_name")
	if err != nil || p.Title != "Silent Harbor" || p.RedirectedFrom != "Old name" || len(p.Sections) != 3 {
		t.Errorf("page is %+v (%v)", p, err)
	}
	if _, err := m.Page(t.Context(), "Nowhere"); !errors.Is(err, ErrNoPage) {
		t.Errorf("a missing page gives %v", err)
	}
	if agents.Load() != requests.Load() {
		t.Error("a request did not name its user agent")
	}
	server.Close()
	if _, err := m.Search(t.Context(), "x", 1); err == nil {
		t.Error("a dead server is no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Search(ctx, "x", 1); err == nil {
		t.Error("a search went on after its context had ended")
	}
}

func TestLoadCorpus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a.html", article)
	write("b.md", "# Moon\n\nIt is round.\n\n## Phases\n\n- new\n- full\n")
	c, err := LoadCorpus(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Page(t.Context(), "Moon")
	if err != nil || p.Lead != "It is round." || p.Sections[0].Text != "- new\n- full" {
		t.Errorf("Markdown gives %+v (%v)", p, err)
	}
	c, err = LoadCorpus(write("c.jsonl", "{\"title\":\"A\",\"text\":\"one\"}\n{\"title\":\"A\",\"text\":\"two\",\"section\":\"S\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := c.Page(t.Context(), "a"); p == nil || p.Lead != "one" || p.Sections[0].Title != "S" {
		t.Errorf("paragraphs give %+v", p)
	}
	for _, bad := range []string{write("d.jsonl", "{\"title\":\"\"}\n"), write("e.jsonl", ""), filepath.Join(dir, "gone")} {
		if _, err := LoadCorpus(bad); err == nil {
			t.Errorf("%s is no error", bad)
		}
	}
}

func TestNewCorpusRefusesTitles(t *testing.T) {
	for _, c := range []struct {
		titles []string
		says   string
	}{
		{[]string{"Ada", "ada"}, `two articles have the title "ada"`},
		{[]string{"Ada", " "}, "article 2 has no title"},
	} {
		var pages []*Page
		for _, title := range c.titles {
			pages = append(pages, &Page{Title: title})
		}
		if _, err := NewCorpus(pages, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.titles, err, c.says)
		}
	}
	if _, err := NewCorpus(nil, map[string]string{"Moon": "Luna"}); err == nil || !strings.Contains(err.Error(), `"Moon" redirects to "Luna", which is not an article`) {
		t.Error(err)
	}
}

// TestTitlesAreToldApart looks articles up whose titles differ in what a careless
// comparison strips.
func TestTitlesAreToldApart(t *testing.T) {
	var list []*Page
	for _, name := range []string{"2016 Open", "2017 Open", "Open", "AIDS", "Aids", "Ada"} {
		list = append(list, &Page{Title: name, Lead: "the lead of " + name})
	}
	c, err := NewCorpus(list, map[string]string{"ADA": "Open"})
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{
		"2016 Open": "2016 Open", "wiki/2017_Open": "2017 Open", "open": "Open", "2017 OPEN": "2017 Open", "AIDS": "AIDS", "aids": "Aids", "ada": "Ada", "ADA": "Open",
	} {
		if p, err := c.Page(t.Context(), asked); err != nil || p.Title != want {
			t.Errorf("%q gives %+v (%v), want %q", asked, p, err, want)
		}
	}
	p, err := c.Page(t.Context(), "aiDS")
	if err != nil || !p.Disambiguation || strings.Join(p.Links, "|") != "AIDS|Aids" || p.Lead != "aiDS may be:\n- AIDS\n- Aids" {
		t.Errorf("a name that two articles may have gives %+v (%v)", p, err)
	}
	if _, err := c.Page(t.Context(), "2018 Open"); !errors.Is(err, ErrNoPage) {
		t.Errorf("an article of another year gives %v", err)
	}
}

// TestSectionsAreToldApart finds headings that are alike.
func TestSectionsAreToldApart(t *testing.T) {
	p := &Page{Title: "Team", Sections: []Section{{"2016 season", 2, "sixteen"}, {"Awards", 3, "a cup"}, {"2017 season", 2, "seventeen"}, {"Awards", 3, "none"}}}
	for asked, want := range map[string]string{
		"2016 season": "sixteen\nAwards\na cup", "2017 SEASON": "seventeen\nAwards\nnone", "2.1 Awards": "2016 season › Awards:\na cup\n2017 season › Awards:\nnone",
	} {
		if _, got, err := p.Section(asked); err != nil || got != want {
			t.Errorf("section %q is %q (%v), want %q", asked, got, err, want)
		}
	}
	if _, _, err := p.Section("season"); err == nil {
		t.Error("a part of a heading is no error")
	}
	if _, got, err := (&Page{Lead: "short"}).Section("lead"); err != nil || got != "short" {
		t.Errorf("the lead is %q (%v)", got, err)
	}
}

// TestLongSectionsComeInPages reads a section page by page, and must get all of it.
func TestLongSectionsComeInPages(t *testing.T) {
	text := strings.Repeat("One sentence is here. Another é follows it!\n", 60)
	c, err := NewCorpus([]*Page{{Title: "Long", Lead: text, Sections: []Section{{"Part", 2, text}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEnvironment(c)
	for _, size := range []int{0, 100, 333, 5000} {
		for _, section := range []string{"Part", "Lead"} {
			var all []string
			for page, last := 1, 1; page <= last; page++ {
				o, said := tool(t, e, "read_section", map[string]any{"url": "Long", "section": section, "page": page, "size": size})
				if o == nil {
					t.Fatal(said)
				}
				part := o["text"].(string)
				if n, ok := o["pages"].(float64); ok {
					last = int(n)
				}
				if limit := map[bool]int{true: 1500, false: size}[size == 0]; len(part) > limit || page < last && !strings.ContainsAny(part[len(part)-1:], ".!") {
					t.Errorf("page %d of size %d has %d bytes and ends %q", page, size, len(part), part[max(0, len(part)-20):])
				}
				all = append(all, part)
			}
			if got := strings.Fields(strings.Join(all, "\n")); strings.Join(got, " ") != strings.Join(strings.Fields(text), " ") {
				t.Errorf("size %d: the pages are not the whole section", size)
			}
		}
	}
	if _, said := tool(t, e, "read_section", map[string]any{"url": "Long", "section": "Part", "page": 9}); !strings.Contains(said, "has no page 9: the last is page 2") {
		t.Errorf("a page too many gives %q", said)
	}
	if o, _ := tool(t, e, "inspect", map[string]any{"url": "Long"}); o["lead_pages"] != 3.0 {
		t.Errorf("a long lead gives %v pages", o["lead_pages"])
	}
	if list := pages(strings.Repeat("é", 300), 101); len(list) != 6 || strings.Join(list, "") != strings.Repeat("é", 300) {
		t.Errorf("a text without spaces gives %d pages", len(list))
	}
}
