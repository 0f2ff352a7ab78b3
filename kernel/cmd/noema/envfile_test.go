package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestWhatAFileCannotSet: a file that lies above the working folder, or that another could have
// written, sends no key anywhere; and of the user's own .env, keys and addresses count and
// nothing else does.
func TestWhatAFileCannotSet(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Answer: yes})
	defer server.Close()
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stolen.Add(1)
		http.Error(w, "thanks", http.StatusTeapot)
	}))
	defer thief.Close()
	evil := fmt.Sprintf("OPENAI_BASE_URL=%[1]s/v1\nHTTP_PROXY=%[1]s\nHTTPS_PROXY=%[1]s\nhttp_proxy=%[1]s\nALL_PROXY=%[1]s\nSSL_CERT_FILE=/etc/passwd\nNOEMA_MODEL=sim\nLD_PRELOAD=/x.so\n", thief.URL)
	for name, place := range map[string]struct {
		file string // of evil, below the folder of the test; the working folder is a/b/c, and the home a/b
		mode os.FileMode
		dir  os.FileMode
		git  string // a folder that is a repository
		own  bool   // it is read, as far as it may be
		told string
	}{
		"above the home":                 {file: "a/.env"},
		"above the repository":           {file: "a/b/.env", git: "a/b/c"},
		"in a folder that all can write": {file: "a/b/.env", dir: 0o777, told: "others can write its folder"},
		"in a folder as /tmp is":         {file: "a/b/.env", dir: 0o777 | os.ModeSticky, told: "others can write its folder"},
		"a file that all can write":      {file: "a/b/c/.env", mode: 0o666, told: "others can write it"},
		"of another user":                {file: "a/b/c/.env", told: "another user owns it"},
		"in the working folder":          {file: "a/b/c/.env", own: true, told: "OPENAI_BASE_URL is " + thief.URL},
		"in the home":                    {file: "a/b/.env", own: true, told: "OPENAI_BASE_URL is " + thief.URL},
		"settings above the home":        {file: "a/noema.yaml"},
		"settings in what all can write": {file: "a/b/noema.yaml", dir: 0o777, told: "noema.yaml is not read: others can write its folder"},
		"settings in the working folder": {file: "a/b/c/noema.yaml", own: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCLI(t, "OPENAI_API_KEY=the-users-own-key")
			home := filepath.Join(c.dir, "a", "b")
			c.write("a/b/c/quiz.jsonl", quiz(1))
			settings := strings.HasSuffix(place.file, ".yaml")
			if settings {
				c.write(place.file, "limit: 99nonsense\n")
			} else {
				c.write(place.file, evil)
			}
			path := filepath.Join(c.dir, place.file)
			var err error
			if place.mode != 0 {
				err = os.Chmod(path, place.mode)
			}
			if place.dir != 0 {
				err = errors.Join(err, os.Chmod(filepath.Dir(path), place.dir))
			}
			if place.git != "" {
				err = errors.Join(err, os.Mkdir(filepath.Join(c.dir, place.git, ".git"), 0o700))
			}
			if strings.Contains(place.told, "another user") {
				if os.Geteuid() != 0 {
					t.Skip("only root can give a file away")
				}
				err = errors.Join(err, os.Chown(path, 65534, 65534))
			}
			if err != nil {
				t.Fatal(err)
			}
			if !place.own || settings {
				c.env = append(c.env, "OPENAI_BASE_URL="+server.URL())
			}
			if !place.own && !settings { // the address alone must not come from the file
				c.env = append(c.env[:1:1], "OLLAMA_HOST="+server.URL())
			}
			model := "openai/tiny"
			if !place.own && !settings {
				model = "ollama/tiny"
			}
			before := stolen.Load()
			cmd := c.command("compare", "--task", "quiz.jsonl", "--model", model, "--methods", "direct", "--retries", "0")
			cmd.Dir = filepath.Join(home, "c")
			for i, pair := range cmd.Env {
				if strings.HasPrefix(pair, "HOME=") {
					cmd.Env[i] = "HOME=" + home
				}
			}
			r := c.start(cmd)()
			want(t, r.stderr, place.told)
			if asked := stolen.Load() - before; (asked > 0) != (place.own && !settings) {
				t.Errorf("%d requests went to the address of the file:\n%s", asked, r.stderr)
			}
			if settings && (r.code == exitUsage) != place.own {
				t.Errorf("exit code %d: %s", r.code, r.stderr)
			}
			if place.own && !settings {
				want(t, r.stderr, "does not set ALL_PROXY, HTTPS_PROXY, HTTP_PROXY, LD_PRELOAD, NOEMA_MODEL, SSL_CERT_FILE, http_proxy:")
				if strings.Index(r.stderr, "OPENAI_BASE_URL is ") > strings.Index(r.stderr, "run ") {
					t.Errorf("the address is told after the run began: %s", r.stderr)
				}
			}
		})
	}
}
