package score

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// markedText is a text of a few words, of which some have marks that tell texts apart, and the
// places of these marks.
func markedText(random *rand.Rand) (text string, marks []int) {
	run := func(from string) string {
		var b strings.Builder
		for range 1 + random.IntN(3) {
			b.WriteByte(from[random.IntN(len(from))])
		}
		return b.String()
	}
	const digits, letters = "123456789", "bcdxyz"
	var b strings.Builder
	mark := func(from string) {
		marks = append(marks, b.Len())
		b.WriteByte(from[random.IntN(len(from))])
	}
	for i := range 1 + random.IntN(3) {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch random.IntN(4) {
		case 0: // -24, 1.5, 3/4, 10%, $5
			if random.IntN(2) == 0 {
				mark("-+$")
			}
			b.WriteString(run(digits))
			if random.IntN(2) == 0 {
				mark("./-")
				b.WriteString(run(digits))
			}
			if random.IntN(2) == 0 {
				mark("%")
			}
		case 1: // C++, x-y, b#
			b.WriteString(run(letters))
			if random.IntN(2) == 0 {
				mark("-/+&@")
				b.WriteString(run(letters))
			}
			if random.IntN(2) == 0 {
				mark("+#")
			}
		case 2: // an expression
			b.WriteString(run(digits) + " ")
			mark("-+*/=<")
			b.WriteString(" " + run(digits))
		default:
			b.WriteString(run(letters))
		}
	}
	return b.String(), marks
}

// disguised is the text with other case, articles and marks around its words.
func disguised(random *rand.Rand, text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		if random.IntN(2) == 0 {
			w = strings.ToUpper(w)
		}
		if strings.ContainsAny(w, "0123456789bcdxyzBCDXYZ") { // not an operator by itself
			pair := [][2]string{{"", ""}, {"(", ")"}, {`"`, `"`}, {"“", "”"}, {"‘", "’"}, {"[", "]"}, {"", "."}, {"", ","}, {"", "!"}, {"", "?"}, {"¿", "?"}, {"", ";"}}[random.IntN(12)]
			w = pair[0] + w + pair[1]
		}
		if random.IntN(4) == 0 && !strings.ContainsAny(w[:1], "%") {
			w = []string{"the ", "A ", "an  "}[random.IntN(3)] + w
		}
		words[i] = w
	}
	out := strings.Join(words, [...]string{" ", "  ", "\n"}[random.IntN(3)])
	if random.IntN(5) == 0 {
		out = "**" + out + "**"
	}
	return out
}

// TestNormalizeKeepsWhatDistinguishes: over generated texts, two that differ in a mark are never
// equal, and two that differ in case, articles and what stands around words are.
func TestNormalizeKeepsWhatDistinguishes(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 24))
	for range 20_000 {
		text, marks := markedText(random)
		if same := disguised(random, text); Normalize(same) != Normalize(text) {
			t.Fatalf("%q and %q differ: %q, %q", text, same, Normalize(text), Normalize(same))
		}
		if len(marks) == 0 {
			continue
		}
		at := marks[random.IntN(len(marks))]
		other := text[:at] + text[at+1:]
		if random.IntN(2) == 0 {
			other = text[:at] + "~" + text[at+1:]
		}
		if Normalize(other) == Normalize(text) {
			t.Fatalf("%q and %q are both %q", text, other, Normalize(text))
		}
	}
	for i, target := range strings.Split("-24 1.5 3/4 C++ 10% U.S. 1,000 10 % 1990–95 - 24", " ") {
		if i < 5 && Normalize(target) == Normalize([]string{"24", "15", "34", "C", "10"}[i]) {
			t.Errorf("%q is its digits", target)
		}
	}
	for _, same := range [][2]string{{"U.S.", "us"}, {"1,000", "1000"}, {"10 %", "10%"}, {"1990–95", "1990-95"}, {"−24", "-24"}, {"- 24", "-24"}, {"- Paris", "Paris"}, {"O’Brien's", "obriens"}, {"(.5)", ".5"}} {
		if Normalize(same[0]) != Normalize(same[1]) {
			t.Errorf("%s", fmt.Sprintf("%q is %q, %q is %q", same[0], Normalize(same[0]), same[1], Normalize(same[1])))
		}
	}
}
