package anthropic

import (
	"errors"
	"testing"

	"noema/kernel/provider"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"message","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":-1}}`))
	f.Add([]byte("data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"name\":\"f\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n" +
		"data: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("data: {\"type\":\"content_block_delta\",\"index\":-1}\n\n"))
	p, err := New(Config{Model: "m", APIKey: "secret-key"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := p.decode(body, len(body)%2 == 0)
		var e *provider.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%v is no provider error", err)
		}
		if u := c.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.Cost < 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
