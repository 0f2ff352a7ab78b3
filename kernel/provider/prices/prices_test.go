package prices

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/provider"
)

func TestLookup(t *testing.T) {
	table := Builtin()
	cases := []struct {
		kind, model string
		want        *provider.Price
	}{
		{"openai", "gpt-5-nano", &provider.Price{Input: 50, Output: 400}},
		{"openai", "gpt-5-nano-2025-08-07", &provider.Price{Input: 50, Output: 400}},
		{"openai", "gpt-4o-2024-05-13", &provider.Price{Input: 5000, Output: 15000}},
		{"anthropic", "claude-sonnet-4-20250514", &provider.Price{Input: 3000, Output: 15000}},
		{"anthropic", "claude-3-5-haiku-latest", &provider.Price{Input: 800, Output: 4000}},
		{"gemini", "models/gemini-2.0-flash-001", &provider.Price{Input: 100, Output: 400}},
		{"gemini", "gpt-5", nil},
		{"openai", "no-such-model", nil},
		{"ollama", "llama3", nil},
	}
	for _, c := range cases {
		got := table.Lookup(c.kind, c.model)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s/%s: %+v, want %+v", c.kind, c.model, got, c.want)
		}
	}
	if s := table.Source(); !strings.Contains(s, "2026") || !strings.Contains(s, "list prices") {
		t.Errorf("source %q has no date or no source", s)
	}
}

// A price is for prompts of some length; beyond it the cost is unknown rather
// than too low.
func TestLongPromptsHaveNoKnownCost(t *testing.T) {
	tariff := Builtin().Tariff("gemini", "gemini-2.5-pro")
	if cost, known := tariff.Cost(200_000, 1); !known || cost != 200_000*1250+10_000 {
		t.Errorf("200,000 tokens: %d, %v", cost, known)
	}
	if cost, known := tariff.Cost(200_001, 1); known || cost != 0 {
		t.Errorf("200,001 tokens: %d, %v, want unknown", cost, known)
	}
	if _, known := (Tariff{}).Cost(1, 1); known {
		t.Error("no price is known to be 0")
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.yaml")
	if table, err := Load(path); err != nil || table.Lookup("openai", "gpt-5") == nil {
		t.Fatalf("no file: %v", err)
	}
	own := "openai:\n  gpt-5: [1, 2]\n  gpt-4o: null\nmine:\n  \"a:b\": [0, 0]\n"
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if p := table.Lookup("openai", "gpt-5-2025-08-07"); p == nil || p.Input != 1000 || p.Output != 2000 {
		t.Errorf("own price: %+v", p)
	}
	if p := table.Lookup("openai", "gpt-4o"); p != nil {
		t.Errorf("null: %+v, want unknown", p)
	}
	if p := table.Lookup("mine", "a:b"); p == nil || *p != (provider.Price{}) {
		t.Errorf("free of charge: %+v, want a known price of 0", p)
	}
	if table.Lookup("gemini", "gemini-2.5-pro") == nil {
		t.Error("the built-in prices are gone")
	}
	if !strings.Contains(table.Source(), path) {
		t.Errorf("source %q does not name the file", table.Source())
	}
	if Builtin().Lookup("openai", "gpt-4o") == nil {
		t.Error("loading changed the built-in table")
	}
}

func TestLoadRefusesNonsense(t *testing.T) {
	for text, want := range map[string]string{
		"openai: 5":                       "want models",
		"openai: {m: 5}":                  "no price",
		"openai: {m: [1]}":                "no price",
		"openai: {m: [1, -2]}":            "no price",
		"openai: {m: [1, x]}":             "no price",
		"openai: {m: [.nan, 1]}":          "no price",
		"openai: {m: [1, 2, 0]}":          "no price",
		"openai: {m: [1, 2e9]}":           "no price",
		"openai: [":                       "read prices",
		`{"openai": {"m": [1, 2, 3, 4]}}`: "no price",
		`{"openai": {"m": {"input": 1}}}`: "no price",
		"- a\n- b\n":                      "read prices",
	} {
		path := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: %v, want an error with %q and the file", text, err, want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder was read as prices")
	}
}
