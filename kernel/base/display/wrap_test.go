package display

import (
	"slices"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		want  []string
	}{
		{"one two three", 7, []string{"one two", "three"}},
		{"a\n\nb", 10, []string{"a", "", "b"}},
		{"  - kept", 20, []string{"  - kept"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"2024-03-01,ERROR,x y", 14, []string{"2024-03-01,", "ERROR,x y"}},
		{"日本語です", 4, []string{"日本", "語で", "す"}},
		{"\x1b[31mred", 20, []string{"␛[31mred"}},
		{"", 5, nil},
	} {
		got := Wrap(c.text, c.limit)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q at %d gives %q, want %q", c.text, c.limit, got, c.want)
		}
		for _, line := range got {
			if Width(line) > c.limit {
				t.Errorf("%q is wider than %d", line, c.limit)
			}
		}
	}
	if got := strings.Join(SideBySide([][]string{{"ab", "c"}, {"日", "d", "e"}}, 4), "\n"); got != "ab    日\nc     d\n      e" {
		t.Errorf("side by side:\n%s", got)
	}
}

// FuzzWrap loses no character but spaces, and no line is too wide.
func FuzzWrap(f *testing.F) {
	f.Add("a bc  d,e\tf", 3)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 2 + max(0, limit)%200
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		lines := Wrap(s, limit)
		for _, l := range lines {
			if Width(l) > limit {
				t.Errorf("%q is wider than %d", l, limit)
			}
		}
		if got, want := bare(strings.Join(lines, "")), bare(Visible(s)); got != want {
			t.Errorf("%q became %q", want, got)
		}
	})
}
