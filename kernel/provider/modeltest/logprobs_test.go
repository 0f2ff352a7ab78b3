package modeltest

import (
	"testing"

	"noema/kernel/provider/openai"
	"noema/kernel/provider/providertest"
)

// What a server tells must be of the reply, and can be.
func TestLogprobsThatLie(t *testing.T) {
	for want, tokens := range map[string][]providertest.Token{
		`no: the tokens spell "noe", the reply is "noema"`:             {{Text: "noe", Logprob: -1}},
		`no: the log probability of "noema" is 0.5, which none can be`: {{Text: "noema", Logprob: 0.5}},
		`no: the server ignores that log probabilities are asked for`:  nil,
		`yes: 2 tokens, -1.500 in sum, up to 1 likeliest at a place`: {
			{Text: "no", Logprob: -1, Top: []providertest.Token{{Text: "no", Logprob: -1}}}, {Text: "ema\n", Logprob: -0.5},
		},
	} {
		s := providertest.New(providertest.Config{Protocol: providertest.Chat, Answer: func(providertest.Ask) providertest.Answer {
			return providertest.Answer{Text: "noema", Tokens: tokens}
		}})
		t.Cleanup(s.Close)
		p, err := openai.New(openai.Config{Model: "m", BaseURL: s.URL()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.CloseIdleConnections)
		outcome, detail := logprobs(&tester{ctx: t.Context(), model: p})
		if got := string(outcome) + ": " + detail; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
