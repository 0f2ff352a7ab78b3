package openai_test

import (
	"testing"
	"time"

	"noema/kernel/provider"
	"noema/kernel/provider/openai"
	"noema/kernel/provider/providertest"
)

func TestConform(t *testing.T) {
	for api, protocol := range map[openai.API]providertest.Protocol{
		openai.Chat: providertest.Chat, openai.Responses: providertest.Responses,
	} {
		t.Run(string(api), func(t *testing.T) {
			providertest.Conform(t, providertest.ConformConfig{
				Protocol: protocol,
				Open: func(url, key string, idle time.Duration) (providertest.Provider, error) {
					return openai.New(openai.Config{
						Model: "m", API: api, BaseURL: url, APIKey: key, IdleTimeout: idle, FirstTimeout: 10 * idle,
						Price: &provider.Price{Input: 1, Output: 2},
					})
				},
			})
		})
	}
}
