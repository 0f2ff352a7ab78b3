package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noema/kernel/internal/test/providertest"
	"noema/kernel/model/provider/modeltest"
)

// TestModelTest: a model that cannot be used is an error with its whole cause,
// one that can has a row for each check.
func TestModelTest(t *testing.T) {
	t.Parallel()
	server := providertest.New(providertest.Config{Answer: yes, Key: rightKey, Models: []string{"big"}})
	defer server.Close()
	c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+wrongKey)
	r := c.run(exitError, "model", "test", "openai/big")
	want(t, r.stderr, `noema: model "openai/big" cannot be used: provider unauthorized (HTTP 401)`, "check OPENAI_API_KEY")
	if r.stdout != "" || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("want one line of error, have:\n%s%s", r.stdout, r.stderr)
	}
	c.env[1] = "OPENAI_API_KEY=" + rightKey
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		t.Fatal(err)
	}
	want(t, c.run(exitError, "model", "test", "openai/tiny").stderr, "cannot be used", "The model 'tiny' does not exist")
	var rows []modeltest.Row
	if err := json.Unmarshal([]byte(c.run(0, "model", "test", "--json", "openai/big").stdout), &rows); err != nil || len(rows) != 11 {
		t.Errorf("%d rows, %v, want 11", len(rows), err)
	} else if rows[0].Usage.Unpriced == 0 {
		t.Error("a server of one's own has a price")
	}

	// What the user wrote down counts for that server too.
	if err := os.WriteFile(filepath.Join(c.home, "prices.yaml"), []byte("openai:\n  big: [1000, 2000]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rows = nil
	if err := json.Unmarshal([]byte(c.run(0, "model", "test", "--json", "openai/big").stdout), &rows); err != nil {
		t.Fatal(err)
	}
	if u := rows[0].Usage; u.Unpriced != 0 || u.Cost == 0 {
		t.Errorf("with an own price: %+v", u)
	}
}

// TestWrongModel: what is wrong with a model's name or options is said.
func TestWrongModel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t, "OPENAI_API_KEY="+wrongKey)
	for model, says := range map[string]string{
		"openai/x?apii=chat":         `model "openai/x": unknown option "apii", did you mean "api"?: the options are api, effort, thoughts, price_input, price_output`,
		"ollama/x?api=chat":          `model "ollama/x": unknown option "api": the options are context, keep_alive, effort, thoughts, price_input, price_output`,
		"openai/x?api=telnet":        `option "api": "telnet" is not among chat, responses`,
		"openai/x?price_input=1":     "price_input and price_output need each other",
		"gemini/x?price_input=-1":    `option "price_input": -1 is too small`,
		"scripted/x.yaml?seed=1":     `model "scripted/x.yaml": unknown option "seed": there are no options`,
		"local/models?max_tokens=-1": `option "max_tokens": -1 is too small: the minimum is 0`,
		"foo/x":                      `unknown model "foo/x": use one of sim, openai/NAME, anthropic/NAME`,
		"opnai/x":                    `unknown model "opnai/x", did you mean "openai"?: use one of`,
	} {
		want(t, c.run(exitUsage, "compare", "--limit", "1", "--methods", "direct", "--model", model).stderr, says)
		want(t, c.run(exitUsage, "model", "test", model).stderr, says)
	}
}
