package pack_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"noema/cache/packfile"
	"noema/kernel/lab/pack"
	"noema/kernel/result/record"
	"noema/kernel/session/builtin"
)

// TestCitedNumbers changes digits of the files that a paper reads.
func TestCitedNumbers(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	file, root := packed(t, small)
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	numbers, err := pack.Cite(t.Context(), builtin.Catalog{}, p)
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
	if byName["cafes/root"] != root || byName["cafes/method/anot/n"] != "5" || byName["cafes/pair/direct-minus-anot/p-corrected"] == "" || byName["cafes/method/anot/hits@1/low"] == "" {
		t.Errorf("numbers %v", numbers)
	}
	plain, err := pack.JSON(numbers)
	if err != nil {
		t.Fatal(err)
	}
	tex := pack.LaTeX(numbers)
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
		"a second number": {append(tex, `\def\anot{7}`...), `"\\def\\anot{7}" is not a line that noema cite writes`},
		"no numbers":      {[]byte("\n"), "defines no number"},
		"cut JSON":        {plain[:20], "unexpected end"},
	} {
		v, err := pack.Verify{Catalog: builtin.Catalog{}, Cited: c.file}.Do(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if v.OK != (c.says == "") || !v.OK && !strings.Contains(v.Failures[0].Wrong, c.says) {
			t.Errorf("%s: %+v", what, v)
		}
	}
}

// namesOf lists the names of the numbers of a pack.
func namesOf(t *testing.T, file string) (names []string) {
	t.Helper()
	p, err := packfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	numbers, err := pack.Cite(t.Context(), builtin.Catalog{}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		names = append(names, n.Name)
	}
	return names
}

// TestNamesAreStable holds the names that papers have in them. The golden file changes only
// if papers may break.
func TestNamesAreStable(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	raw, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	golden := strings.Fields(string(raw))
	lab := openLab(t)
	var runs []*record.Run
	for _, methods := range [][]string{{"direct", "anot"}, {"direct", "anot", "cot"}} {
		e := small
		e.Methods = methods
		r, err := lab.Run(e)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r.Run)
	}
	if got := namesOf(t, write(t, lab, runs[0])); !slices.Equal(got, golden) {
		t.Errorf("the names are not those of testdata/names.txt:\n%s", strings.Join(got, "\n"))
	}
	more, two := namesOf(t, write(t, lab, runs[1])), namesOf(t, write(t, lab, runs...))
	for _, name := range golden {
		if !slices.Contains(more, name) || !slices.Contains(two, name) {
			t.Errorf("%s is gone with another method (%v) or run (%v)", name, !slices.Contains(more, name), !slices.Contains(two, name))
		}
	}
}
