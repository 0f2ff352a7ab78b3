package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
	file = filepath.Join(t.TempDir(), "file")
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

// TestNoWayOut tries every way to what is not the plugin's, on this system and as on
// older ones: each is refused, or the record says that it is not.
func TestNoWayOut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	for version := range 8 { // of Landlock; 0 is this system's
		file, server := outside(t)
		dir := filepath.Dir(file)
		socket, abstract := filepath.Join(t.TempDir(), "s"), "@"+filepath.Base(dir)
		for _, name := range []string{socket, abstract} {
			l, err := net.Listen("unix", name)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		query, err := json.Marshal(map[string]string{"File": file, "Dir": dir, "Server": server.Listener.Addr().String(), "Socket": socket})
		if err != nil {
			t.Fatal(err)
		}
		h, err := NewHost(HostOptions{landlock: version})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		p, err := h.Open(t.Context(), misbehaving(t, "pry"))
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.Solve(t.Context(), methods.Problem{Query: string(query)}, newKernel())
		if err != nil {
			t.Fatal(err)
		}
		text, _ := a.Text()
		var ways map[string]string
		if err := json.Unmarshal([]byte(text), &ways); err != nil {
			t.Fatal(err)
		}
		if len(ways) < 120 {
			t.Errorf("%d ways were tried", len(ways))
		}
		inForce, full := p.Isolation()
		open := judge(t, ways, p.isolation.Left)
		t.Logf("Landlock %d, root=%t: %d ways, open and told %q; %s", version, os.Geteuid() == 0, len(ways), open, inForce)
		if version == 0 && !full {
			t.Log("this system isolates less")
		}
		if raw, err := os.ReadFile(file); (err != nil || !strings.Contains(string(raw), "42")) && version == 0 {
			t.Errorf("the file is now %q, %v", raw, err)
		}
	}
}

// judge holds each way that is open against what is told.
func judge(t *testing.T, ways map[string]string, left []string) (open []string) {
	t.Helper()
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		if ways[way] != "" {
			if os.Getenv("NOEMA_WAYS") != "" {
				t.Logf("%s: %s", way, ways[way])
			}
			continue
		}
		open = append(open, way)
		what, _, _ := strings.Cut(way, ": ")
		if !slices.ContainsFunc(left, func(l string) bool { return l == what || strings.HasPrefix(l, what+" (") }) {
			t.Errorf("it could %s, and nothing tells", way)
		}
	}
	return open
}

// TestNoWayOutForAnOrdinaryUser runs it again as nobody, if this user may.
func TestNoWayOutForAnOrdinaryUser(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	if os.Geteuid() != 0 {
		t.Skip("it is run as an ordinary user already")
	}
	asNobody(t, "^(TestNoWayOut|TestHidingOrphansEnd)$")
}

// asNobody runs tests of this binary again as an ordinary user.
func asNobody(t *testing.T, tests string) {
	t.Helper()
	misbehave, err := buildMisbehave()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for to, from := range map[string]string{"plugins.test": "/proc/self/exe", "misbehave": misbehave} {
		raw, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), raw, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tmp := filepath.Join(dir, "tmp")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o777), os.Chmod(tmp, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "plugins.test"), "-test.run="+tests, "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH"), "MISBEHAVE=" + filepath.Join(dir, "misbehave"), "NOEMA_WAYS=" + os.Getenv("NOEMA_WAYS")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}

// TestHidingOrphansEnd: what a plugin leaves behind with another parent, another
// session and no mark ends with it, without cgroups, and is not left as a zombie.
func TestHidingOrphansEnd(t *testing.T) {
	t.Parallel()
	h, err := NewHost(HostOptions{cageless: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := try(t, h, misdeed{mode: "hide"}); err != nil {
		t.Fatal(err)
	}
	found := hidden(t)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if left := hidden(t); len(left) > 0 {
		t.Errorf("of %v are left %v", found, left)
	}
	if left := numbers(read(t, fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))); len(left) > 0 && killOrphans(false) > 0 {
		t.Errorf("orphans are left: %v", left)
	}
}

// hidden are the processes of the misbehaving plugin that hides them.
func hidden(t *testing.T) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		raw, _ := os.ReadFile(path) // it may be gone
		if strings.HasPrefix(string(raw), fmt.Sprintf("sleep\x00%d", 10_000_000+os.Getpid())) {
			pids = append(pids, numbers(strings.Split(path, "/")[2])...)
		}
	}
	return pids
}

func read(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
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
