package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheServerForWorkersIsLeftOut: a newcomer waits for what the command imports, and the
// NATS server is a tenth of that. It comes with a tag, and with it alone.
func TestTheServerForWorkersIsLeftOut(t *testing.T) {
	for tags, want := range map[string]bool{"": false, "queue": true} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags="+tags, ".").Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(out), "github.com/nats-io/nats-server/"); got != want {
			t.Errorf("with the tags %q the command imports the NATS server: %v, want %v", tags, got, want)
		}
	}
}
