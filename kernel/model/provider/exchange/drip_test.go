package exchange

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestDripsEnd: a server that sends what is not content for ever is given up after the pause
// that a reply may make, wherever it begins to, and one that sends content for ever after
// the whole time of a request; one that drips for a while and then goes on is not.
func TestDripsEnd(t *testing.T) {
	const begin = "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"}}]}\n\n"
	for name, c := range map[string]struct{ first, drip, want string }{
		"spaces":            {"", " ", "no byte of a reply"},
		"lines":             {"", "\n", "no byte of a reply"},
		"comments":          {"", ": ping\n\n", "no byte of a reply"},
		"pings":             {"", "event: ping\ndata: {\"type\": \"ping\"}\n\n", "no byte of a reply"},
		"spaces in between": {begin, " ", "stops in its middle"},
		"comments after":    {begin, ": ping\n\n", "stops in its middle"},
		"pings after":       {begin, "event: ping\ndata: {\"type\": \"ping\"}\n\n", "stops in its middle"},
		"content for ever":  {begin, begin, "no end of the reply within"},
		"one long line":     {"", "x", "no end of the reply within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := Config{FirstTimeout: 400 * time.Millisecond, IdleTimeout: 400 * time.Millisecond, TotalTimeout: time.Minute}
			if strings.HasPrefix(c.want, "no end") {
				limits = Config{FirstTimeout: time.Minute, IdleTimeout: time.Minute, TotalTimeout: time.Second}
			}
			do := serve(t, limits, "", func(w http.ResponseWriter, r *http.Request) {
				_, _ = w.Write([]byte(c.first))
				for r.Context().Err() == nil { // a server that cannot write any more sees that its client has left
					if _, err := w.Write([]byte(c.drip)); err != nil {
						return
					}
					w.(http.Flusher).Flush()
					select {
					case <-r.Context().Done():
					case <-time.After(20 * time.Millisecond):
					}
				}
			})
			if _, err := do(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it ended by %v, want %q", err, c.want)
			}
		})
	}
}

// TestContentInAnyPieces: whether a stream has content does not depend on where it is cut.
func TestContentInAnyPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	lines := []string{"", " ", ": OPENROUTER PROCESSING " + strings.Repeat("x", 200), "event: ping", `data: {"type": "ping"}`, `data: {"type":"ping"}`, "id: 7", "retry: 10"}
	said := []string{`data: {"type":"message"}`, "data: [DONE]", `{"choices": []}`, "x", `data: {"type": "ping2"}`}
	for range 2000 {
		var text bytes.Buffer
		want := random.IntN(2) == 0
		for range random.IntN(8) {
			text.WriteString(lines[random.IntN(len(lines))] + "\n")
		}
		if want {
			text.WriteString(said[random.IntN(len(said))] + "\n")
		}
		var d drip
		got := false
		for rest := text.Bytes(); len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			got = d.content(rest[:n]) || got
			rest = rest[n:]
		}
		if got != want {
			t.Fatalf("content %v of %q", got, text.String())
		}
	}
}
