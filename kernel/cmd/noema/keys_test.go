package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/internal/test/providertest"
)

// TestEchoedKeys: a server that echoes the user's keys, in any spelling, leaves
// none in the record, on the screen or in an export, and two people with
// different keys have the same root hash.
func TestEchoedKeys(t *testing.T) {
	t.Parallel()
	var echo atomic.Value
	server := providertest.New(providertest.Config{Answer: func(providertest.Ask) providertest.Answer {
		return providertest.Answer{Text: echo.Load().(string)}
	}})
	defer server.Close()
	var roots []string
	for _, keys := range [][2]string{{"open/sesame-0123456789", "from+the file"}, {"another-key-altogether", "a \"quoted\" one/with\\more"}} {
		c := newCLI(t, "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY="+keys[0])
		c.write(".env", "OPENAI_API_KEY=shadowed-by-the-environment\nDATABASE_SECRET='"+keys[1]+"'\n")
		c.write("quiz.jsonl", quiz(2))
		var told []string
		for _, key := range append(keys[:], "shadowed-by-the-environment") {
			quoted, err := json.Marshal(key)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := json.Marshal(string(quoted))
			if err != nil {
				t.Fatal(err)
			}
			inner := func(raw []byte, n int) string { return string(raw[n : len(raw)-n]) }
			told = append(told, key, inner(quoted, 1), inner(twice, 3), url.QueryEscape(key), url.PathEscape(key))
			for _, text := range [][]byte{[]byte(key), []byte("Bearer " + key), []byte("user:" + key)} {
				encoded := base64.StdEncoding.EncodeToString(text)
				told = append(told, encoded, url.QueryEscape(encoded), base64.RawURLEncoding.EncodeToString(text), hex.EncodeToString([]byte(key)), strings.ToUpper(hex.EncodeToString([]byte(key))))
			}
		}
		echo.Store(strings.Join(told, " | "))
		r := c.run(0, "compare", "--task", "quiz.jsonl", "--model", "openai/tiny", "--methods", "cot", "--retries", "0")
		roots = append(roots, rootOf(r.stdout))
		shown := r.stdout + r.stderr
		keyless := c.at(c.home) // who has no keys sees what the store holds
		keyless.env, keyless.dir = nil, t.TempDir()
		stored := keyless.run(0, "runs", "show", "last", "--trial", "cot/q1").stdout + keyless.run(0, "runs", "export", "last", "--rows", "calls").stdout
		if !strings.Contains(stored, "[redacted] | ") {
			t.Errorf("the store holds:\n%s", stored)
		}
		shown += stored
		for _, args := range [][]string{
			{"runs", "show", "last", "--trial", "cot/q1"}, {"runs", "show", "last", "--trial", "cot/q1", "--json"},
			{"runs", "export", "last", "--rows", "calls"}, {"runs", "export", "last", "--format", "evallog"}, {"replay", "last"},
		} {
			r := c.run(0, args...)
			shown += r.stdout + r.stderr
		}
		for _, text := range told {
			if strings.Contains(shown, text) {
				t.Errorf("%q was shown", text)
			}
		}
		if !strings.Contains(shown, "[redacted] | [redacted]") || !strings.Contains(r.stderr, "held one of your keys") {
			t.Errorf("nothing tells that keys were taken out:\n%s", r.stderr)
		}
	}
	if roots[0] == "" || roots[0] != roots[1] {
		t.Errorf("root hashes %q", roots)
	}
}
