package modeltest

import (
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/exchange"
	"noema/kernel/model/provider/openai"
)

// What a server tells must be of the reply, and can be.
func TestLogprobsThatLie(t *testing.T) {
	for want, tokens := range map[string][]providertest.Token{
		`no: the tokens spell "noe", the reply is "noema"`:                                                                                       {{Text: "noe", Logprob: -1}},
		`no: the log probability of "noema" is 0.5, which is above 0`:                                                                            {{Text: "noema", Logprob: 0.5}},
		`no: provider rejected: the server ignores the request for log probabilities (ask for none, or use a model and a server that give them)`: nil,
		`yes: 2 tokens, -1.500 in sum, up to 1 likeliest at a place`: {
			{Text: "no", Logprob: -1, Top: []providertest.Token{{Text: "no", Logprob: -1}}}, {Text: "ema\n", Logprob: -0.5},
		},
	} {
		s := providertest.New(providertest.Config{Protocol: providertest.Chat, Answer: func(providertest.Ask) providertest.Answer {
			return providertest.Answer{Text: "noema", Tokens: tokens}
		}})
		t.Cleanup(s.Close)
		p, err := openai.New(exchange.Config{Model: "m", BaseURL: s.URL()}, openai.Options{})
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

// A token may end within a character; the reply then has U+FFFD in its place.
func TestReadable(t *testing.T) {
	for spelled, reply := range map[string]string{"a\xe2\x82": "a\uFFFD", "\xff\xfe b ": "\uFFFD\uFFFD b", "\u20ac": "\u20ac"} {
		if readable(spelled) != readable(reply) {
			t.Errorf("%q is not %q", spelled, reply)
		}
	}
	if readable("a\xff") == readable("a") {
		t.Error("a byte that the reply lacks goes unnoticed")
	}
}
