package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"noema/plugins"
)

func TestAnotherBuildIsRefused(t *testing.T) {
	t.Parallel()
	a := Build{Digest: "aa", Commit: "c0ffee", Platform: "linux/amd64", Go: "go1.26"}
	for name, b := range map[string]Build{
		"another build":                {"bb", "c0ffee", "linux/amd64", "go1.26"},
		"another Go":                   {"bb", "c0ffee", "linux/arm64", "go1.27"},
		"of commit decade":             {"bb", "decade", "linux/arm64", "go1.26"},
		"of commit unknown or with ch": {"bb", "", "linux/arm64", "go1.26"},
	} {
		if why := a.differs(b); name != "another Go" && !strings.Contains(why, name) || why == "" {
			t.Errorf("%s: %q", name, why)
		}
	}
	if why := a.differs(Build{"bb", "c0ffee", "linux/arm64", "go1.26"}); why != "" {
		t.Errorf("the same commit for another platform: %s", why)
	}
	if why := (Build{Digest: "aa"}).differs(Build{Digest: "aa", Commit: "c0ffee"}); why != "" {
		t.Errorf("the same file: %s", why)
	}
}

const secret Token = "a-token-for-tests-only"

// coordinate starts a coordinator, with a connection as a worker has it.
func coordinate(t *testing.T) (*Coordinator, *nats.Conn) {
	t.Helper()
	c, err := Start(t.Context(), Options{Token: secret, Listen: "127.0.0.1:0", Server: Embedded, Warn: func(string) {}, pace: quick()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	nc, err := nats.Connect(c.Address(), nats.UserInfo(strings.Repeat("A", 26), secret.password()), nats.CustomInboxPrefix(inbox(strings.Repeat("A", 26))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return c, nc
}

// TestNamesOfWorkers: who has the token and another name than a worker's is not let in, as
// a part of its name could stand for other subjects.
func TestNamesOfWorkers(t *testing.T) {
	t.Parallel()
	c, _ := coordinate(t)
	enters := func(name string) bool {
		nc, err := nats.Connect(c.Address(), nats.UserInfo(name, secret.password()))
		if err == nil {
			nc.Close()
		}
		return err == nil
	}
	good := strings.Repeat("A2", 13)
	for what, names := range map[string][]string{
		"wildcards":   {"*", ">", "*.*", good + ".>", good + ".*", "*" + good},
		"dots":        {".", good + "." + good, "." + good, good + "."},
		"spaces":      {" ", good + " ", "A\tB" + good, "\u00a0" + good},
		"empty":       {""},
		"short":       {"A", good[:15]},
		"very long":   {strings.Repeat("A", 65), strings.Repeat("A", 3000)},
		"control":     {"\x00" + good, good + "\r\n", good + "\x1b[2J", good + "\x7f"},
		"unicode":     {"\uff21" + good, good + "é", "\u202e" + good, good + "\xff"},
		"separators":  {good + "/x", good + "\\x", good + ",x", good + ";x", good + ":x", "$JS." + good, "$" + good, "_INBOX"},
		"other names": {"coordinator", strings.ToLower(good), good + "1", good + "8"},
	} {
		for _, name := range names {
			if enters(name) {
				t.Errorf("%s: %.80q is let in", what, name)
			}
		}
	}
	for b := range 256 { // whatever byte
		name := good[:9] + string([]byte{byte(b)}) + good[9:]
		if allowed := 'A' <= b && b <= 'Z' || '2' <= b && b <= '7'; enters(name) != allowed {
			t.Errorf("byte %#x in a name: let in is %v", b, !allowed)
		}
	}
}

func TestAWorkerReadsItsOwnSubjectsAlone(t *testing.T) {
	t.Parallel()
	_, nc := coordinate(t)
	for _, subject := range []string{">", secret.prefix() + ".up.>", secret.prefix() + ".down.*.x", secret.prefix() + ".todo.*", inbox("other") + ".>", "$JS.>"} {
		denied := make(chan error, 1)
		nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribe to %s: %v", subject, err)
		}
	}
	for _, subject := range []string{secret.prefix() + ".down.x.y", secret.prefix() + ".todo.m1", secret.prefix() + ".up.other.x", "$JS.API.STREAM.DELETE." + secret.prefix(), "$JS.API.STREAM.CREATE.mine"} {
		denied := make(chan error, 1)
		nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
		if err := errors.Join(nc.Publish(subject, nil), nc.Flush()); err != nil {
			t.Fatal(err)
		}
		if err := <-denied; !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("publish to %s: %v", subject, err)
		}
	}
}

func TestForeignMessagesAreCountedAndDropped(t *testing.T) {
	t.Parallel()
	c, nc := coordinate(t)
	join := secret.prefix() + ".join"
	h := hello{Worker: strings.Repeat("A", 26), Nonce: "1", Slots: 1, Build: c.build}
	raw, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	rude := h
	rude.Worker = "*.>"
	rudely, err := json.Marshal(rude)
	if err != nil {
		t.Fatal(err)
	}
	bad := [][]byte{nil, []byte("x"), make([]byte, 1000), raw, seal(Token("another-token-than-it").key("join"), raw), seal(secret.key("join"), []byte("{")), seal(secret.key("join"), rudely)}
	for _, m := range bad {
		if err := nc.Publish(join, m); err != nil {
			t.Fatal(err)
		}
	}
	m, err := nc.Request(join, seal(secret.key("join"), raw), 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	raw, err = open(secret.key("welcome 1"), m.Data)
	if err != nil {
		t.Fatal(err)
	}
	var w welcome
	if err := json.Unmarshal(raw, &w); err != nil || w.Link == "" {
		t.Fatalf("the answer is %s (%v)", raw, err)
	}
	up := secret.up(h.Worker, w.Link)
	beats := make([]byte, macSize, 64)
	beats = appendItem(append(beats, 0, 0, 0, 0, 0, 0, 0, 1), item{kind: beat})
	copy(beats, mac(secret.key("up "+w.Link), beats[macSize:]))
	for _, m := range [][]byte{nil, make([]byte, 2000), beats[1:], beats, beats} { // the last is a repetition
		if err := nc.Publish(up, m); err != nil {
			t.Fatal(err)
		}
	}
	until(t, func() bool { s := c.State(); return s.Foreign == len(bad)+4 && len(s.Workers) == 1 })
}

// until waits for a condition.
func until(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !is() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it does not come to that")
		}
	}
}

func FuzzItems(f *testing.F) {
	f.Add(appendItem(nil, item{kind: frames, session: 7, data: []byte("abc")}))
	f.Add([]byte{1, 0x80})
	f.Fuzz(func(t *testing.T, packet []byte) {
		size := 0
		err := items(packet, func(i item) error { size += len(i.data); return nil })
		if err == nil && size > len(packet) {
			t.Errorf("%d bytes hold %d", len(packet), size)
		}
	})
}

func TestCodeTravels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"plugin.yaml": "command: [python3, main.py]\n", "main.py": "print()\n", "lib/a.py": strings.Repeat("x = 1\n", 1000)} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	src, err := plugins.At(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := plugins.CodeDigest(src)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := packCode(context.Background(), src)
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if err := unpackCode(packed, to); err != nil {
		t.Fatal(err)
	}
	if src, err = plugins.At(to); err != nil {
		t.Fatal(err)
	}
	if got, err := plugins.CodeDigest(src); err != nil || got != want {
		t.Errorf("the digest is %s, was %s (%v)", got, want, err)
	}
}
