package gemini_test

import (
	"testing"
	"time"

	"noema/kernel/provider"
	"noema/kernel/provider/gemini"
	"noema/kernel/provider/providertest"
)

func TestConform(t *testing.T) {
	providertest.Conform(t, providertest.ConformConfig{
		Protocol: providertest.Gemini,
		Open: func(url, key string, idle time.Duration) (providertest.Provider, error) {
			return gemini.New(gemini.Config{
				Model: "m", BaseURL: url, APIKey: key, IdleTimeout: idle, FirstTimeout: 10 * idle,
				Price: &provider.Price{Input: 1, Output: 2},
			})
		},
	})
}
