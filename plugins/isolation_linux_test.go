package plugins

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/methods"
)

// isolated opens a misbehaving plugin, and skips the test on a system that
// isolates less than all.
func isolated(t *testing.T, src Source) *Plugin {
	t.Helper()
	p, err := openHost(t).Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if inForce, full := p.Isolation(); !full {
		t.Skip("this system isolates less: ", inForce)
	}
	return p
}

// outside is a file of the host, and a server.
func outside(t *testing.T) (file string, server *httptest.Server) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "task.jsonl")
	if err := os.WriteFile(file, []byte(`{"target":"42"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return file, server
}

// TestCheatsFail: a plugin that reads the answers, and one that asks the model
// server itself, fail with a message that names what was denied and the cure.
// What the user granted works.
func TestCheatsFail(t *testing.T) {
	t.Parallel()
	file, server := outside(t)
	for _, c := range []struct {
		mode, query string
		grant       Source
		denied      []string
	}{
		{"steal", file, Source{Read: []string{filepath.Dir(file)}}, []string{"open " + file + ": permission denied"}},
		{"phone", server.URL, Source{Network: true}, []string{server.Listener.Addr().String(), "permission denied"}},
	} {
		src := misbehaving(t, c.mode)
		src.Read, src.Network = c.grant.Read, c.grant.Network // asked for, not granted
		p := isolated(t, src)
		_, err := p.Solve(t.Context(), methods.Problem{Query: c.query}, newKernel())
		for _, want := range append(c.denied, "noema plugin allow "+c.mode) {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v\nwant in it: %s", c.mode, err, want)
			}
		}
		src.Granted = true
		if _, err := isolated(t, src).Solve(t.Context(), methods.Problem{Query: c.query}, newKernel()); err != nil {
			t.Errorf("%s with a grant: %v", c.mode, err)
		}
	}
}

// TestNoWayOut tries every way to a file or a socket that is not the plugin's.
func TestNoWayOut(t *testing.T) {
	t.Parallel()
	file, server := outside(t)
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	query, err := json.Marshal(map[string]string{
		"File": file, "Dir": filepath.Dir(file), "Server": server.Listener.Addr().String(), "Socket": socket,
	})
	if err != nil {
		t.Fatal(err)
	}
	a, err := isolated(t, misbehaving(t, "pry")).Solve(t.Context(), methods.Problem{Query: string(query)}, newKernel())
	if err != nil {
		t.Fatal(err)
	}
	text, _ := a.Text()
	var told map[string]string
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}
	if len(told) < 25 {
		t.Errorf("%d ways were tried", len(told))
	}
	for way, why := range told {
		if why == "" {
			t.Errorf("it could %s", way)
		}
	}
	if raw, err := os.ReadFile(file); err != nil || !strings.Contains(string(raw), "42") {
		t.Errorf("the file is now %q, %v", raw, err)
	}
}

// TestHostIsNotRestricted: the thread that starts plugins keeps its restrictions
// to itself.
func TestHostIsNotRestricted(t *testing.T) {
	t.Parallel()
	file, server := outside(t)
	p := isolated(t, misbehaving(t, "well"))
	for range 100 {
		done := make(chan error)
		go func() {
			_, err := os.ReadFile(file)
			done <- err
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	reply, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	if _, err := p.Solve(context.Background(), methods.Problem{Query: "q"}, newKernel()); err != nil {
		t.Error(err)
	}
}

// BenchmarkStart is the time from a program to a plugin that has said what it is.
func BenchmarkStart(b *testing.B) {
	h, err := NewHost(HostOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := h.Close(); err != nil {
			b.Error(err)
		}
	})
	src := misbehaving(b, "well")
	for b.Loop() {
		p, err := h.start(b.Context(), src, h.number())
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.stop()
		b.StartTimer()
	}
}
