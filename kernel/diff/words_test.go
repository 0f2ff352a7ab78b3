package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func join(pieces []Piece, without Op) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Op != without {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestWordsNameWhatChanged(t *testing.T) {
	pieces := Words("Rank the 10 items, best first.", "Rank the 12 items, worst first.")
	want := `[{equal Rank the } {delete 10} {insert 12} {equal  items, } {delete best} {insert worst} {equal  first.}]`
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
		pieces := Words(a, b)
		if join(pieces, Insert) != a || join(pieces, Delete) != b {
			t.Fatalf("pieces of %q and %q do not join to them: %v", a, b, pieces)
		}
	}
}

func TestWordsOfManyDistinctWords(t *testing.T) {
	var a strings.Builder
	for i := range 30000 { // beyond the surrogates, were they not passed over
		fmt.Fprintf(&a, "w%d ", i)
	}
	long := strings.Repeat(a.String(), 2)
	for _, text := range []string{a.String()[:100000], long} {
		pieces := Words(text, text+"end")
		if join(pieces, Insert) != text || join(pieces, Delete) != text+"end" {
			t.Error("the pieces of a long text do not join to it")
		}
	}
}

func TestHunksKeepALittleAround(t *testing.T) {
	same := strings.Repeat("same ", 50)
	got := Hunks(Words(same+"old "+same, same+"new "+same), 10)
	if len(got) != 4 || got[0].Text != "…same same " || got[3].Text != " same same…" {
		t.Errorf("hunks are %q", got)
	}
	if got := Hunks(Words(same, same), 10); len(got) != 0 {
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
	if p := Words(a, b); len(p) != 2 || p[0] != (Piece{Delete, a}) || p[1] != (Piece{Insert, b}) {
		t.Errorf("%d pieces", len(p))
	}
	long := strings.Repeat("one two three\n", 4000) + "the end"
	changed := strings.Replace(strings.Replace(long, "two", "2", 1), "the end", "the START", 1)
	var shown []Piece
	for _, p := range Words(long, changed) {
		if p.Op != Equal {
			shown = append(shown, p)
		}
	}
	if want := []Piece{{Delete, "two"}, {Insert, "2"}, {Delete, "end"}, {Insert, "START"}}; !slices.Equal(shown, want) {
		t.Errorf("%q", shown)
	}
	for _, texts := range [][2]string{{long, changed}, {a + long, b + changed}, {long, ""}, {"", a + "\n" + long}} {
		var first, second strings.Builder
		for _, p := range Words(texts[0], texts[1]) {
			if p.Op != Insert {
				first.WriteString(p.Text)
			}
			if p.Op != Delete {
				second.WriteString(p.Text)
			}
		}
		if first.String() != texts[0] || second.String() != texts[1] {
			t.Errorf("the pieces of %.20q and %.20q give other texts", texts[0], texts[1])
		}
	}
}
