package gemini_test

import (
	"testing"
	"time"

	"noema/kernel/provider/gemini"
	"noema/kernel/provider/providertest"
)

// Requests through the real gateway at a server that fails in every way.
func TestStorm(t *testing.T) {
	providertest.Storm(t, providertest.StormConfig{
		Protocol: providertest.Gemini, Requests: 2000,
		Open: func(url string, patience time.Duration) (providertest.Provider, error) {
			return gemini.New(gemini.Config{Model: "m", BaseURL: url, APIKey: "k", IdleTimeout: patience, FirstTimeout: patience})
		},
	})
}
