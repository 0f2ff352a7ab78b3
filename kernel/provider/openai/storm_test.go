package openai_test

import (
	"testing"
	"time"

	"noema/kernel/provider/openai"
	"noema/kernel/provider/providertest"
)

// Requests through the real gateway at a server that fails in every way.
func TestStorm(t *testing.T) {
	requests := map[openai.API]int{openai.Chat: 2000, openai.Responses: 500}
	for api, protocol := range map[openai.API]providertest.Protocol{
		openai.Chat: providertest.Chat, openai.Responses: providertest.Responses,
	} {
		t.Run(string(api), func(t *testing.T) {
			providertest.Storm(t, providertest.StormConfig{
				Protocol: protocol, Requests: requests[api],
				Open: func(url string, patience time.Duration) (providertest.Provider, error) {
					return openai.New(openai.Config{
						Model: "m", API: api, BaseURL: url, APIKey: "k", IdleTimeout: patience, FirstTimeout: patience,
					})
				},
			})
		})
	}
}
