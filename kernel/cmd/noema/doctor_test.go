package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"noema/kernel/session/builtin"
)

// doctorKey is a key that must not be printed, whatever a server answers.
const doctorKey = "sk-very-secret-0123456789abcdef"

// TestDoctorContact: each state that a server can be in is told apart, with the cure, for every
// provider, and no line has the key.
func TestDoctorContact(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	refused := httptest.NewServer(nil)
	refused.Close()
	for name, c := range map[string]struct {
		code  int
		serve http.HandlerFunc
		mark  string
		said  string
		also  string // in the line, too
	}{
		"good": {0, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"data":[]}`) }, "ok  ", "reached, and it answers", ""},
		"key": {exitError, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, doctorKey)
		}, "FAIL", "reached, and the key is refused: provider unauthorized (HTTP 401)", "check KEY"},
		"path": {0, http.NotFound, "note", "reached, and it has no ", "check URL"},
		"page": {exitError, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>log in</html>") }, "FAIL", "reached, and it does not answer as it should: ", "an HTML page"},
		"moved": {exitError, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://example.com/"+doctorKey, http.StatusFound)
		}, "FAIL", "the server redirects", ""},
		"busy": {0, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "note", "reached, and it is busy", ""},
		"gone": {exitError, nil, "FAIL", "unreachable: ", "HTTPS_PROXY and URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := refused.URL
			if c.serve != nil {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if !strings.Contains(fmt.Sprint(r.Header), doctorKey) || r.Method != http.MethodGet {
						t.Errorf("%s %s without the key: %v", r.Method, r.URL, r.Header)
					}
					c.serve(w, r)
				}))
				t.Cleanup(s.Close)
				url = s.URL
			}
			var env []string
			for _, p := range builtin.Providers() {
				if p.Server != nil {
					env = append(env, p.Server.URLVariable+"="+url, p.Server.KeyVariable[0]+"="+doctorKey)
				}
			}
			r := newCLI(t, env...).run(c.code, "doctor", "--contact")
			for _, p := range builtin.Providers() {
				if p.Server == nil {
					continue
				}
				line := after(t, r.stdout, p.Form+": ")
				line, _, _ = strings.Cut(line, "\n")
				also := strings.NewReplacer("KEY", p.Server.KeyVariable[0], "URL", p.Server.URLVariable).Replace(c.also)
				if before, _, _ := strings.Cut(r.stdout, p.Form+": "); !strings.HasSuffix(before, c.mark+"  model    ") || !strings.Contains(line, c.said) || !strings.Contains(line, also) {
					t.Errorf("%s: %s, want %s … %q … %q", p.Form, line, c.mark, c.said, also)
				}
			}
			if strings.Contains(r.stdout+r.stderr, doctorKey) {
				t.Errorf("the key is printed:\n%s%s", r.stdout, r.stderr)
			}
		})
	}
}

// TestDoctorContactsNoServerUnasked: without the flag nothing is asked, and with it no server
// that nobody has a key for, but one on this machine, which may be missing.
func TestDoctorContactsNoServerUnasked(t *testing.T) {
	t.Parallel()
	asked := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(s.Close)
	c := newCLI(t, "OPENAI_BASE_URL="+s.URL, "OPENAI_API_KEY="+doctorKey)
	want(t, c.run(0, "doctor").stdout, "(not contacted)")
	if asked {
		t.Error("a server was asked without --contact")
	}
	want(t, newCLI(t).run(0, "doctor", "--contact").stdout, "note  model    openai/NAME: OPENAI_API_KEY is not set", "ollama/NAME: no key, server http://localhost:11434: ")
}
