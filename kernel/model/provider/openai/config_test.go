package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/kernel/model/provider/exchange"
	"noema/methods"
)

func TestNew(t *testing.T) {
	cases := map[string]struct {
		config   exchange.Config
		endpoint string
		fails    string
	}{
		"default":         {config: exchange.Config{Model: "m", APIKey: "k"}},
		"default spelled": {config: exchange.Config{Model: "m", APIKey: "k", BaseURL: "HTTPS://API.OpenAI.com:443/v1/"}},
		"other server":    {config: exchange.Config{Model: "m", BaseURL: " http://LOCALHOST:8000//v1/ "}, endpoint: "http://localhost:8000/v1"},
		"credentials":     {config: exchange.Config{Model: "m", BaseURL: "https://u:p@host/v1?api-version=1#x"}, endpoint: "https://host/v1"},
		"no key":          {config: exchange.Config{Model: "m", APIKey: " \n"}, fails: "OPENAI_API_KEY"},
		"no model":        {config: exchange.Config{APIKey: "k"}, fails: "no model"},
		"no scheme":       {config: exchange.Config{Model: "m", BaseURL: "localhost:8000/v1"}, fails: "OPENAI_BASE_URL"},
		"no host":         {config: exchange.Config{Model: "m", BaseURL: "http:///v1"}, fails: "OPENAI_BASE_URL"},
		"not a URL":       {config: exchange.Config{Model: "m", BaseURL: "http://u:secret@[::1"}, fails: "OPENAI_BASE_URL"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := New(c.config, Options{})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v, want an error that names %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Info().ID.Endpoint; got != c.endpoint {
				t.Errorf("endpoint %q, want %q", got, c.endpoint)
			}
		})
	}
}

func TestIdentityNamesWhatChangesAnswers(t *testing.T) {
	for want, o := range map[string]Options{
		"openai/m":                          {},
		"openai/m?api=responses&effort=low": {API: Responses, Options: exchange.Options{Effort: "low"}},
	} {
		p, err := New(exchange.Config{Model: "m", APIKey: "k"}, o)
		if err != nil || p.Info().ID.String() != want {
			t.Errorf("%v (%v), want %s", p.Info().ID, err, want)
		}
	}
	if err := methods.ParseOptions(map[string]string{"api": "telnet"}, &Options{}); err == nil {
		t.Error("an unknown API was taken")
	}
}

func TestQualifiesForStrict(t *testing.T) {
	cases := map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                    true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                 false,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"required":["a"],"additionalProperties":false}`:                                             false,
		`{"type":"array","items":{"type":"integer"}}`:                                                                                                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`:                           false,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`:                        true,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"],"additionalProperties":false}`:                                        false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"type":"object","properties":{}}}}`: false,
		`{"type":"object","properties":{"not":{"type":"string"}},"required":["not"],"additionalProperties":false}`:                                                true,
		`nonsense`: false,
	}
	for schema, want := range cases {
		if got := qualifiesForStrict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: %v, want %v", schema, got, want)
		}
	}
}
