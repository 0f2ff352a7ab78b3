package program

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"noema/methods"
)

// still is a host that answers at once.
type still struct{ methods.Host }

// Complete implements [methods.Model].
func (still) Complete(context.Context, methods.Request) (methods.Completion, error) {
	return methods.Completion{Text: "Answer: yes", Finish: methods.FinishStop, Model: "m", Usage: methods.Usage{Calls: 1, InputTokens: 9, OutputTokens: 3}}, nil
}

// BenchmarkEndpoint is a request to the endpoint, plain and streamed, beside one to a bare
// server that reads the body and writes as much: their ratio is what the endpoint costs.
func BenchmarkEndpoint(b *testing.B) {
	body := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a question ", 180) + `"}]`
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		writeJSON(w, http.StatusOK, []byte(strings.Repeat("x", 400)))
	})
	for _, c := range []struct {
		name, body string
		handler    func() http.Handler
	}{
		{"bare", body + "}", func() http.Handler { return bare }},
		{"plain", body + "}", func() http.Handler {
			return newEndpoint(b.Context(), methods.Problem{}, still{}, folders{}, func(error) {})
		}},
		{"streamed", body + `,"stream":true}`, func() http.Handler {
			return newEndpoint(b.Context(), methods.Problem{}, still{}, folders{}, func(error) {})
		}},
	} {
		for _, clients := range []int{1, 16} {
			b.Run(c.name+map[int]string{1: "/1", 16: "/16"}[clients], func(b *testing.B) {
				server := httptest.NewServer(c.handler())
				defer server.Close()
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
				b.SetParallelism(max(1, clients/2))
				ask := func() {
					res, err := client.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(c.body))
					if err != nil {
						b.Error(err)
						return
					}
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
				b.ResetTimer()
				if clients == 1 {
					for b.Loop() {
						ask()
					}
					return
				}
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						ask()
					}
				})
			})
		}
	}
}
