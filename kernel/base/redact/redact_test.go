package redact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// keys have every character that JSON and URLs treat in a way of their own.
var keys = []string{
	"sk-plain-0123456789", `quote"back\slash/and<&>`, "spaces and+plus%25", "snow☃man𝄞clef-key", "a.b*c(d)[e]{f}^$|?",
}

// spelt are ways in which a key may be written.
func spelt(t *testing.T, key string) map[string]string {
	t.Helper()
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw[1 : len(raw)-1])
	}
	var plain bytes.Buffer
	e := json.NewEncoder(&plain)
	e.SetEscapeHTML(false)
	if err := e.Encode(key); err != nil {
		t.Fatal(err)
	}
	var numbers, octets strings.Builder
	for _, c := range key {
		for _, u := range utf16.Encode([]rune{c}) {
			fmt.Fprintf(&numbers, `\u%04x`, u)
		}
	}
	for i := range len(key) {
		fmt.Fprintf(&octets, "%%%02X", key[i])
	}
	return map[string]string{
		"as it is": key, "JSON": quoted(key), "JSON without HTML": strings.TrimSpace(plain.String()[1 : plain.Len()-2]),
		"JSON in JSON": quoted(quoted(key)), "JSON thrice": quoted(quoted(quoted(key))),
		"JSON with escaped slashes": strings.ReplaceAll(quoted(key), "/", `\/`),
		"numbers":                   numbers.String(), "numbers in capitals": strings.ReplaceAll(strings.ToUpper(numbers.String()), "U", "u"),
		"numbers in JSON": quoted(numbers.String()),
		"query":           url.QueryEscape(key), "path": url.PathEscape(key), "query in a query": url.QueryEscape(url.QueryEscape(key)),
		"every octet": octets.String(), "small octets": strings.ToLower(octets.String()), "a query in JSON": quoted(url.QueryEscape(key)),
	}
}

func TestEverySpelling(t *testing.T) {
	r := New(keys)
	for _, key := range keys {
		for name, text := range spelt(t, key) {
			if got, want := r.Text("before "+text+" after"), "before "+Mark+" after"; got != want {
				t.Errorf("%q as %s: %q becomes %q", key, name, text, got)
			}
		}
	}
}

// TestOthersStay: texts without a key stay as they are, JSON stays JSON, and two
// people with different keys get the same.
func TestOthersStay(t *testing.T) {
	r := New(keys)
	for _, text := range []string{
		"", "a sk-plain-012345678 and more", `\u0073k-plain`, "100 % of it\\n", `{"a":"b\\c%20d+e"}`, "sk-PLAIN-0123456789",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	raw, err := json.Marshal(map[string]string{"a": keys[1], "b": keys[3]})
	if err != nil {
		t.Fatal(err)
	}
	if clean := r.Bytes(raw); !json.Valid(clean) || string(clean) != `{"a":"[redacted]","b":"[redacted]"}` {
		t.Errorf("JSON becomes %s", clean)
	}
	mine, yours := New([]string{"my-own-key-1"}), New([]string{"your-key-is-another"})
	if a, b := mine.Text("key my-own-key-1."), yours.Text("key your-key-is-another."); a != b {
		t.Errorf("%q and %q differ", a, b)
	}
	if New([]string{"short", ""}) != nil || (*Redactor)(nil).Text("x") != "x" {
		t.Error("short values are no keys")
	}
	if got := New([]string{"password", "password-of-mine"}).Text("password-of-mine"); got != Mark {
		t.Errorf("the longer of two keys: %q", got)
	}
}

func TestVariables(t *testing.T) {
	got := Variables([]string{"A_KEY=1", "B_TOKEN=2", "c_secret=3", "D=4", "KEYS=5", "HF=6"}, []string{"HF"})
	if want := []string{"1", "2", "3", "6"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestErrorsAndWriters(t *testing.T) {
	r := New(keys)
	err := r.Error(fmt.Errorf("open %s: %w", keys[0], fs.ErrNotExist))
	if err.Error() != "open [redacted]: file does not exist" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
	var out bytes.Buffer
	if n, err := fmt.Fprintf(r.Writer(&out), "key %s\n", keys[0]); err != nil || n != len(keys[0])+5 || out.String() != "key [redacted]\n" {
		t.Errorf("%d, %v, %q", n, err, out.String())
	}
}

func BenchmarkText(b *testing.B) {
	r := New(keys)
	for name, text := range map[string]string{
		"plain":   strings.Repeat("The answer follows from the two lines above. ", 45),
		"escaped": strings.Repeat("The answer is \\frac{1}{2} of 10 % and more. ", 45),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}
