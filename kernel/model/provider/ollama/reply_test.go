package ollama_test

import (
	"net/http"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/ollama"
	"noema/methods"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"a"},"done":true,"eval_count":-1}`))
	f.Add([]byte("{\"message\":{\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":3}}]}}\n{\"done\":true}\n"))
	providertest.Fuzz(f, func(h *http.Client) (provider.Provider, error) {
		return ollama.New(exchange.Config{Model: "m", APIKey: "secret-key", HTTPClient: h}, ollama.Options{})
	}, methods.Request{Messages: methods.Ask("x")})
}
