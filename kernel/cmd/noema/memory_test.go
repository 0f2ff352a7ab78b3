package main

import (
	"strings"
	"testing"
)

func TestByteSize(t *testing.T) {
	for _, x := range []struct {
		text, shown string
		bytes       byteSize
	}{
		{"4GiB", "4GiB", 4 << 30}, {"512MiB", "512MiB", 512 << 20}, {"1.5 GiB", "1536MiB", 3 << 29}, {"2TiB", "2TiB", 2 << 40},
		{"256", "256MiB", 256 << 20}, {"0", "0", 0}, {"8KiB", "8KiB", 8 << 10},
	} {
		var b byteSize
		if err := b.Set(x.text); err != nil || b != x.bytes || b.String() != x.shown {
			t.Errorf("%q is %d bytes, shown as %s (%v)", x.text, b, b.String(), err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "4GB", "NaN", "Inf", "1e300GiB", "4 G"} {
		var b byteSize
		if err := b.Set(text); err == nil || !strings.Contains(err.Error(), "as in 4GiB") {
			t.Errorf("%q is %d bytes (%v)", text, b, err)
		}
	}
}

// TestMemoryOfASession has a cell that takes memory for ever. It ends, with the
// limit in its error, and the session goes on.
func TestMemoryOfASession(t *testing.T) {
	t.Parallel()
	c := newCLI(t, "NOEMA_MEMORY=300MiB")
	cmd := c.command("repl")
	cmd.Stdin = strings.NewReader("var all [][]byte\nfor { all = append(all, make([]byte, 1<<16)) }\nall = nil\n1 + 41\n")
	r := c.start(cmd)()
	if r.code != exitError {
		t.Errorf("exit code %d, want %d", r.code, exitError)
	}
	want(t, r.stderr, "memory:", "are needed, and the limit is 300 MiB", "--memory")
	want(t, r.stdout, "42")
}
