package ollama

import (
	"errors"
	"testing"

	"noema/kernel/provider"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"a"},"done":true,"eval_count":-1}`))
	f.Add([]byte("{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":3}}]}}\n{\"done\":true}\n"))
	p, err := New(Config{Model: "m", APIKey: "secret-key"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := p.decode(body)
		var e *provider.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%v is no provider error", err)
		}
		if u := c.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.Cost < 0 {
			t.Errorf("usage %+v", u)
		}
	})
}
