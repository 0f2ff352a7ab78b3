package view

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"

	"noema/kernel/base/display"
	"noema/kernel/base/files"
	"noema/kernel/show/report"
)

// routes names every address of the page over runs.
func (p *Page) routes() {
	p.mux.HandleFunc("GET /{$}", p.handle(p.runs))
	p.mux.HandleFunc("GET /run/{run}", p.handle(p.run))
	p.part("news", func(l *loaded, _ *cells, _ url.Values) (any, error) { return p.newsOf(l) })
	p.part("map", func(l *loaded, c *cells, q url.Values) (any, error) { return l.heat(c, q), nil })
	p.part("rows", func(l *loaded, c *cells, q url.Values) (any, error) { return l.table(c, q, p.leaving != nil), nil })
	p.mux.HandleFunc("GET /run/{run}/drawer", p.handle(p.drawerPart))
	p.mux.HandleFunc("GET /run/{run}/state", p.state)
	p.mux.HandleFunc("GET /run/{run}/sample", p.handle(p.sample))
	p.mux.HandleFunc("GET /run/{run}/trial", p.handle(p.trial))
	p.mux.HandleFunc("GET /run/{run}/trial.json", p.rawTrial)
	p.mux.HandleFunc("GET /run/{run}/call", p.handle(p.call))
	p.mux.HandleFunc("GET /compare", p.compared)
	p.mux.HandleFunc("GET /diff", p.handle(p.diff))
	p.mux.HandleFunc("GET /study/{run}", p.handle(p.study))
	p.mux.HandleFunc("GET /study/{run}/state", p.studyState)
	p.mux.HandleFunc("GET /state", p.listState)
	p.mux.HandleFunc("POST /tag/{run}", p.writes(p.tag))
}

// part is a part of a run's page alone, for the script that changes it.
func (p *Page) part(name string, of func(*loaded, *cells, url.Values) (any, error)) {
	p.mux.HandleFunc("GET /run/{run}/"+name, p.handle(func(r *http.Request) (string, content, error) {
		l, err := p.cache.get(r.PathValue("run"))
		if err != nil {
			return "", content{}, err
		}
		c, err := l.cells()
		if err != nil {
			return "", content{}, err
		}
		body, err := of(l, c, r.URL.Query())
		return name, content{Body: body}, err
	}))
}

// compared leads the comparison of a single run to its page.
func (p *Page) compared(w http.ResponseWriter, r *http.Request) {
	if ids := r.URL.Query()["run"]; len(ids) == 1 {
		http.Redirect(w, r, runLink(ids[0], ""), http.StatusSeeOther)
		return
	}
	p.handle(p.compare)(w, r)
}

// asset is a file of assets, with all others of its kind behind it: each view has its own.
func (p *Page) asset(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		names, err := fs.Glob(assets, "assets/*"+path.Ext(name))
		var all bytes.Buffer
		first := "assets/" + name
		for _, n := range append([]string{first}, slices.DeleteFunc(names, func(n string) bool { return n == first })...) {
			raw, failed := assets.ReadFile(n)
			err = errors.Join(err, failed)
			all.Write(raw)
		}
		if path.Ext(name) == ".css" {
			all.WriteString(report.Style())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.Write(all.Bytes()) //nolint:errcheck // the client is gone
	}
}

// content is what a page shows.
type content struct {
	Title string
	Crumb []link // the way here
	Live  string // where the state of an unfinished run is
	Keys  []keys // what the bar at the top tells of the keyboard
	// OwnHead says that the template has a heading of its own.
	OwnHead bool
	Token   string // that of a page which is served, for its forms
	// Static says that the page is a file of a bundle, with the rows that its filters
	// choose from in so many further files.
	Static bool
	Rows   int
	Body   any
}

// keys are keys with what they do.
type keys struct {
	Keys []string
	Does string
}

// usualKeys work on every list.
func usualKeys() []keys {
	return []keys{{[]string{"j", "k"}, "move"}, {[]string{"Enter"}, "open"}, {[]string{"/"}, "filter"}, {[]string{"u"}, "up"}, {[]string{"n", "p"}, "next, previous"}}
}

// link is a text that leads somewhere.
type link struct{ Text, To string }

// handle renders the template that a handler names, or says what is wrong.
func (p *Page) handle(f func(*http.Request) (string, content, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, c, err := f(r)
		if err != nil {
			p.refuse(w, http.StatusNotFound, "not found", err)
			return
		}
		p.render(w, name, c)
	}
}

// refuse says why a page cannot be shown, or what a form asks for cannot be done.
func (p *Page) refuse(w http.ResponseWriter, status int, title string, why error, back ...link) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	p.render(w, "error.html", content{Title: title, Crumb: append([]link{{"runs", "/"}}, back...), Body: why.Error()})
}

func (p *Page) render(w http.ResponseWriter, name string, c content) {
	if c.Static = p.leaving != nil; !c.Static {
		c.Token = p.token
	}
	if c.Keys == nil {
		c.Keys = usualKeys()
	}
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, c); err != nil {
		http.Error(w, "render page: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(b.Bytes()) //nolint:errcheck // the client is gone
}

// functions are what templates may call.
func functions() template.FuncMap {
	all := template.FuncMap{
		"word":    files.Word,
		"line":    func(limit int, s string) string { return display.Line(s, limit) },
		"long":    long,
		"marked":  marked,
		"short":   func(s string) string { return s[:min(12, len(s))] },
		"text":    func(b []byte) string { return display.Visible(string(b)) },
		"table":   func(t display.Table) template.HTML { return template.HTML(t.HTML()) },        // it escapes every text
		"svg":     func(g display.Graph) template.HTML { return template.HTML(g.SVG()) },         // likewise
		"drawing": func(b display.Bundle) template.HTML { return template.HTML(b[display.SVG]) }, // likewise
		"list":    func(items ...string) []string { return items },
		"count":   display.Count,
		"part":    func(static bool, v any) content { return content{Static: static, Body: v} },
	}
	maps.Copy(all, report.Functions())
	return all
}

// long is a text of several lines, of at most limit characters.
func long(limit int, s string) string {
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return display.Visible(s)
}

// runLink is the address of a page of a run.
func runLink(run, page string, pairs ...string) string {
	address := "/run/" + url.PathEscape(run)
	if page != "" {
		address += "/" + page
	}
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Add(pairs[i], pairs[i+1])
		}
	}
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}

// pageLinks are the links from page to page of a long list.
func pageLinks(address string, base url.Values, at, count int) []link {
	var links []link
	for i := 1; i <= count; i++ {
		if i > 3 && i < at-2 || i > at+2 && i < count-1 {
			if len(links) > 0 && links[len(links)-1].Text != "…" {
				links = append(links, link{"…", ""})
			}
			continue
		}
		to := address + "?" + with(base, "page", fmt.Sprint(i)).Encode()
		if i == at {
			to = ""
		}
		links = append(links, link{fmt.Sprint(i), to})
	}
	return links
}
