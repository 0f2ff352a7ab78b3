package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/methods"
)

// faultServer is an HTTP server on loopback that stands what its stands says
// and has faults besides. What it answers, it counts: that is what is paid.
type faultServer struct {
	*httptest.Server
	stands *stands
	fault  func(n int) int // a status for the n-th request; -1 cuts the connection, 0 is none

	mu       sync.Mutex
	requests int
	paid     map[string]int
}

func newFaultServer(s *stands, fault func(n int) int) *faultServer {
	f := &faultServer{stands: s, fault: fault, paid: map[string]int{}}
	f.Server = httptest.NewServer(f)
	return f
}

func (f *faultServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	f.mu.Lock()
	f.requests++
	status := 0
	if f.fault != nil {
		status = f.fault(f.requests)
	}
	f.mu.Unlock()
	switch {
	case status < 0:
		panic(http.ErrAbortHandler)
	case status > 0:
		w.WriteHeader(status)
		return
	}
	if _, err := f.stands.Complete(r.Context(), methods.Request{}); err != nil {
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	f.mu.Lock()
	f.paid[string(body)]++
	f.mu.Unlock()
	_, _ = io.WriteString(w, "answer to "+string(body))
}

// netModel is a provider over HTTP, as plain as can be.
type netModel struct {
	url    string
	client *http.Client
}

func newNetModel(t testing.TB, url string) *netModel {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &netModel{url: url, client: &http.Client{Transport: transport}}
}

func (m *netModel) Info() provider.Info { return (&model{}).Info() }

func (m *netModel) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	none := methods.Completion{}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, strings.NewReader(r.Messages[0].Content))
	if err != nil {
		return none, err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return none, &provider.Error{Kind: provider.Network, Err: err}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return none, &provider.Error{Kind: provider.Network, Err: err}
	}
	if resp.StatusCode != http.StatusOK {
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return none, &provider.Error{Kind: provider.KindOf(resp.StatusCode), Status: resp.StatusCode, RetryAfter: time.Duration(after) * time.Second, Err: errors.New("refused")}
	}
	return methods.Completion{Text: string(text), Finish: methods.FinishStop, Usage: methods.Usage{Calls: 1, Cost: 1}}, nil
}

// badHour is one fault after the other: at certain requests a storm of refusals,
// an outage or cut connections begins, and lasts for a third of a second; single
// failures are throughout.
func badHour() func(n int) int {
	weather, until := 0, time.Time{}
	return func(n int) int {
		begins := map[int]int{800: http.StatusTooManyRequests, 1600: http.StatusServiceUnavailable, 2400: -1}[n]
		if begins != 0 {
			weather, until = begins, time.Now().Add(time.Second/3)
		}
		switch {
		case time.Now().Before(until):
			return weather
		case n%97 == 0:
			return http.StatusInternalServerError
		case n%101 == 0:
			return -1
		}
		return 0
	}
}

// TestThousandsOfRequests: through storms, outages and cut connections, over
// real HTTP, all of 4,000 requests are answered, each is paid once though two
// methods ask for it at the same time, what is in the store is the same as what
// was seen, and nothing is left behind.
func TestThousandsOfRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	check := noNewGoroutines(t)
	t.Run("run", func(t *testing.T) {
		const requests, perTrial = 4_000, 50
		server := newFaultServer(&stands{atOnce: 24, latency: even(time.Millisecond)}, badHour())
		defer server.Close()
		store, m := openStore(t, t.TempDir()), newNetModel(t, server.URL)
		run := func() (trials map[record.TrialID]*record.Trial, s Stats) {
			g := newGateway(t, Options{Store: store, Provider: m, Retry: Retry{Base: 20 * time.Millisecond}})
			var mu sync.Mutex
			trials = map[record.TrialID]*record.Trial{}
			all(2*requests/perTrial, 128, func(i int) error {
				h := g.Host(trialOf(fmt.Sprint("m", i%2), fmt.Sprint((i-1)/2), 0))
				for n := range perTrial {
					r := ask(fmt.Sprint("request ", (i-1)/2, " ", n), fmt.Sprint("P/", n))
					if c := mustComplete(t, h, r); c.Text != "answer to "+r.Messages[0].Content {
						t.Errorf("%q for %q", c.Text, r.Messages[0].Content)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				trials[h.trial.ID] = sealed(t, h)
				return nil
			})
			return trials, g.Stats()
		}
		cold, stats := run()
		t.Logf("%d requests for %d answers, %+v", server.requests, len(server.paid), stats)
		if len(server.paid) != requests || stats.Provider != requests || stats.Failed != server.requests-requests || stats.Pauses == 0 {
			t.Errorf("%d answers, %d requests, stats %+v", len(server.paid), server.requests, stats)
		}
		for prompt, n := range server.paid {
			if n != 1 {
				t.Errorf("%q is paid %d times", prompt, n)
			}
		}
		asked := server.requests
		warm, _ := run()
		if server.requests != asked || len(warm) != len(cold) {
			t.Errorf("%d requests when warm, %d trials of %d", server.requests-asked, len(warm), len(cold))
		}
		for id, tr := range cold {
			if d := record.FirstDivergence(tr, warm[id]); d != nil || tr.Usage != warm[id].Usage {
				t.Fatalf("%v: %v", id, d)
			}
		}
	})
	check()
}
