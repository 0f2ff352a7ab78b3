package anthropic_test

import (
	"testing"
	"time"

	"noema/kernel/provider"
	"noema/kernel/provider/anthropic"
	"noema/kernel/provider/providertest"
)

func TestConform(t *testing.T) {
	providertest.Conform(t, providertest.ConformConfig{
		Protocol: providertest.Anthropic,
		Open: func(url, key string, idle time.Duration) (providertest.Provider, error) {
			return anthropic.New(anthropic.Config{
				Model: "m", BaseURL: url, APIKey: key, IdleTimeout: idle, FirstTimeout: 10 * idle,
				Price: &provider.Price{Input: 1, Output: 2},
			})
		},
	})
}
