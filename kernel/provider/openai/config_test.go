package openai

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	cases := map[string]struct {
		config   Config
		endpoint string
		fails    string
	}{
		"default":         {config: Config{Model: "m", APIKey: "k"}},
		"default spelled": {config: Config{Model: "m", APIKey: "k", BaseURL: "HTTPS://API.OpenAI.com:443/v1/"}},
		"other server":    {config: Config{Model: "m", BaseURL: " http://LOCALHOST:8000//v1/ "}, endpoint: "http://localhost:8000/v1"},
		"credentials":     {config: Config{Model: "m", BaseURL: "https://u:p@host/v1?api-version=1#x"}, endpoint: "https://host/v1"},
		"no key":          {config: Config{Model: "m", APIKey: " \n"}, fails: "OPENAI_API_KEY"},
		"no model":        {config: Config{APIKey: "k"}, fails: "no model"},
		"no scheme":       {config: Config{Model: "m", BaseURL: "localhost:8000/v1"}, fails: "OPENAI_BASE_URL"},
		"no host":         {config: Config{Model: "m", BaseURL: "http:///v1"}, fails: "OPENAI_BASE_URL"},
		"not a URL":       {config: Config{Model: "m", BaseURL: "http://u:secret@[::1"}, fails: "OPENAI_BASE_URL"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := New(c.config)
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
	for want, c := range map[string]Config{
		"openai/m":                          {},
		"openai/m?api=responses&effort=low": {API: Responses, Effort: "low"},
	} {
		c.Model, c.APIKey = "m", "k"
		p, err := New(c)
		if err != nil || p.Info().ID.String() != want {
			t.Errorf("%v (%v), want %s", p.Info().ID, err, want)
		}
	}
	if _, err := New(Config{Model: "m", APIKey: "k", API: "telnet"}); err == nil {
		t.Error("an unknown API was taken")
	}
}

func TestOnlyTheDefaultEndpointHasListPrices(t *testing.T) {
	known, err := New(Config{Model: "gpt-5-nano-2025-08-07", APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	if known.tariff.Price == nil || known.tariff.Price.Input != 50 || known.tariff.Price.Output != 400 {
		t.Errorf("price %+v, want 50 and 400 nano-dollars a token", known.tariff.Price)
	}
	elsewhere, err := New(Config{Model: "gpt-5-nano", BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
	if elsewhere.tariff.Price != nil {
		t.Errorf("a server of one's own costs %+v", elsewhere.tariff.Price)
	}
	unknown, err := New(Config{Model: "no-such-model", APIKey: "k"})
	if err != nil || unknown.tariff.Price != nil {
		t.Errorf("an unknown model has a price (%v)", err)
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
