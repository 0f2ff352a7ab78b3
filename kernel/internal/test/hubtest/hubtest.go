// Package hubtest is a Hugging Face hub on loopback, for tests. It speaks the
// protocol of the real one, as its Python client confirms: listings in pages,
// large files by a redirect to a second host that knows no tokens, small ones
// by a redirect to a path of the same host, ETags, ranges, X-Repo-Commit,
// X-Linked-Etag, X-Linked-Size and X-Error-Code. It can also be gated, slow
// down its callers, cut connections, and give wrong content.
package hubtest

import (
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Token is the token that the hub knows. It opens gated repositories whose
// Granted is true.
const Token = "hf_known"

// Repo is a repository with one commit, which is main.
type Repo struct {
	Files   fs.FS
	License string
	Gated   bool   // needs a token
	Granted bool   // the known token is enough, if Gated
	Private bool   // without the token, as if it were not there
	Commit  string // of main; empty makes one from the files

	// Cut is how many bytes of each of a large file's answers arrive before the
	// connection ends; 0 is all.
	Cut int64
	// Wrong makes the large files' content another than what is listed.
	Wrong bool
	// NoRange makes the server give whole files whatever range is asked for.
	NoRange bool

	kind, id string
	entries  []entry // by path
}

// entry is a file with its digests.
type entry struct {
	path        string
	size        int64
	oid, sha256 string // sha256 only of large files
}

// Hub is the server.
type Hub struct {
	URL string // for HF_ENDPOINT

	// PageSize is how many files are on a page of a listing.
	PageSize int

	cdn string
	t   testing.TB

	mu       sync.Mutex
	repos    map[string]*Repo
	limited  int    // requests that are still to be refused with 429
	after    string // their Retry-After
	down     int    // requests that are still to be refused with 503
	requests []string
}

// New starts a hub, which ends with the test.
func New(t testing.TB) *Hub {
	t.Helper()
	h := &Hub{t: t, PageSize: 3, repos: map[string]*Repo{}}
	cdn := httptest.NewServer(http.HandlerFunc(h.serveCDN))
	hub := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(cdn.Close)
	t.Cleanup(hub.Close)
	// Another name of the same machine is another host.
	h.cdn = strings.Replace(cdn.URL, "127.0.0.1", "localhost", 1)
	h.URL = hub.URL
	return h
}

// Add puts a repository on the hub, in place of one of that name, and returns
// its commit. The kind is models or datasets.
func (h *Hub) Add(kind, id string, r Repo) (commit string) {
	h.t.Helper()
	r.kind, r.id = kind, id
	sum := sha1.New()
	err := fs.WalkDir(r.Files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		one, err := measure(r.Files, name)
		r.entries = append(r.entries, one)
		fmt.Fprintln(sum, one)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	r.Commit = cmp.Or(r.Commit, hex.EncodeToString(sum.Sum(nil)))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.repos[kind+"/"+id] = &r
	return r.Commit
}

// measure reads a file for its size and digests.
func measure(files fs.FS, name string) (entry, error) {
	f, err := files.Open(name)
	if err != nil {
		return entry{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return entry{}, err
	}
	e := entry{path: name, size: info.Size()}
	git, large := sha1.New(), sha256.New()
	fmt.Fprintf(git, "blob %d\x00", e.size)
	if _, err := io.Copy(io.MultiWriter(git, large), f); err != nil {
		return entry{}, err
	}
	e.oid = hex.EncodeToString(git.Sum(nil))
	if slices.Contains([]string{".safetensors", ".gguf", ".parquet", ".bin"}, path.Ext(name)) {
		e.sha256 = hex.EncodeToString(large.Sum(nil))
	}
	return e, nil
}

// Limit refuses the next n requests with 429 and the given Retry-After.
func (h *Hub) Limit(n int, retryAfter string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limited, h.after = n, retryAfter
}

// Fail refuses the next n requests with 503.
func (h *Hub) Fail(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.down = n
}

// Requests lists what was asked since the last call, as "METHOD PATH", with
// " RANGE" where there was one and " cdn" for the second host.
func (h *Hub) Requests() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.requests
	h.requests = nil
	return out
}

// note remembers a request; it reports whether it was refused.
func (h *Hub) note(w http.ResponseWriter, r *http.Request, host string) (refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := r.Method + " " + r.URL.Path
	if asked := r.Header.Get("Range"); asked != "" {
		line += " " + asked
	}
	h.requests = append(h.requests, line+host)
	switch {
	case h.down > 0:
		h.down--
		http.Error(w, "the hub is down", http.StatusServiceUnavailable)
	case h.limited > 0:
		h.limited--
		w.Header().Set("Retry-After", h.after)
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	default:
		return false
	}
	return true
}
