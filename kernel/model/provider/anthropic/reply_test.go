package anthropic_test

import (
	"net/http"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/anthropic"
	"noema/kernel/model/provider/exchange"
	"noema/methods"
)

// Input that was written to the cache costs more than other input, by a price
// that must be known.
func TestCacheWrites(t *testing.T) {
	read, write := methods.NanoUSD(3), methods.NanoUSD(37)
	priced := &provider.Price{Input: 30, Output: 150, CachedInput: &read, CacheWrite: &write}
	const parts = `"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":100,"cache_creation_input_tokens":1000,"output_tokens_details":{"thinking_tokens":4}`
	for name, c := range map[string]struct {
		usage    string
		price    *provider.Price
		cost     methods.NanoUSD
		unpriced int
	}{
		"for five minutes": {parts + `,"cache_creation":{"ephemeral_5m_input_tokens":1000,"ephemeral_1h_input_tokens":0}`, priced, 10*30 + 100*3 + 1000*37 + 5*150, 0},
		"for an hour":      {parts + `,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":1000}`, priced, 0, 1},
		"it does not say":  {parts + `,"cache_creation":null`, priced, 10*30 + 100*3 + 1000*37 + 5*150, 0},
		"no such price":    {parts, &provider.Price{Input: 30, Output: 150}, 0, 1},
		"nonsense":         {parts + `,"cache_creation":"much"`, priced, 10*30 + 100*3 + 1000*37 + 5*150, 0},
	} {
		body := `{"type":"message","stop_reason":"end_turn","content":[{"type":"text","text":"a"}],"usage":{` + c.usage + `}}`
		p, err := anthropic.New(exchange.Config{Model: "m", APIKey: "k", Price: c.price, HTTPClient: providertest.Says(body)}, exchange.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Complete(t.Context(), methods.Request{Messages: methods.Ask("x")})
		want := methods.Usage{
			Calls: 1, InputTokens: 1110, OutputTokens: 5, Cost: c.cost, Unpriced: c.unpriced,
			CachedTokens: 100, CacheWriteTokens: 1000, ReasoningTokens: 4,
		}
		if err != nil || got.Usage != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got.Usage, err, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":-1}}`))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"name\":\"f\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n" +
		"data: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("data: {\"type\":\"content_block_delta\",\"index\":-1}\n\n"))
	providertest.Fuzz(f, func(h *http.Client) (provider.Provider, error) {
		return anthropic.New(exchange.Config{Model: "m", APIKey: "secret-key", HTTPClient: h}, exchange.Options{})
	}, methods.Request{Messages: methods.Ask("x")})
}
