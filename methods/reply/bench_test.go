package reply_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// BenchmarkConclude reads replies of 4 KB: prose with numbers and formulas, and a statement of
// each kind behind it. 100,000 of them take 100,000 times what it reports; MB/s are of the text.
func BenchmarkConclude(b *testing.B) {
	prose := strings.Repeat("We have 12 boxes of 7 pears each, so there are 84 pears in all. Because $\\frac{1}{2}$ of them are ripe, 42 remain; what is said of option (C) is not so.\n", 27)[:4000]
	for _, w := range worlds() {
		b.Run(w.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			texts := make([]string, 64)
			for i := range texts {
				texts[i] = prose + "\n\nThe answer is " + w.draw(r).text + "."
			}
			b.SetBytes(int64(len(texts[0])))
			for i := 0; b.Loop(); i++ {
				reply.Conclude(texts[i%len(texts)], false, w.spec)
			}
		})
	}
	b.Run("without a statement", func(b *testing.B) {
		b.SetBytes(int64(len(prose)))
		for b.Loop() {
			reply.Conclude(prose, false, methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"A", "B", "C", "D"}})
		}
	})
}
