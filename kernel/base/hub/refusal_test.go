package hub_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"noema/kernel/base/hub"
	"noema/kernel/internal/test/hubtest"
)

// TestRefusals shows each way in which a hub refuses, and what it is called.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name  string
		repo  func(*hubtest.Repo)
		ask   string
		token string
		is    error
		want  string
	}{
		{name: "gated, no token", repo: func(r *hubtest.Repo) { r.Gated = true }, is: hub.ErrGated, want: "accept its terms at http://127.0.0.1"},
		{name: "gated, not granted", repo: func(r *hubtest.Repo) { r.Gated = true }, token: hubtest.Token, is: hub.ErrGated, want: "the account of your token has no access"},
		{name: "gated, granted", repo: func(r *hubtest.Repo) { r.Gated, r.Granted = true, true }, token: hubtest.Token},
		{name: "wrong token", token: "hf_other", want: "the hub does not accept your token"},
		{name: "no such repository", ask: "org/other", is: hub.ErrNotFound, want: `list "org/other": not found: check the name; if the repository is private, set HF_TOKEN`},
		{name: "no such repository for a token", ask: "org/other", token: hubtest.Token, is: hub.ErrNotFound, want: "whether the account of your token may read it"},
		{name: "private, no token", repo: func(r *hubtest.Repo) { r.Private = true }, is: hub.ErrNotFound, want: "set HF_TOKEN"},
		{name: "private, token", repo: func(r *hubtest.Repo) { r.Private = true }, token: hubtest.Token},
		{name: "no such revision", ask: "org/tiny@v9", is: hub.ErrNotFound, want: `revision "v9": not found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := hubtest.New(t)
			repo := model()
			if c.repo != nil {
				c.repo(&repo)
			}
			h.Add("models", "org/tiny", repo)
			client, _ := client(t, h)
			client.Token = c.token
			if c.ask == "" {
				c.ask = "org/tiny"
			}
			_, _, err := pull(t, client, c.ask)
			switch {
			case c.want == "" && err == nil:
			case c.want == "" || err == nil || !strings.Contains(err.Error(), c.want):
				t.Errorf("error %v, want %q", err, c.want)
			case c.is != nil && !errors.Is(err, c.is):
				t.Errorf("error %v is not %q", err, c.is)
			}
			if left, _ := filepath.Glob(filepath.Join(client.Cache, "models--*")); err != nil && len(left) > 0 {
				t.Errorf("of what was refused there is %q", left)
			}
			if err != nil && c.token != "" && strings.Contains(err.Error(), c.token) {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

func TestRateLimited(t *testing.T) {
	h := hubtest.New(t)
	h.Add("models", "org/tiny", model())
	c, waits := client(t, h)
	h.Limit(2, "7")
	if _, _, err := pull(t, c, "org/tiny"); err != nil {
		t.Fatal(err)
	}
	if len(*waits) != 2 || (*waits)[0] != 7*time.Second {
		t.Errorf("waited %v, want 7 s twice", *waits)
	}
	h.Limit(1, "300")
	if _, _, err := pull(t, c, "org/tiny"); !errors.Is(err, hub.ErrRateLimited) || !strings.Contains(err.Error(), "try again in 5m0s, or set HF_TOKEN") {
		t.Errorf("a wait of five minutes: %v", err)
	}
	h.Limit(100, "")
	if _, _, err := pull(t, c, "org/tiny"); !errors.Is(err, hub.ErrRateLimited) {
		t.Errorf("limited for ever: %v", err)
	}
}

func TestDown(t *testing.T) {
	h := hubtest.New(t)
	h.Add("models", "org/tiny", model())
	c, _ := client(t, h)
	h.Fail(3)
	if _, _, err := pull(t, c, "org/tiny"); err != nil {
		t.Errorf("after three faults: %v", err)
	}
	h.Fail(100)
	if _, _, err := pull(t, c, "org/tiny"); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("a hub that is down: %v", err)
	}
	c.Endpoint = "http://127.0.0.1:1"
	if _, _, err := pull(t, c, "org/tiny"); err == nil || !strings.Contains(err.Error(), "reach 127.0.0.1:1") {
		t.Errorf("no hub: %v", err)
	}
	c.Offline = true
	if _, _, err := pull(t, c, "org/tiny"); err == nil || !strings.Contains(err.Error(), "HF_HUB_OFFLINE is set") {
		t.Errorf("offline: %v", err)
	}
}

// TestStall has a server that says nothing more.
func TestStall(t *testing.T) {
	release := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{"))
		_ = http.NewResponseController(w).Flush()
		<-release
	}))
	defer s.Close()
	defer close(release)
	c := &hub.Client{Endpoint: s.URL, Cache: t.TempDir(), Stall: 20 * time.Millisecond, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }}
	if _, _, err := pull(t, c, "org/tiny"); err == nil || !strings.Contains(err.Error(), "no data from the server for 20ms") {
		t.Errorf("a silent server: %v", err)
	}
}

// TestHostileHub has answers that no honest hub gives.
func TestHostileHub(t *testing.T) {
	const info = `{"sha":"0123456789012345678901234567890123456789"}`
	for _, c := range []struct{ name, info, tree, link, want string }{
		{name: "a page of another kind", info: "<html>", want: "is not what a Hugging Face hub gives"},
		{name: "no commit", info: `{"sha":"../../x"}`, want: "names no commit"},
		{name: "a path out of the folder", info: info, tree: `[{"type":"file","path":"../x","oid":"0123456789012345678901234567890123456789","size":1}]`, want: "names a file that cannot be"},
		{name: "an absolute path", info: info, tree: `[{"type":"file","path":"/x","oid":"0123456789012345678901234567890123456789","size":1}]`, want: "names a file that cannot be"},
		{name: "a digest that is a path", info: info, tree: `[{"type":"file","path":"x","oid":"../../../x","size":1}]`, want: "names a file that cannot be"},
		{name: "a negative size", info: info, tree: `[{"type":"file","path":"x","oid":"0123456789012345678901234567890123456789","size":-1}]`, want: "names a file that cannot be"},
		{name: "larger than any disk", info: info, tree: `[{"type":"file","path":"x","oid":"0123456789012345678901234567890123456789","size":4000000000000}]`, want: "MiB are to be fetched"},
		{name: "pages elsewhere", info: info, tree: `[{"type":"file","path":"x","oid":"0123456789012345678901234567890123456789","size":1}]`, link: `<http://169.254.169.254/>; rel="next"`, want: "goes on at another address"},
		{name: "more than listed", info: info, tree: `[{"type":"file","path":"x","oid":"0123456789012345678901234567890123456789","size":1}]`, want: "gives more than the 1 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.Contains(r.URL.Path, "/revision/"):
					_, _ = w.Write([]byte(c.info))
				case strings.Contains(r.URL.Path, "/tree/"):
					w.Header().Set("Link", c.link)
					_, _ = w.Write([]byte(c.tree))
				default:
					_, _ = w.Write([]byte("much"))
				}
			}))
			defer s.Close()
			c2 := &hub.Client{Endpoint: s.URL, Cache: t.TempDir()}
			_, _, err := pull(t, c2, "org/tiny")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if entries, _ := os.ReadDir(c2.Cache + "/models--org--tiny/snapshots"); len(entries) > 0 {
				t.Errorf("a snapshot is left: %v", entries)
			}
		})
	}
}
