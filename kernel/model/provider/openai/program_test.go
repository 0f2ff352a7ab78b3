package openai_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
	"noema/plugins/program/wires"
)

// TestAServerOfChatCompletionsAlone: programs that speak another protocol are answered all the
// same, as far as their requests can be asked for in chat completions. What cannot is named.
func TestAServerOfChatCompletionsAlone(t *testing.T) {
	chat := providertest.New(providertest.Config{})
	t.Cleanup(chat.Close)
	at, err := url.Parse(chat.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: at.Scheme, Host: at.Host})
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			http.Error(w, `{"error":{"message":"no such path"}}`, http.StatusNotFound)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p, err := openai.New(exchange.Config{Model: "m", BaseURL: server.URL + "/v1"}, openai.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		wire wires.Wire
		body string
		told string // of the error, if it fails
	}{
		{wires.Completions, `{"model":"code-davinci-002","prompt":"def f():","max_tokens":9,"stop":["###"]}`, ""},
		{wires.Responses, `{"model":"gpt-x","input":"hi"}`, ""},
		{wires.Chat, `{"model":"gpt-x","messages":[{"role":"user","content":"hi"}]}`, ""},
		{wires.Completions, `{"prompt":"a","suffix":"b"}`, "openai.completions: this cannot be asked for in another way: suffix"},
		{wires.Embeddings, `{"model":"e","input":"hi"}`, "openai.embeddings: this cannot be asked for in another way: input"},
	} {
		a, err := wires.Read(c.wire, []byte(c.body))
		if err != nil {
			t.Fatal(err)
		}
		done, err := p.Complete(t.Context(), a.Request)
		switch {
		case c.told != "" && (err == nil || !strings.Contains(err.Error(), c.told)):
			t.Errorf("%s %s: error %v, want %q", c.wire, c.body, err, c.told)
		case c.told == "" && (err != nil || done.Text != "ok"):
			t.Errorf("%s %s: %q, %v", c.wire, c.body, done.Text, err)
		}
	}
	if n := asked["/v1/chat/completions"]; n != 3 {
		t.Errorf("%d chat completions, want 3: %v", n, asked)
	}
}
