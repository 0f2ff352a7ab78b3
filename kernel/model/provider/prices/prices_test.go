package prices

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"noema/kernel/model/provider"
	"noema/methods"
)

// price is in nano-dollars a token: input, output, cached input, cache write.
func price(input, output methods.NanoUSD, cache ...methods.NanoUSD) *provider.Price {
	p := &provider.Price{Input: input, Output: output}
	if len(cache) > 0 {
		p.CachedInput = &cache[0]
	}
	if len(cache) > 1 {
		p.CacheWrite = &cache[1]
	}
	return p
}

func TestLookup(t *testing.T) {
	table := Builtin()
	cases := []struct {
		kind, model string
		want        *provider.Price
	}{
		{"openai", "gpt-5-nano", price(50, 400, 5)},
		{"openai", "gpt-5-nano-2025-08-07", price(50, 400, 5)},
		{"openai", "gpt-4o-2024-05-13", price(5000, 15000)},
		{"anthropic", "claude-sonnet-4-20250514", price(3000, 15000, 300, 3750)},
		{"anthropic", "claude-3-5-haiku-latest", price(800, 4000, 80, 1000)},
		{"gemini", "models/gemini-2.0-flash-001", price(100, 400, 25)},
		{"gemini", "gpt-5", nil},
		{"openai", "no-such-model", nil},
		{"ollama", "llama3", nil},
	}
	for _, c := range cases {
		got := table.Tariff(c.kind, c.model).Price
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s/%s: %+v, want %+v", c.kind, c.model, got, c.want)
		}
	}
}

// A price is for prompts of some length; beyond it the cost is unknown rather
// than too low.
func TestLongPromptsHaveNoKnownCost(t *testing.T) {
	tariff := Builtin().Tariff("gemini", "gemini-2.5-pro")
	if cost, known := tariff.Cost(methods.Usage{InputTokens: 200_000, OutputTokens: 1}); !known || cost != 200_000*1250+10_000 {
		t.Errorf("200,000 tokens: %d, %v", cost, known)
	}
	if cost, known := tariff.Cost(methods.Usage{InputTokens: 200_001, OutputTokens: 1}); known || cost != 0 {
		t.Errorf("200,001 tokens: %d, %v, want unknown", cost, known)
	}
	if _, known := (Tariff{}).Cost(methods.Usage{InputTokens: 1, OutputTokens: 1}); known {
		t.Error("no price is known to be 0")
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if table, err := Load(path, []string{"openai", "ollama"}); err != nil || table.Tariff("openai", "gpt-5").Price == nil {
		t.Fatalf("no file: %v", err)
	}
	own := "openai:\n  gpt-5: [1, 2]\n  gpt-4o: null\nollama:\n  \"a:b\": [0, 0]\n  c: {input: 4, output: 8, cached_input: 0, cache_write: 5, longest: 1000}\n"
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Load(path, []string{"openai", "ollama"})
	if err != nil {
		t.Fatal(err)
	}
	if p := table.Tariff("openai", "gpt-5-2025-08-07").Price; p == nil || p.Input != 1000 || p.Output != 2000 {
		t.Errorf("own price: %+v", p)
	}
	if p := table.Tariff("openai", "gpt-4o").Price; p != nil {
		t.Errorf("null: %+v, want unknown", p)
	}
	if p := table.Tariff("ollama", "a:b").Price; p == nil || *p != (provider.Price{}) {
		t.Errorf("free of charge: %+v, want a known price of 0", p)
	}
	if own := table.Tariff("ollama", "c"); !reflect.DeepEqual(own, Tariff{Price: price(4000, 8000, 0, 5000), UpTo: 1000}) {
		t.Errorf("by name: %+v", own)
	}
	for model, at := range map[string]string{"gpt-5": "http://own", "gpt-5-2025-08-07": "http://own", "gpt-5-nano": ""} {
		if table.At("openai", at, model).Price == nil {
			t.Errorf("%s at %q has no price", model, at)
		}
	}
	if p := table.At("openai", "http://own", "gpt-5-nano").Price; p != nil {
		t.Errorf("another server charges the list price: %+v", p)
	}
	if p := Builtin().At("openai", "http://own", "gpt-5").Price; p != nil {
		t.Errorf("another server, and no prices of one's own: %+v", p)
	}
	if table.Tariff("gemini", "gemini-2.5-pro").Price == nil {
		t.Error("the built-in prices are gone")
	}
	if Builtin().Tariff("openai", "gpt-4o").Price == nil {
		t.Error("loading changed the built-in table")
	}
}

func TestLoadRefusesNonsense(t *testing.T) {
	for text, want := range map[string]string{
		"openai: {m: [1, 2]}\nopenia: {}": `line 2: unknown provider "openia", did you mean "openai"?: the providers with prices are openai, ollama`,
		"openai: 5":                       "want models",
		"openai: {m: 5}":                  "is not a price",
		"openai: {m: [1]}":                "is not a price",
		"openai: {m: [1, -2]}":            "out of range",
		"openai: {m: [1, x]}":             "out of range",
		"openai: {m: [.nan, 1]}":          "out of range",
		"openai: {m: [1, 2, 0]}":          "out of range",
		"openai: {m: [1, 2e9]}":           "out of range",
		"openai: [":                       "read prices",
		`{"openai": {"m": [1, 2, 3, 4]}}`: "is not a price",
		`{"openai": {"m": {"input": 1}}}`: "is not a price",

		"openai: {m: {input: 1, output: 2, cached: 3}}":        `unknown name "cached"`,
		"openai: {m: {input: 1, output: 2, cached_input: -3}}": "cached_input: -3 is out of range",
		"openai: {m: {input: 1, output: 2, longest: 0.5}}":     "longest: 0.5 is out of range",
		"- a\n- b\n": "read prices",
	} {
		path := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path, []string{"openai", "ollama"}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want an error with %q and the file", text, err, want)
		}
	}
	if _, err := Load(t.TempDir(), nil); err == nil {
		t.Error("a folder was read as prices")
	}
}
