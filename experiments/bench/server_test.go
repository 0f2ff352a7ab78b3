package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// modelServer is a model behind OpenAI's chat completions that answers every request
// alike, in a stream, and counts.
type modelServer struct {
	*httptest.Server
	latency time.Duration

	mu                       sync.Mutex
	requests, inFlight, most int
}

func newModelServer(t *testing.T, latency time.Duration) *modelServer {
	t.Helper()
	s := &modelServer{latency: latency}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP answers a request after the latency.
func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.count(func() {
		s.requests, s.inFlight = s.requests+1, s.inFlight+1
		s.most = max(s.most, s.inFlight)
	})
	defer s.count(func() { s.inFlight-- })
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the client left
	}
	time.Sleep(s.latency)
	w.Header().Set("Content-Type", "text/event-stream")
	chunk := func(choices, usage string) {
		fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"model\":\"tiny\",\"choices\":[%s],\"usage\":%s}\n\n", choices, usage)
	}
	chunk(`{"index":0,"delta":{"role":"assistant","content":"{\"answer\": \"yes\"}"},"finish_reason":null}`, "null")
	chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`, "null")
	chunk("", `{"prompt_tokens":500,"completion_tokens":4}`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// Requests is how many requests have arrived.
func (s *modelServer) Requests() (n int) {
	s.count(func() { n = s.requests })
	return n
}

// MostInFlight is the largest number of requests served at one time.
func (s *modelServer) MostInFlight() (n int) {
	s.count(func() { n = s.most })
	return n
}

func (s *modelServer) count(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}
