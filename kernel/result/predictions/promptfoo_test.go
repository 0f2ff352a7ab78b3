package predictions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRealPromptfoo reads what promptfoo 0.121.20 wrote: three tests, twice each, with two
// providers of one id, of which one answers the second test wrongly and both fail at the third.
func TestRealPromptfoo(t *testing.T) {
	const ask1, ask2, ask3 = ` "{\"q\":\"1+1?\"}"`, ` "{\"q\":\"3+3?\"}"`, ` "{\"q\":\"boom\"}"`
	said := func(method, model string, right string) string {
		var b strings.Builder
		b.WriteString("output of promptfoo|" + method + "|" + model + "|\n")
		for _, epoch := range []string{"/1", "/2"} {
			b.WriteString("0" + epoch + ask1 + " pass=1 score=1 6+3\n2" + epoch + ask2 + " pass=" + right + " right=" + right + " score=" + right + " 6+3\n4" + epoch + ask3 + " the provider died0+0\n")
		}
		return b.String()
	}
	for _, c := range []struct {
		file, from, to string // what is replaced
		want           []string
	}{
		{"promptfoo.json", "", "", []string{said("short", "plain", "1"), said("short", "loud", "0")}},
		{"promptfoo.jsonl", "", "", []string{said("short", "plain", "1"), said("short", "loud", "0")}},
		{"promptfoo.jsonl", `"label":"loud"`, `"label":"plain"`, []string{said("short", "plain", "1"), said("short (2)", "plain", "0")}},
		{"promptfoo.jsonl", `,"label":"plain"}`, `}`, []string{said("short", "file://prov.py", "1"), said("short", "loud", "0")}},
	} {
		raw, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range []string{"", "\ufeff"} {
			text := string(raw)
			if c.from != "" {
				if text = strings.ReplaceAll(text, c.from, c.to); text == string(raw) {
					t.Fatalf("%s lacks %s", c.file, c.from)
				}
			}
			all, err := ReadResults(t.Context(), folder(t, c.file, mark+text)+"/"+c.file, nil)
			if err != nil || len(all) != 2 {
				t.Fatalf("%s: %d, %v", c.file, len(all), err)
			}
			got := sortedResults(all)
			for _, want := range c.want {
				if !strings.Contains(got, sortedLines(want)) {
					t.Errorf("%s, %s to %s:\n%s\nlacks\n%s", c.file, c.from, c.to, got, sortedLines(want))
				}
			}
		}
	}
	for _, file := range []string{"promptfoo.json", "promptfoo.jsonl"} {
		path := filepath.Join("testdata", file)
		if _, err := Read(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "short · plain and short · loud") && !strings.Contains(err.Error(), "short · loud and short · plain") {
			t.Errorf("%s: %v", file, err)
		}
		if _, err := Read(t.Context(), path, Options{Filter: "short · quiet"}); err == nil || !strings.Contains(err.Error(), `no prompt and provider "short · quiet"`) {
			t.Errorf("%s: %v", file, err)
		}
		f, err := Read(t.Context(), path, Options{Filter: "short · loud"})
		if err != nil || len(f.All) != 6 || f.Epochs() != 2 || f.Model != "loud" {
			t.Fatalf("%s: %+v, %v", file, f, err)
		}
		values := map[string]string{}
		for _, p := range f.All {
			values[p.ID] = string(p.Value) + p.Failure
		}
		if values["0"] != `"2"` || values["2"] != `"7"` || values["4"] != "the provider died" {
			t.Errorf("%s: %v", file, values)
		}
	}
}

// sortedLines is a text with the lines behind the first in order.
func sortedLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines[1:])
	return strings.Join(lines, "\n")
}

// sortedResults is what files say, each with its results in order.
func sortedResults(all []*File) string {
	var parts []string
	for _, f := range all {
		parts = append(parts, sortedLines(scored([]*File{f})))
	}
	return strings.Join(parts, "\n\n")
}
