package view

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
)

// response keeps what a handler answers.
type response struct {
	bytes.Buffer
	head   http.Header
	status int
}

// Header implements [http.ResponseWriter].
func (r *response) Header() http.Header { return r.head }

// WriteHeader implements [http.ResponseWriter].
func (r *response) WriteHeader(status int) { r.status = status }

// get is what the served page answers at an address.
func (w *bundler) get(address string) ([]byte, error) {
	r, err := http.NewRequestWithContext(w.ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	out := &response{head: http.Header{}, status: http.StatusOK}
	w.page.mux.ServeHTTP(out, r)
	if out.status != http.StatusOK {
		return nil, fmt.Errorf("page %s: %s", address, html.UnescapeString(string(between(out.Bytes(), `class="fault">`, "</p>"))))
	}
	return out.Bytes(), nil
}

// plan gives every address its file.
func (w *bundler) plan() error {
	runs, err := w.page.listed()
	if err != nil {
		return err
	}
	all := together(runs)
	err = errors.Join(w.add(entry{"/", "index.html", nil}), w.add(entry{"/style.css", "style.css", nil}), w.add(entry{"/script.js", "script.js", nil}), w.comparison(all))
	if err != nil {
		return err
	}
	if w.places[all] != "" {
		w.page.leaving.together = all
	}
	for i, id := range w.page.leaving.runs {
		if err := w.planRun(id, "run/"+safe(id, i)+"/"); err != nil {
			return err
		}
	}
	return nil
}

// planRun gives the addresses of a run files below a folder. Their names are numbers,
// since those of methods and samples may be anything.
func (w *bundler) planRun(id, folder string) error {
	l, err := w.page.cache.get(id)
	if err != nil {
		return err
	}
	all, err := l.full()
	if err != nil {
		return err
	}
	list := []entry{{runLink(id, ""), folder + "index.html", w.rows(1)}}
	samples := l.Samples()
	w.places[runLink(id, "", "page", "1")] = folder + "index.html"
	for n := 2; n <= (len(samples)+perFile-1)/perFile; n++ {
		list = append(list, entry{runLink(id, "", "page", fmt.Sprint(n)), fmt.Sprintf("%sindex-%d.html", folder, n), w.rows(n)})
	}
	for i, s := range samples {
		list = append(list, entry{runLink(id, "sample", "s", s.ID), fmt.Sprintf("%ss/%05d.html", folder, i+1), nil})
	}
	for i, t := range all.Result.Trials {
		list = append(list, entry{trialLink(id, t.ID), fmt.Sprintf("%st/%05d.html", folder, i+1), nil})
	}
	for _, e := range list {
		if err := w.add(e); err != nil {
			return err
		}
	}
	return nil
}

// comparison adds the comparison of all runs, unless they have none.
func (w *bundler) comparison(address string) error {
	if address == "" {
		return nil
	}
	if _, err := w.get(address); err != nil {
		return nil
	}
	return w.add(entry{address, "compare.html", nil})
}

func (w *bundler) add(e entry) error {
	if _, twice := w.places[e.address]; twice {
		return fmt.Errorf("two pages have the address %q once keys and folders are taken out: with --show paths folders stay", e.address)
	}
	w.places[e.address] = e.file
	w.entries = append(w.entries, e)
	return nil
}

var plainID = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,63}$`)

// safe is the name of a run's folder.
func safe(id string, number int) string {
	if plainID.MatchString(id) {
		return id
	}
	return fmt.Sprintf("run%d", number+1)
}

// linked is an attribute that leads somewhere. Texts have no such quotes: templates and
// tables escape them.
var linked = regexp.MustCompile(` (href|src|action)="([^"]*)"`)

// relinked is a page whose addresses lead to files. What is not in the bundle is linked no
// more.
func (w *bundler) relinked(page []byte, file string) []byte {
	if !strings.HasSuffix(file, ".html") {
		return page
	}
	up := strings.Repeat("../", strings.Count(file, "/"))
	return linked.ReplaceAllFunc(page, func(attribute []byte) []byte {
		m := linked.FindSubmatch(attribute)
		to := html.UnescapeString(string(m[2]))
		if strings.HasPrefix(to, "#") {
			return attribute
		}
		if to = w.place(to); to == "" {
			return nil
		}
		return fmt.Appendf(nil, ` %s="%s"`, m[1], html.EscapeString(up+to))
	})
}

// place is the file of an address, with the query that the file's own script answers.
func (w *bundler) place(address string) string {
	if place, ok := w.places[address]; ok {
		return place
	}
	path, query, _ := strings.Cut(address, "?")
	if place, ok := w.places[path]; ok && query != "" {
		return place + "?" + query
	}
	return ""
}
