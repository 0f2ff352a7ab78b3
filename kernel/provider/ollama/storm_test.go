package ollama_test

import (
	"testing"
	"time"

	"noema/kernel/provider/ollama"
	"noema/kernel/provider/providertest"
)

// Requests through the real gateway at a server that fails in every way.
func TestStorm(t *testing.T) {
	providertest.Storm(t, providertest.StormConfig{
		Protocol: providertest.Ollama, Requests: 2000,
		Open: func(url string, patience time.Duration) (providertest.Provider, error) {
			return ollama.New(ollama.Config{Model: "m", BaseURL: url, APIKey: "k", IdleTimeout: patience, FirstTimeout: patience})
		},
	})
}
