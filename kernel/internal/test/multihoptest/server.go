// Package multihoptest serves the wiki of the generated task multihop over HTTP.
package multihoptest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"noema/kernel/task/multihop"
	"noema/kernel/task/wiki"
)

// Handler serves the wiki of a generated task as a MediaWiki server does: its
// search, its articles as HTML, and its redirects.
func Handler(o multihop.Options) (http.Handler, error) {
	w, err := multihop.WikiOf(o)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /w/api.php", func(rw http.ResponseWriter, r *http.Request) { search(rw, r, w.Corpus) })
	mux.HandleFunc("GET /wiki/{title}", func(rw http.ResponseWriter, r *http.Request) { serve(rw, r, w) })
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
func serve(rw http.ResponseWriter, r *http.Request, w multihop.Wiki) {
	title := strings.ReplaceAll(r.PathValue("title"), "_", " ")
	if to, ok := w.Redirects[title]; ok {
		http.Redirect(rw, r, "/wiki/"+url.PathEscape(strings.ReplaceAll(to, " ", "_")), http.StatusMovedPermanently)
		return
	}
	page, ok := w.Pages[title]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(rw, page)
}
