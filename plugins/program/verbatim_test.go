package program

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
	"noema/plugins/program/wires"
)

// far is a provider's server: it keeps what it was sent, and replies what was told it to, both by
// the number in the request.
type far struct {
	mu   sync.Mutex
	says map[string]string
	got  map[string][]byte
}

var numberOf = regexp.MustCompile(`"nonce"\s*:\s*"(n\d+)"`)

func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	found := numberOf.FindSubmatch(body)
	if err != nil || found == nil {
		http.Error(w, "no number", http.StatusTeapot)
		return
	}
	f.mu.Lock()
	f.got[string(found[1])] = body
	says := f.says[string(found[1])]
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, says)
}

// take returns what a request was at the server, and forgets it.
func (f *far) take(number string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.got[number]
	delete(f.got, number)
	delete(f.says, number)
	return got
}

// between is a program's endpoint with a real client of the far server behind a real gateway.
func between(t *testing.T, url string, store *cache.Store, w wires.Wire) http.Handler {
	t.Helper()
	var p provider.Provider
	var err error
	if strings.HasPrefix(string(w), "anthropic.") {
		p, err = anthropic.New(exchange.Config{Model: "real-model", BaseURL: url}, exchange.Options{})
	} else {
		p, err = openai.New(exchange.Config{Model: "real-model", BaseURL: url + "/v1"}, openai.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{Provider: p, Mode: gateway.Off, Store: store}
	if store != nil {
		o.Mode = gateway.Auto
	}
	g, err := gateway.New(o)
	if err != nil {
		t.Fatal(err)
	}
	// A trial keeps all that it has asked: a new one now and then bounds that.
	var mu sync.Mutex
	var e *endpoint
	n := 0
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if n%500 == 0 {
			id := record.TrialID{Method: "m", Sample: fmt.Sprint(n)}
			e = newEndpoint(t.Context(), methods.Problem{Seed: 1}, g.Host(gateway.Trial{ID: id, Method: "m"}), folders{}, func(error) {})
		}
		n++
		now := e
		mu.Unlock()
		now.ServeHTTP(rw, r)
	})
}

// TestBytesCrossAsTheyAre: of generated requests and replies every byte arrives at the provider's
// server and at the program, but for the fields that the README names, whatever words they hold;
// replies in events hold the same. Every wire is asked, with and without a store.
func TestBytesCrossAsTheyAre(t *testing.T) {
	each := map[bool]int{false: 17_000, true: 300}[testing.Short()] // of six wires
	for _, w := range []wires.Wire{wires.Chat, wires.Responses, wires.Completions, wires.Messages, wires.Embeddings, wires.CountTokens} {
		t.Run(string(w), func(t *testing.T) {
			t.Parallel()
			crosses(t, w, nil, each)
			store, err := cache.Open(t.Context(), t.TempDir(), cache.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			crosses(t, w, store, each/50)
		})
	}
}

// crosses sends requests of a wire; with a store twice, the second time to nobody.
func crosses(t *testing.T, w wires.Wire, store *cache.Store, times int) {
	t.Helper()
	f := &far{says: map[string]string{}, got: map[string][]byte{}}
	server := httptest.NewServer(f)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	for round := range 2 {
		if round > 0 && store == nil {
			return
		}
		near := httptest.NewServer(between(t, server.URL, store, w))
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := worker; i < times && !t.Failed(); i += 4 {
					one(t, client, near.URL, f, w, i, round > 0)
				}
			})
		}
		group.Wait()
		near.Close()
	}
}

// one sends one request, which nobody is asked where its reply is kept.
func one(t *testing.T, client *http.Client, url string, f *far, w wires.Wire, i int, kept bool) {
	g := &generator{r: rand.New(rand.NewPCG(uint64(len(w)), uint64(i)))}
	number := fmt.Sprintf("n%d", i)
	request, stream := g.request(w, number)
	reply := g.reply(w)
	f.mu.Lock()
	f.says[number] = reply.said()
	f.mu.Unlock()
	sent := request.text(nil)
	res, err := client.Post(url+"/v1"+w.Path(), "application/json", strings.NewReader(sent))
	if err != nil {
		t.Error(err)
		return
	}
	got, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s: %v\nsent %s\ngot %s", res.Status, err, sent, got)
		return
	}
	arrived := f.take(number)
	without := []string{"model", "stream", "stream_options", "background"}
	if w == wires.Embeddings {
		without = without[1:]
	}
	want := request.text(without)
	at := bytes.TrimPrefix(arrived, []byte(`{"model":"real-model",`))
	if w == wires.Embeddings {
		at = bytes.TrimPrefix(arrived, []byte("{"))
	}
	if kept != (arrived == nil) || !kept && strings.TrimLeft(string(at), " \t\r\n") != strings.TrimLeft(want[1:], " \t\r\n") {
		t.Errorf("sent    %s\narrived %s\nwant    %s", sent, arrived, want)
		return
	}
	if !stream {
		reply.isWhole(t, string(got))
		return
	}
	var whole map[string]any
	if err := json.Unmarshal([]byte(reply.said()), &whole); err != nil {
		t.Error(err)
		return
	}
	streamed := rejoined(t, w, got)
	if a, b := content(w, whole), content(w, streamed); !reflect.DeepEqual(a, b) {
		t.Errorf("said     %s\nstreamed %s\nis %v\nwant %v", reply.said(), got, b, a)
	}
}
