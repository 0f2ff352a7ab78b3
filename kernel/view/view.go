// Package view is the web page over runs: what a run came to, how its methods
// compare, and, by a few clicks, the request and reply of a single call. It is
// made for one person on one machine: it listens on the loopback interface alone,
// and answers nobody without the token that was printed when it started.
//
// Pages are rendered here, with little script and nothing from anywhere else;
// every view has an address of its own. What models and plugins wrote is shown as
// text, whatever it is. A [Bundle] is the same pages as static files.
package view

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"noema/kernel/lab"
	"noema/kernel/show/report"
)

//go:embed assets
var assets embed.FS

// Page serves the page over the runs of one Lab.
type Page struct {
	lab       *lab.Lab
	leaving   *leaving // what may leave the machine, in a bundle; nil for a page that is served
	token     string
	templates *template.Template
	cache     *cache
	mux       *http.ServeMux
	labels    *labelling // nil for the page over runs
	recent    recent
	figured   *figuring
	studied   studies
	starter   *starting // nil where nothing may be started
}

// New returns a Page with a token of its own.
func New(l *lab.Lab) (*Page, error) { return runsPage(l, nil) }

func runsPage(l *lab.Lab, out *leaving) (*Page, error) {
	p, err := newPage()
	if err == nil {
		p.lab, p.leaving, p.cache, p.figured = l, out, newCache(l, out), newFiguring()
		p.routes()
	}
	return p, err
}

// newPage is a Page without an address but those of its looks.
func newPage() (*Page, error) {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return nil, fmt.Errorf("make token: %w", err)
	}
	p := &Page{token: hex.EncodeToString(raw), mux: http.NewServeMux()}
	var err error
	if p.templates, err = template.New("").Funcs(functions()).ParseFS(assets, "assets/*.html"); err == nil {
		_, err = p.templates.Parse(report.Templates)
	}
	if err != nil {
		return nil, fmt.Errorf("read page templates: %w", err)
	}
	p.mux.HandleFunc("GET /style.css", p.asset("style.css", "text/css; charset=utf-8"))
	p.mux.HandleFunc("GET /script.js", p.asset("script.js", "text/javascript; charset=utf-8"))
	return p, nil
}

// Token is what a request must know: as ?token=… once, and from then on as a
// cookie.
func (p *Page) Token() string { return p.token }

// Serve answers requests on l, which must listen on the loopback interface, until
// ctx ends.
func (p *Page) Serve(ctx context.Context, l net.Listener) error {
	if host, _, err := net.SplitHostPort(l.Addr().String()); err != nil || !net.ParseIP(host).IsLoopback() {
		return fmt.Errorf("serve page: %s is not on the loopback interface", l.Addr())
	}
	server := &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
	done := make(chan error, 1)
	if p.starter != nil {
		p.starter.ctx = ctx
		defer p.starter.alive.Wait()
	}
	go func() { done <- server.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err := errors.Join(server.Shutdown(end), <-done)
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return err
	}
}

// cookieName is that of a page at an address: a browser has one set of cookies for all ports of
// this machine, and two pages must not take each other's place.
func cookieName(host string) string {
	_, port, _ := net.SplitHostPort(host)
	return "noema_token_" + port
}

// ServeHTTP implements [http.Handler]: it lets in who knows the token, from this
// machine's own address, and no page of another site.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !local(r.Host) || !sameOrigin(r) {
		http.Error(w, "this page is only served to this machine", http.StatusForbidden)
		return
	}
	if given := r.URL.Query().Get("token"); given != "" && p.knows(given) {
		http.SetCookie(w, &http.Cookie{Name: cookieName(r.Host), Value: p.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		q := r.URL.Query()
		q.Del("token")
		http.Redirect(w, r, ownPage(r.URL, q), http.StatusSeeOther)
		return
	}
	c, err := r.Cookie(cookieName(r.Host))
	if err != nil || !p.knows(c.Value) {
		http.Error(w, "the token is missing or wrong: open the address that noema printed", http.StatusUnauthorized)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// ownPage is the address of a page of this host with another query. Browsers take
// a path that begins with two slashes or backslashes for another host.
func ownPage(u *url.URL, q url.Values) string {
	clean := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: q.Encode()}
	return "/" + strings.TrimLeft(clean.String(), `/\.`)
}

// maxForm bounds what a browser sends with a form, in bytes.
const maxForm = 16 << 10

// writes answers the form of a page, which holds the token: other pages can make a browser
// send its cookies, but do not know it. What f returns is where to go then, or, if it is not
// done, where it was asked for.
func (p *Page) writes(f func(*http.Request) (to string, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if !p.knows(r.PostFormValue("token")) {
			http.Error(w, "the form is not of this page: open the address that noema printed", http.StatusForbidden)
			return
		}
		to, err := f(r)
		if err != nil {
			p.refuse(w, http.StatusBadRequest, "not done", err, link{"back", cmp.Or(to, "/")})
			return
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
}

func (p *Page) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) == 1
}

// local reports whether a Host header names this machine; another name may be a
// rebound one.
func local(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if name == "localhost" {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}

// sameOrigin refuses requests that pages of other sites make. A browser says where one
// comes from; to forms of a page that tells no referrer it gives the origin "null".
func sameOrigin(r *http.Request) bool {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "":
	case "same-origin", "none":
		return true
	default:
		return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && r.Header.Get("Origin") == ""
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host == r.Host
}
