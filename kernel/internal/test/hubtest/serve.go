package hubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// serve answers for the hub itself.
func (h *Hub) serve(w http.ResponseWriter, r *http.Request) {
	if h.note(w, r, "") {
		return
	}
	if token := r.Header.Get("Authorization"); token != "" && token != "Bearer "+Token {
		refuse(w, http.StatusUnauthorized, "", "Invalid credentials in Authorization header")
		return
	}
	at := strings.TrimPrefix(r.URL.EscapedPath(), "/")
	if rest, ok := strings.CutPrefix(at, "api/resolve-cache/"); ok {
		h.small(w, r, rest)
		return
	}
	rest, api := strings.CutPrefix(at, "api/")
	kind, named := "models", rest
	for _, k := range []string{"models", "datasets"} {
		if after, ok := strings.CutPrefix(rest, k+"/"); ok {
			kind, named = k, after
		}
	}
	parts := strings.SplitN(named, "/", 5) // ORG NAME VERB REVISION PATH
	if len(parts) < 4 {
		http.NotFound(w, r)
		return
	}
	repo := h.find(w, r, kind, parts[0]+"/"+parts[1])
	if repo == nil {
		return
	}
	if revision, err := url.PathUnescape(parts[3]); err != nil || revision != "main" && revision != repo.Commit {
		refuse(w, http.StatusNotFound, "RevisionNotFound", "Invalid rev id: "+parts[3])
		return
	}
	w.Header().Set("X-Repo-Commit", repo.Commit)
	switch verb := parts[2]; {
	case api && verb == "revision":
		reply(w, repo.info())
	case api && verb == "tree":
		h.tree(w, r, repo)
	case !api && verb == "resolve" && len(parts) == 5:
		h.resolve(w, r, repo, parts[4])
	default:
		http.NotFound(w, r)
	}
}

// find gives the repository that a request may see.
func (h *Hub) find(w http.ResponseWriter, r *http.Request, kind, id string) *Repo {
	h.mu.Lock()
	repo := h.repos[kind+"/"+id]
	h.mu.Unlock()
	known := r.Header.Get("Authorization") != ""
	switch {
	case repo != nil && (!repo.Private || known):
		return repo
	case known:
		refuse(w, http.StatusNotFound, "RepoNotFound", "Repository not found")
	default: // the hub does not tell strangers what is private
		refuse(w, http.StatusUnauthorized, "RepoNotFound", "Invalid username or password.")
	}
	return nil
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	if code != "" {
		w.Header().Set("X-Error-Code", code)
	}
	w.Header().Set("X-Error-Message", message)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q}`, message)
}

func reply(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(value) // the caller sees what is missing
}

func (repo *Repo) info() any {
	type sibling struct {
		Name string `json:"rfilename"`
	}
	siblings := []sibling{}
	for _, e := range repo.entries {
		siblings = append(siblings, sibling{e.path})
	}
	var gated any = false
	if repo.Gated {
		gated = "manual"
	}
	return map[string]any{
		"_id": "0", "id": repo.id, "sha": repo.Commit, "private": repo.Private, "gated": gated, "disabled": false,
		"siblings": siblings, "cardData": map[string]any{"license": repo.License}, "tags": []string{"license:" + repo.License},
	}
}

// tree answers with one page of the files; the cursor is the number of the
// first of the next.
func (h *Hub) tree(w http.ResponseWriter, r *http.Request, repo *Repo) {
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor")) // none is 0
	page := []map[string]any{}
	for i := from; i < min(len(repo.entries), from+h.PageSize); i++ {
		e := repo.entries[i]
		row := map[string]any{"type": "file", "oid": e.oid, "size": e.size, "path": e.path}
		if e.sha256 != "" {
			row["lfs"] = map[string]any{"oid": e.sha256, "size": e.size, "pointerSize": 134}
		}
		page = append(page, row)
	}
	if next := from + h.PageSize; next < len(repo.entries) {
		w.Header().Set("Link", fmt.Sprintf(`<%s%s?recursive=true&cursor=%d>; rel="next"`, h.URL, r.URL.Path, next))
	}
	reply(w, page)
}

// resolve answers for a file: its metadata, and where its content is.
func (h *Hub) resolve(w http.ResponseWriter, r *http.Request, repo *Repo, escaped string) {
	name, err := url.PathUnescape(escaped)
	e, ok := repo.entry(name)
	switch {
	case err != nil || !ok:
		refuse(w, http.StatusNotFound, "EntryNotFound", "Entry not found")
	case repo.Gated && r.Header.Get("Authorization") == "":
		refuse(w, http.StatusUnauthorized, "GatedRepo", "Access to this repository is restricted. Log in.")
	case repo.Gated && !repo.Granted:
		refuse(w, http.StatusForbidden, "GatedRepo", "Access to this repository is restricted. You are not in the authorized list.")
	case e.sha256 != "":
		w.Header().Set("X-Linked-Size", strconv.FormatInt(e.size, 10))
		w.Header().Set("X-Linked-Etag", strconv.Quote(e.sha256))
		http.Redirect(w, r, fmt.Sprintf("%s/%s/%s/%s?Signature=secret", h.cdn, repo.kind, repo.id, escaped), http.StatusFound)
	default:
		w.Header().Set("ETag", strconv.Quote(e.oid))
		w.Header().Set("X-Linked-Etag", strconv.Quote(e.oid))
		w.Header().Set("X-Linked-Size", strconv.FormatInt(e.size, 10))
		http.Redirect(w, r, fmt.Sprintf("/api/resolve-cache/%s/%s/%s", repo.kind, repo.id, escaped), http.StatusTemporaryRedirect)
	}
}

func (repo *Repo) entry(name string) (entry, bool) {
	for _, e := range repo.entries {
		if e.path == name {
			return e, true
		}
	}
	return entry{}, false
}

// small gives the content of a file that is kept in Git.
func (h *Hub) small(w http.ResponseWriter, r *http.Request, at string) {
	h.mu.Lock()
	repo, e, ok := h.content(at)
	h.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("X-Repo-Commit", repo.Commit)
	w.Header().Set("ETag", strconv.Quote(e.oid))
	h.give(w, r, repo, e)
}

// serveCDN answers for the second host, which refuses tokens as S3 does.
func (h *Hub) serveCDN(w http.ResponseWriter, r *http.Request) {
	if h.note(w, r, " cdn") {
		return
	}
	h.mu.Lock()
	repo, e, ok := h.content(strings.TrimPrefix(r.URL.EscapedPath(), "/"))
	h.mu.Unlock()
	switch {
	case !ok || r.URL.Query().Get("Signature") == "":
		http.NotFound(w, r)
		return
	case r.Header.Get("Authorization") != "":
		h.t.Errorf("the second host got the token: %s", r.URL)
		http.Error(w, "only one auth mechanism allowed", http.StatusBadRequest)
		return
	}
	w.Header().Set("ETag", `"of-the-second-host"`)
	if repo.NoRange {
		r.Header.Del("Range")
	}
	if repo.Cut > 0 {
		w = &cut{ResponseWriter: w, left: repo.Cut}
	}
	h.give(w, r, repo, e)
}

// content finds KIND/ORG/NAME/PATH. The caller holds the lock.
func (h *Hub) content(at string) (*Repo, entry, bool) {
	parts := strings.SplitN(at, "/", 4)
	if len(parts) < 4 || h.repos[strings.Join(parts[:3], "/")] == nil {
		return nil, entry{}, false
	}
	repo := h.repos[strings.Join(parts[:3], "/")]
	name, err := url.PathUnescape(parts[3])
	e, ok := repo.entry(name)
	return repo, e, ok && err == nil
}

func (h *Hub) give(w http.ResponseWriter, r *http.Request, repo *Repo, e entry) {
	f, err := repo.Files.Open(e.path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	seeker, ok := f.(io.ReadSeeker)
	if !ok {
		http.Error(w, "a file that cannot seek", http.StatusInternalServerError)
		return
	}
	if repo.Wrong && e.sha256 != "" {
		w = &wrong{ResponseWriter: w}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, seeker)
}

// cut ends the connection after some bytes of the body.
type cut struct {
	http.ResponseWriter
	left int64
}

// Write implements [io.Writer].
func (c *cut) Write(p []byte) (int, error) {
	if c.left < int64(len(p)) {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		if f, ok := c.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		panic(http.ErrAbortHandler)
	}
	n, err := c.ResponseWriter.Write(p)
	c.left -= int64(n)
	return n, err
}

// wrong changes the content.
type wrong struct{ http.ResponseWriter }

// Write implements [io.Writer].
func (w *wrong) Write(p []byte) (int, error) {
	changed := make([]byte, len(p))
	for i := range p {
		changed[i] = p[i] ^ 1
	}
	return w.ResponseWriter.Write(changed)
}
