package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/methods/baseline"
)

func openaiModel(t testing.TB, server *providertest.Server, key string) *exchange.Client {
	t.Helper()
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: server.URL(), APIKey: key}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.CloseIdleConnections)
	return p
}

// faults are one for each sample, met at its first request.
var faults = []struct {
	name    string
	fault   providertest.Response
	kind    string
	status  int
	wait    time.Duration // at least, before the next attempt
	message string
}{
	{"rate limit", providertest.Status(429, "Rate limit reached.", "Retry-After", "0.02"), "rate_limited", 429, 20 * time.Millisecond, "Rate limit"},
	{"server error", providertest.Status(500, "The server had an error."), "unavailable", 500, 0, "had an error"},
	{"cut", providertest.Fail(providertest.Cut), "network", 0, 0, ""},
	{"dropped", providertest.Fail(providertest.Reset), "network", 0, 0, ""},
	{"malformed", providertest.Fail(providertest.Malformed), "malformed", 0, 0, ""},
	{"empty", providertest.Raw(200, "application/json", `{"choices":[]}`), "malformed", 0, 0, ""},
	{"a page", providertest.Raw(502, "text/html", "<html></html>"), "unavailable", 502, 0, "HTML page"},
	{"slow", providertest.Slow(30 * time.Millisecond), "", 0, 0, ""},
	{"none", nil, "", 0, 0, ""},
}

// badDay lets the first request for each sample meet its fault.
func badDay() providertest.Config {
	var mu sync.Mutex
	met := map[string]bool{}
	return providertest.Config{
		Answer: func(providertest.Ask) providertest.Answer { return providertest.Answer{Text: `{"answer":[1,2,3]}`} },
		Respond: func(r providertest.Ask) providertest.Response {
			mu.Lock()
			defer mu.Unlock()
			for _, f := range faults {
				if strings.Contains(r.Prompt, "query "+f.name+"\n") && !met[f.name] {
					met[f.name] = true
					return f.fault
				}
			}
			return nil
		},
	}
}

// TestBadDay: a run against a real server with every fault that servers have
// finishes, and what happened is on record.
func TestBadDay(t *testing.T) {
	server := providertest.New(badDay())
	defer server.Close()
	store, p := openStore(t, t.TempDir()), openaiModel(t, server, "key")
	var ids []string
	for _, f := range faults {
		ids = append(ids, f.name)
	}
	direct := inProcess(baseline.Direct())
	direct.Shuffle = false
	e := Setup{
		Task: sampleTask(ofThree, "[1]", ids...), Methods: []Method{direct}, Provider: p,
		Retry: gateway.Retry{Base: time.Millisecond, Max: 2 * time.Millisecond},
	}
	run := mustRun(t, e, store)
	for i, tr := range run.Trials {
		want := faults[i]
		if tr.Answer.Outcome != methods.Answered || len(tr.Calls) != 1 || tr.Score.Values["hits@1"] != 1 {
			t.Errorf("%s: %+v, %s", want.name, tr.Answer, tr.Failure)
			continue
		}
		checkAttempts(t, store, tr, want.name, want.kind, want.status, want.wait, want.message)
		if want.name == "slow" && tr.Usage.Latency < 30*time.Millisecond {
			t.Errorf("the slow call took %v", tr.Usage.Latency)
		}
	}
	requests := server.Requests()
	if requests != len(faults)+7 {
		t.Errorf("%d requests", requests)
	}
	if warm := mustRun(t, e, store); warm.Run.Root != run.Run.Root || warm.NewCalls != 0 || server.Requests() != requests {
		t.Errorf("warm: %d new calls, %d requests", warm.NewCalls, server.Requests()-requests)
	}
	if r := replayOf(t, store, run.Run, e.Methods, p, 4); !r.Same() || server.Requests() != requests {
		t.Errorf("replay: %v", r.First)
	}
}

func checkAttempts(t *testing.T, store *cache.Store, tr *record.Trial, name, kind string, status int, wait time.Duration, message string) {
	t.Helper()
	key, err := cache.ParseKey(tr.Calls[0].Key)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.Completion(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if kind == "" {
		if len(rec.Attempts) != 0 || tr.Calls[0].Attempts != 0 {
			t.Errorf("%s: attempts %+v", name, rec.Attempts)
		}
		return
	}
	if len(rec.Attempts) != 1 || tr.Calls[0].Attempts != 1 {
		t.Errorf("%s: attempts %+v", name, rec.Attempts)
		return
	}
	// A reply that is malformed or cut comes under either name.
	a, kinds := rec.Attempts[0], []string{kind}
	if status == 0 {
		kinds = []string{"network", "malformed"}
	}
	if !slices.Contains(kinds, a.Kind) || status != 0 && a.Status != status || a.Wait < max(wait, time.Microsecond) || !strings.Contains(a.Message, message) {
		t.Errorf("%s: attempt %+v", name, a)
	}
}

// TestWrongKeyOfAServer: one clear error without the key in it after a few
// requests, no trial, and with a right key the same run goes on.
func TestWrongKeyOfAServer(t *testing.T) {
	config := badDay()
	config.Key, config.Respond = "sk-right", nil
	server := providertest.New(config)
	defer server.Close()
	store := openStore(t, t.TempDir())
	e := Setup{
		Task: sampleTask(ofThree, "[1]", names(30)...), Methods: []Method{inProcess(baseline.Direct())},
		Provider:   openaiModel(t, server, "sk-wrong"),
		Experiment: Experiment{MaxSamples: 4},
	}
	first, err := e.Run(context.Background(), store, Quiet{})
	if !errors.Is(err, methods.ErrProvider) || strings.Count(fmt.Sprint(err), "401") != 1 || !strings.Contains(err.Error(), "check OPENAI_API_KEY") || strings.Contains(err.Error(), "sk-wrong") {
		t.Errorf("error %v", err)
	}
	if server.Requests() > 13 || len(first.Trials) != 0 {
		t.Errorf("%d requests, %d trials", server.Requests(), len(first.Trials))
	}
	e.Provider = openaiModel(t, server, "sk-right")
	if second := mustRun(t, e, store); second.Run.ID != first.Run.ID || len(second.Trials) != 30 {
		t.Errorf("run %s, was %s", second.Run.ID, first.Run.ID)
	}
}

// TestServerStaysDown: the trials fail, the run is finished, and says so.
func TestServerStaysDown(t *testing.T) {
	server := providertest.New(providertest.Config{Respond: func(providertest.Ask) providertest.Response {
		return providertest.Status(500, "The server had an error.")
	}})
	defer server.Close()
	e := Setup{
		Task: sampleTask(ofThree, "[1]", "a", "b"), Methods: []Method{inProcess(baseline.Direct())}, Provider: openaiModel(t, server, "k"),
		Retry: gateway.Retry{Base: time.Microsecond}, Experiment: Experiment{Retries: 2},
	}
	run := mustRun(t, e, openStore(t, t.TempDir()))
	for _, tr := range run.Trials {
		c := tr.Calls[0]
		if !tr.Infra || !strings.Contains(tr.Failure, "after 3 attempts") || c.Fault != record.ProviderFault || c.Attempts != 3 || !strings.Contains(c.Error, "HTTP 500") {
			t.Errorf("%+v, failure %q", c, tr.Failure)
		}
	}
	if server.Requests() != 6 {
		t.Errorf("%d requests", server.Requests())
	}
}
