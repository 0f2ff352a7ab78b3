package report

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sergi/go-diff/diffmatchpatch"
)

func join(pieces []piece, without diffmatchpatch.Operation) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Type != without {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestWordsNameWhatChanged(t *testing.T) {
	pieces := diffWords("Rank the 10 items, best first.", "Rank the 12 items, worst first.")
	want := `[{Equal Rank the } {Delete 10} {Insert 12} {Equal  items, } {Delete best} {Insert worst} {Equal  first.}]`
	if got := fmt.Sprint(pieces); got != want {
		t.Errorf("pieces are %s, want %s", got, want)
	}
}

func TestWordsGiveBothTextsBack(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	vocabulary := []string{"a", "bb", " ", "  ", "\n", "é", "\u202e", ",", "日本", "x1", "\x00", "🙂"}
	text := func(n int) string {
		var b strings.Builder
		for range dice.IntN(n) {
			b.WriteString(vocabulary[dice.IntN(len(vocabulary))])
		}
		return b.String()
	}
	for range 500 {
		a, b := text(60), text(60)
		pieces := diffWords(a, b)
		if join(pieces, inserted) != a || join(pieces, deleted) != b {
			t.Fatalf("pieces of %q and %q do not join to them: %v", a, b, pieces)
		}
	}
}

func TestWordsOfManyDistinctdiffWords(t *testing.T) {
	var a strings.Builder
	for i := range 30000 { // beyond the surrogates, were they not passed over
		fmt.Fprintf(&a, "w%d ", i)
	}
	long := strings.Repeat(a.String(), 2)
	for _, text := range []string{a.String()[:100000], long} {
		pieces := diffWords(text, text+"end")
		if join(pieces, inserted) != text || join(pieces, deleted) != text+"end" {
			t.Error("the pieces of a long text do not join to it")
		}
	}
}

func TestHunksKeepALittleAround(t *testing.T) {
	same := strings.Repeat("same ", 50)
	got := hunks(diffWords(same+"old "+same, same+"new "+same), 10)
	if len(got) != 4 || got[0].Text != "…same same " || got[3].Text != " same same…" {
		t.Errorf("hunks are %q", got)
	}
	if got := hunks(diffWords(same, same), 10); len(got) != 0 {
		t.Errorf("hunks of equal texts are %q", got)
	}
}

// TestLongTexts: texts of which every word is another are compared within bounds,
// and long ones that differ in a few words still show those.
func TestLongTexts(t *testing.T) {
	noise := func(seed uint64, n int) string {
		random := rand.New(rand.NewPCG(seed, 1))
		b := make([]byte, n)
		for i := range b {
			b[i] = "!#$%&()*+,-./:;<=>?"[random.IntN(19)]
		}
		return string(b)
	}
	a, b := noise(1, 80_000), noise(2, 80_000)
	if p := diffWords(a, b); len(p) != 2 || p[0] != (piece{Type: deleted, Text: a}) || p[1] != (piece{Type: inserted, Text: b}) {
		t.Errorf("%d pieces", len(p))
	}
	long := strings.Repeat("one two three\n", 4000) + "the end"
	changed := strings.Replace(strings.Replace(long, "two", "2", 1), "the end", "the START", 1)
	var shown []piece
	for _, p := range diffWords(long, changed) {
		if p.Type != equal {
			shown = append(shown, p)
		}
	}
	if want := []piece{{Type: deleted, Text: "two"}, {Type: inserted, Text: "2"}, {Type: deleted, Text: "end"}, {Type: inserted, Text: "START"}}; !slices.Equal(shown, want) {
		t.Errorf("%q", shown)
	}
	for _, texts := range [][2]string{{long, changed}, {a + long, b + changed}, {long, ""}, {"", a + "\n" + long}} {
		var first, second strings.Builder
		for _, p := range diffWords(texts[0], texts[1]) {
			if p.Type != inserted {
				first.WriteString(p.Text)
			}
			if p.Type != deleted {
				second.WriteString(p.Text)
			}
		}
		if first.String() != texts[0] || second.String() != texts[1] {
			t.Errorf("the pieces of %.20q and %.20q give other texts", texts[0], texts[1])
		}
	}
}
