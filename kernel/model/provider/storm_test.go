package provider_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"noema/cache"
	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// patience is how long a storm's provider waits for a byte.
const patience = 2 * time.Second

// swift are the faults that a provider does not wait for.
func swift() []providertest.Fault {
	return slices.DeleteFunc(providertest.All(), func(f providertest.Fault) bool {
		return f == providertest.HalfOpen || f == providertest.Silent || f == providertest.NeverCloses
	})
}

// TestStorm lets each provider make many requests through the gateway at a server
// that fails in every way it can: plain ones, some with a schema that is asked
// again until the reply is valid, some with a tool and its result. It checks
// that all answers are right, that nothing was delivered, and so paid, twice,
// that a replay asks for nothing, and that no goroutine is left. What the server
// delivers has been read, so that a provider that gives up because the machine is
// slow, and asks again, has not paid.
//
// With NOEMA_BENCH=1 it makes at least 10,000 requests, over real connections, and
// those that stall are as frequent as all other faults, which takes minutes
// and a machine without other work.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	before := runtime.NumGoroutine()
	t.Run("all", func(t *testing.T) {
		for _, c := range services() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				storm(t, c)
			})
		}
	})
	noneLeft(t, before)
}

func storm(t *testing.T, c service) {
	requests, network := c.storm, providertest.NewPipes()
	config := providertest.Config{Protocol: c.Protocol, Answer: oracle, Listener: network, Plan: providertest.Plan{
		Seed: 1, Rate: 0.2, Faults: swift(), Most: 8, Each: 2, Storm: 20, StormEvery: 500,
	}}
	client := network.Client()
	if os.Getenv("NOEMA_BENCH") == "1" {
		requests, client = max(requests, 10_000), nil
		config.Listener, config.Plan.Faults = nil, nil
	}
	s := providertest.New(config)
	defer s.Close()
	p, err := c.open(exchange.Config{Model: "m", BaseURL: s.URL(), APIKey: "k", IdleTimeout: patience, FirstTimeout: patience, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	defer p.CloseIdleConnections()
	store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	stats := weather(t, requests, gateway.Options{Store: store, Provider: p, Mode: gateway.Auto})
	t.Logf("%d requests, %d sent, at most %d at once, limit %d in the end, %d pauses; faults %v",
		requests, s.Requests(), s.MostInFlight(), stats.Limit, stats.Pauses, s.Faults())
	checkBooks(t, s, stats)
	sent := s.Requests()
	weather(t, requests, gateway.Options{Store: store, Provider: p, Mode: gateway.Replay})
	if n := s.Requests() - sent; n != 0 {
		t.Errorf("a replay sent %d requests", n)
	}
}

// weather makes all requests through one gateway.
func weather(t *testing.T, requests int, o gateway.Options) gateway.Stats {
	t.Helper()
	o.MaxConnections = 64
	o.Retry = gateway.Retry{Attempts: 40, Base: time.Millisecond, Max: 20 * time.Millisecond}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	work := make(chan int)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range work {
				if err := talk(ctx, g, i%(requests-requests/5)); err != nil {
					t.Errorf("request %d: %v", i, err)
				}
			}
		})
	}
	for i := range requests {
		work <- i
	}
	close(work)
	wg.Wait()
	g.Wait(time.Minute)
	return g.Stats()
}

// checkBooks checks that every request was delivered once.
func checkBooks(t *testing.T, s *providertest.Server, stats gateway.Stats) {
	t.Helper()
	bills, twice, never := s.Bills(), 0, 0
	for _, b := range bills {
		switch {
		case b.Delivered > 1:
			twice++
		case b.Delivered == 0:
			never++
		}
	}
	if twice > 0 || never > 0 {
		t.Errorf("of %d requests %d were paid twice and %d never answered", len(bills), twice, never)
	}
	if stats.Provider != len(bills) {
		t.Errorf("the gateway counts %d answers, the server %d", stats.Provider, len(bills))
	}
	for _, f := range providertest.All() {
		if n := s.Faults()[f]; n < 2 {
			t.Errorf("%q was met %d times in this storm: it proves nothing about it", f, n)
		}
	}
}

// noneLeft waits until there are no more goroutines than before.
func noneLeft(t *testing.T, before int) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > before { // else the test does not end
		<-tick.C
	}
}

// sign is what an answer to a prompt must hold: nothing else could have made
// it.
func sign(prompt string) string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:8])
}

// oracle is the model of a storm.
func oracle(a providertest.Ask) providertest.Answer {
	question, _, _ := strings.Cut(a.Prompt, "\n")
	switch {
	case a.Schema:
		return providertest.Answer{Text: `{"answer": "` + sign(question) + `"}`}
	case len(a.Tools) > 0 && len(a.Results) == 0:
		return providertest.Answer{Calls: []providertest.Call{{Name: a.Tools[0], Arguments: `{"key": "` + sign(question) + `"}`}}}
	case len(a.Results) > 0:
		return providertest.Answer{Text: "the tool says: " + strings.Join(a.Results, ", ")}
	}
	return providertest.Answer{Text: "ünswer " + sign(question)}
}

// talk has one conversation and checks the answer.
func talk(ctx context.Context, g *gateway.Gateway, i int) error {
	h := g.Host(gateway.Trial{ID: record.TrialID{Method: "storm", Sample: fmt.Sprint(i)}, Method: "storm"})
	question := fmt.Sprintf("question %d of many?", i)
	r := methods.Request{Messages: methods.Ask(question), Path: "ask", Sampling: methods.Sampling{Seed: 1, MaxTokens: 100}}
	var err error
	switch i % 10 {
	case 3, 7:
		err = talkJSON(ctx, h, r, question)
	case 5:
		err = talkTool(ctx, h, r, question)
	default:
		var c methods.Completion
		if c, err = complete(ctx, h, r); err == nil && (c.Text != "ünswer "+sign(question) || c.Finish != methods.FinishStop) {
			err = fmt.Errorf("answered %+v", c)
		}
	}
	return err
}

// complete makes one call and checks what holds for all.
func complete(ctx context.Context, h *gateway.Host, r methods.Request) (methods.Completion, error) {
	c, err := h.Complete(ctx, r)
	u := c.Usage
	if err == nil && (u.Calls != 1 || u.InputTokens < 0 || u.OutputTokens < 0 || u.Cost < 0 ||
		(u.Unmetered == 0) != (u.InputTokens > 0 && u.OutputTokens > 0) || u.InputTokens > 1e6) {
		err = fmt.Errorf("usage %+v cannot be", u)
	}
	return c, err
}

func talkJSON(ctx context.Context, h *gateway.Host, r methods.Request, question string) error {
	r.Schema = &methods.Schema{Name: "answer", JSON: json.RawMessage(
		`{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`)}
	for n := range 10 {
		r.Path = fmt.Sprintf("ask/%d", n)
		c, err := complete(ctx, h, r)
		if err != nil {
			return err
		}
		var reply struct{ Answer string }
		if json.Unmarshal([]byte(c.Text), &reply) == nil && reply.Answer == sign(question) {
			return nil
		}
		r.Messages = append(r.Messages,
			methods.Message{Role: methods.Assistant, Content: c.Text},
			methods.Message{Role: methods.User, Content: fmt.Sprintf("%s\nThat was no JSON of this schema. Attempt %d.", question, n+2)})
	}
	return errors.New("no reply of the schema in 10 attempts")
}

func talkTool(ctx context.Context, h *gateway.Host, r methods.Request, question string) error {
	r.Tools = []methods.ToolSpec{{Name: "lookup", Description: "looks up", Parameters: json.RawMessage(
		`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}`)}}
	c, err := complete(ctx, h, r)
	if err != nil {
		return err
	}
	if len(c.ToolCalls) != 1 || c.Finish != methods.FinishTools || c.ToolCalls[0].ID == "" || c.ToolCalls[0].Name != "lookup" {
		return fmt.Errorf("want one tool call, got %+v", c)
	}
	var arguments struct{ Key string }
	if err := json.Unmarshal(c.ToolCalls[0].Arguments, &arguments); err != nil || arguments.Key != sign(question) {
		return fmt.Errorf("the call's arguments are %s", c.ToolCalls[0].Arguments)
	}
	r.Path = "ask/result"
	r.Messages = append(r.Messages,
		methods.Message{Role: methods.Assistant, ToolCalls: c.ToolCalls},
		methods.Message{Role: methods.Tool, CallID: c.ToolCalls[0].ID, Content: "found " + arguments.Key})
	if c, err = complete(ctx, h, r); err == nil && !strings.Contains(c.Text, "found "+sign(question)) {
		err = fmt.Errorf("the tool's result did not arrive: %+v", c)
	}
	return err
}
