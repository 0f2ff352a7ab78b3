package study_test

import (
	"bytes"
	"strings"
	"testing"

	"noema/cache/pack"
	"noema/kernel/builtin"
	"noema/kernel/study"
)

// TestCitedNumbers changes digits of the files that a paper reads.
func TestCitedNumbers(t *testing.T) {
	t.Parallel()
	file, root := packed(t, small)
	p, err := pack.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	numbers, err := study.Cite(t.Context(), builtin.Catalog{}, p)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, n := range numbers {
		if _, twice := byName[n.Name]; twice || strings.ContainsAny(n.Name, " %#&_{}\\") {
			t.Errorf("name %q", n.Name)
		}
		byName[n.Name] = n.Text
	}
	if byName["cafes/root"] != root || byName["cafes/method/anot/n"] != "5" || byName["cafes/pair/direct-minus-anot/p-holm"] == "" || byName["cafes/method/anot/hits@1/low"] == "" {
		t.Errorf("numbers %v", numbers)
	}
	plain, err := study.JSON(numbers)
	if err != nil {
		t.Fatal(err)
	}
	tex := study.LaTeX(numbers)
	old, now := "{cafes/method/anot/n}{5}", "{cafes/method/anot/n}{6}"
	old, now = strings.Replace(old, "{cafes", "{noema@cafes", 1), strings.Replace(now, "{cafes", "{noema@cafes", 1)
	for what, c := range map[string]struct {
		file []byte
		says string // empty if all is right
	}{
		"LaTeX":           {tex, ""},
		"JSON":            {plain, ""},
		"LaTeX changed":   {bytes.Replace(tex, []byte(old), []byte(now), 1), "cafes/method/anot/n is 6, and computed again 5"},
		"JSON changed":    {bytes.Replace(plain, []byte(`/anot/n": "5"`), []byte(`/anot/n": "6"`), 1), "cafes/method/anot/n is 6, and computed again 5"},
		"an unknown name": {bytes.Replace(tex, []byte("cafes/seed"), []byte("cafes/luck"), 1), `no number "cafes/luck"`},
		"no numbers":      {[]byte("\\documentclass{article}"), "defines no number"},
		"cut JSON":        {plain[:20], "unexpected end"},
	} {
		v, err := study.Verify{Catalog: builtin.Catalog{}, Cited: c.file}.Do(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if v.OK != (c.says == "") || !v.OK && !strings.Contains(v.Failures[0].Wrong, c.says) {
			t.Errorf("%s: %+v", what, v)
		}
	}
}
