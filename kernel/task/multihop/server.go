package multihop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"noema/kernel/task/wiki"
	"noema/methods"
)

// Handler serves the wiki of a generated task as a MediaWiki server does: its
// search, its articles as HTML, and its redirects. It serves tests, and who wants
// to see how a method does over HTTP.
func Handler(o Options) (http.Handler, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("serve multihop: %w", err)
	}
	w := newWorld(o.Seed, o.Words)
	corpus, _, err := w.corpus()
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /w/api.php", func(rw http.ResponseWriter, r *http.Request) { search(rw, r, corpus) })
	mux.HandleFunc("GET /wiki/{title}", func(rw http.ResponseWriter, r *http.Request) { w.serve(rw, r) })
	return mux, nil
}

func search(rw http.ResponseWriter, r *http.Request, c *wiki.Corpus) {
	q := r.URL.Query()
	if q.Get("action") != "query" || q.Get("list") != "search" {
		http.Error(rw, `{"error":{"info":"only action=query with list=search is served"}}`, http.StatusOK)
		return
	}
	n, err := strconv.Atoi(q.Get("srlimit"))
	if err != nil || n < 1 || n > 50 {
		n = 10
	}
	hits, err := c.Search(r.Context(), q.Get("srsearch"), n)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	type found struct {
		Title   string `json:"title"`
		Snippet string `json:"snippet"`
	}
	list := []found{}
	for _, h := range hits {
		list = append(list, found{h.Title, h.Snippet})
	}
	rw.Header().Set("Content-Type", "application/json")
	json.NewEncoder(rw).Encode(map[string]any{"query": map[string]any{"search": list}}) //nolint:errcheck // whoever asked is gone
}

// serve answers with an article, a disambiguation page or a redirect.
func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	title := strings.ReplaceAll(r.PathValue("title"), "_", " ")
	if to, ok := w.redirects[title]; ok {
		http.Redirect(rw, r, "/wiki/"+url.PathEscape(strings.ReplaceAll(to, " ", "_")), http.StatusMovedPermanently)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	if t, ok := w.byTitle[title]; ok {
		fmt.Fprint(rw, w.page(t))
		return
	}
	if titles, ok := w.ambiguous[title]; ok {
		fmt.Fprint(rw, listPage(title, titles))
		return
	}
	http.NotFound(rw, r)
}
