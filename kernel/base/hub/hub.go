// Package hub fetches files of the Hugging Face hub into the cache that the
// hub's Python tools share: what one of them has fetched, the other finds.
//
// # Cache
//
// A repository is a folder models--ORG--NAME or datasets--ORG--NAME with the
// files' contents in blobs/, named by their digests, the trees of commits in
// snapshots/COMMIT/, whose files are links to blobs, and the commits of
// branches and tags in refs/. Who writes a blob holds the lock file
// .locks/FOLDER/DIGEST.lock, as Python does. A blob gets its name, and a file
// its link, only after the content's digest was found right, so a fetch that
// is cut off leaves nothing but blobs/DIGEST.incomplete, where the next one
// goes on.
//
// # Requests
//
// [Client.List] resolves a revision to a commit and lists its files with their
// digests; [Client.Fetch] gets those that the cache lacks. [Client.Find] looks
// only into the cache. The token is sent to the hub alone, never to the host
// that a redirect names.
package hub

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Kind is a kind of repository.
type Kind string

// Kinds of repositories, as the hub's addresses and the cache's folders say.
const (
	Model   Kind = "models"
	Dataset Kind = "datasets"
)

// Ref names a repository, or a file in it, at a revision.
type Ref struct {
	Kind     Kind
	ID       string // ORG/NAME; a few old repositories have a NAME only
	Revision string // a branch, a tag or a commit; empty means main
	File     string // empty means the repository
}

// repository and revision are the names that are safe in paths and addresses.
var (
	repository = regexp.MustCompile(`^[A-Za-z0-9_][\w.-]*(/[A-Za-z0-9_][\w.-]*)?$`)
	revision   = regexp.MustCompile(`^[\w][\w.+-]*(/[\w][\w.+-]*)*$`)
	commit     = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// Parse reads ORG/NAME[@REVISION][:FILE].
func Parse(kind Kind, text string) (Ref, error) {
	rest, file, named := strings.Cut(text, ":")
	id, rev, pinned := strings.Cut(rest, "@")
	r := Ref{Kind: kind, ID: id, Revision: rev, File: file}
	switch {
	case !repository.MatchString(id) || strings.Contains(id, "..") || strings.Contains(id, "--"):
		return r, fmt.Errorf("%q is not the name of a repository: write ORG/NAME", id)
	case pinned && (!revision.MatchString(rev) || strings.Contains(rev, "..")):
		return r, fmt.Errorf("%q is not a revision: write a branch, a tag or a commit of 40 hex digits after the @", rev)
	case named && !safe(file):
		return r, fmt.Errorf("%q is not the path of a file in a repository", file)
	}
	return r, nil
}

// safe reports whether a path from elsewhere stays inside its folder.
func safe(path string) bool {
	return path != "" && path != "." && filepath.IsLocal(path) && filepath.Clean(path) == path && !strings.ContainsAny(path, "\\\x00")
}

// String is the reference as [Parse] reads it.
func (r Ref) String() string {
	s := r.ID
	if r.Revision != "" {
		s += "@" + r.Revision
	}
	if r.File != "" {
		s += ":" + r.File
	}
	return s
}

func (r Ref) revision() string { return cmp.Or(r.Revision, "main") }

// Client fetches from one hub into one cache. It is safe for concurrent use,
// also by several processes.
type Client struct {
	Endpoint string // address of the hub, without a final slash
	Cache    string // folder of the repositories
	Token    string // empty means none
	Offline  bool   // refuse every request

	// HTTP makes the requests; nil means a client of its own.
	HTTP *http.Client
	// Stall is how long a connection may give nothing; 0 means a minute.
	Stall time.Duration
	// Wait waits before a further attempt; nil means by the clock.
	Wait func(context.Context, time.Duration) error
	// Progress is told how much of a file there is; nil means nobody is.
	Progress func(file string, have, size int64)
}

// FromEnvironment is the client that the hub's Python tools would be, by
// HF_ENDPOINT, HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_TOKEN_PATH (or the file that
// "hf auth login" wrote), and HF_HUB_OFFLINE.
func FromEnvironment(getenv func(string) string) (*Client, error) {
	home := getenv("HF_HOME")
	if home == "" {
		cache := getenv("XDG_CACHE_HOME")
		if cache == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("find the cache of the Hugging Face hub: %w: set HF_HOME", err)
			}
			cache = filepath.Join(user, ".cache")
		}
		home = filepath.Join(cache, "huggingface")
	}
	token := getenv("HF_TOKEN")
	if token == "" { // a file that is missing or unreadable means no token
		raw, _ := os.ReadFile(cmp.Or(getenv("HF_TOKEN_PATH"), filepath.Join(home, "token")))
		token = string(raw)
	}
	offline := strings.ToUpper(cmp.Or(getenv("HF_HUB_OFFLINE"), "0"))
	return &Client{
		Endpoint: strings.TrimRight(cmp.Or(getenv("HF_ENDPOINT"), "https://huggingface.co"), "/"),
		Cache:    cmp.Or(getenv("HF_HUB_CACHE"), filepath.Join(home, "hub")),
		Token:    strings.TrimSpace(token),
		Offline:  offline == "1" || offline == "TRUE" || offline == "YES" || offline == "ON",
	}, nil
}
