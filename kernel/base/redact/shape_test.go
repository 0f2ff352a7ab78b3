package redact_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"noema/kernel/base/redact"
)

// drawn is a text of n characters of an alphabet.
func drawn(r *rand.Rand, n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(b)
}

// TestShape: keys that are drawn as providers and services draw them are found wherever they
// stand, and what people write is not.
func TestShape(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	kinds := map[string]func() string{
		"openai":    func() string { return "sk-proj-" + drawn(r, 48, letters+"-_") },
		"old":       func() string { return "sk-" + drawn(r, 48, letters) },
		"anthropic": func() string { return "sk-ant-api03-" + drawn(r, 93, letters+"-_") },
		"openr":     func() string { return "sk-or-v1-" + drawn(r, 64, "0123456789abcdef") },
		"aws":       func() string { return "AKIA" + drawn(r, 16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") },
		"google":    func() string { return "AIza" + drawn(r, 35, letters+"-_") },
		"github":    func() string { return "ghp_" + drawn(r, 36, letters) },
		"hub":       func() string { return "hf_" + drawn(r, 34, letters) },
		"groq":      func() string { return "gsk_" + drawn(r, 52, letters) },
		"slack":     func() string { return "xoxb-" + drawn(r, 12, "0123456789") + "-" + drawn(r, 24, letters) },
		"ssh":       func() string { return "-----BEGIN OPENSSH PRIVATE KEY-----\n" + drawn(r, 70, letters+"+/") + "\n" },
		"assigned":  func() string { return "MY_API_KEY=" + drawn(r, 32, "0123456789abcdef") },
	}
	missed := 0
	for name, kind := range kinds {
		for range 200 {
			key := kind()
			for _, form := range []string{"%s", "key = \"%s\"\n", "# a comment\nX=%s\n", "{\"k\": \"%s\"}", "curl -H 'Authorization: Bearer %s' https://example.com"} {
				if _, found := redact.Shape(fmt.Appendf(nil, form, key)); !found {
					if missed++; missed < 5 {
						t.Logf("%s: not found: "+form, name, key)
					}
				}
			}
		}
	}
	if all := len(kinds) * 200 * 5; missed > all/200 { // what is drawn has hardly a digit now and then
		t.Errorf("%d of %d are missed", missed, all)
	}
	for _, text := range []string{
		"api_key = os.environ['OPENAI_API_KEY']", "OPENAI_API_KEY=sk-your-key-here-your-key-here-1234", "token = \"<paste your token>\"",
		"def secret_token_from_the_environment_of_the_user(): pass", "sk-learn==1.4.2", "risk-averse-policies-of-the-year-2024-and-2025",
		"max_tokens: 10000000000000000000000000000", "the task-specific-instructions-of-the-2nd-and-3rd-experiment", "sk-" + strings.Repeat("x", 40),
		"password: correct-horse-battery-staple-example",
	} {
		if line, found := redact.Shape([]byte(text)); found {
			t.Errorf("line %d of %q is taken for a key", line, text)
		}
	}
}
