package jupyter_test

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"noema/kernel/session/jupyter"
)

// TestOrphan kills the process that started a kernel, which then ends too.
func TestOrphan(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, heartbeat := connection(t)
	parent := exec.Command("sh", "-c", `JPY_PARENT_PID=$$ "$0" kernel "$1" & wait`, self, file)
	parent.Env = append(os.Environ(), "NOEMA_HOME="+t.TempDir())
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	answers := func() bool {
		c, err := net.DialTimeout("tcp", heartbeat, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	waitFor(t, "the kernel", answers)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	waitFor(t, "the kernel's end", func() bool { return !answers() })
}

// connection writes a connection file. The ports were free a moment ago.
func connection(t *testing.T) (file, heartbeat string) {
	t.Helper()
	c := jupyter.Connection{Transport: "tcp", IP: "127.0.0.1", Key: "k"}
	for _, port := range []*int{&c.Shell, &c.Control, &c.Stdin, &c.IOPub, &c.Heartbeat} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // when all five are known
		*port = l.Addr().(*net.TCPAddr).Port
	}
	raw, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "connection.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file, net.JoinHostPort(c.IP, strconv.Itoa(c.Heartbeat))
}

// waitFor asks again and again, for a while.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); <-time.After(20 * time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatalf("%s does not come", what)
		}
	}
}
