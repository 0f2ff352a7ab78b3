package arithmetic

import "slices"

// Kind says what a fact does to what people have.
type Kind string

// The facts. Who, Whom, Thing, N and M are fields of [Fact]; [x] is how many of
// Thing x has.
const (
	Have  Kind = "have"  // [Who] = N
	Packs Kind = "packs" // [Who] + N × M: N packs of M
	Gain  Kind = "gain"  // [Who] + N
	Lose  Kind = "lose"  // [Who] - N
	Give  Kind = "give"  // [Who] - N and [Whom] + N
	Times Kind = "times" // [Who] = [Whom] × N
	More  Kind = "more"  // [Who] = [Whom] + N
	Fewer Kind = "fewer" // [Who] = [Whom] - N
	Half  Kind = "half"  // [Who] = [Whom] ÷ 2
	Sell  Kind = "sell"  // dollars of Who + [Who] × N, then [Who] is gone
	Work  Kind = "work"  // dollars of Who + N × M: N dollars an hour for M hours
	Buy   Kind = "buy"   // dollars of Who - N × M: N things at M dollars
	Ride  Kind = "ride"  // kilometres of Who + N × M: N kilometres per hour for M hours
	Noise Kind = "noise" // a sentence with the number N that matters to nothing
)

// The questions.
const (
	AskLeft     Kind = "left"     // [Who]
	AskTogether Kind = "together" // [Who] + [Whom], + [Third] if there is one
	AskDiff     Kind = "diff"     // [Who] - [Whom]
	AskSplit    Kind = "split"    // [Who] ÷ N
	AskMean     Kind = "mean"     // ([Who] + [Whom] + [Third]) ÷ 3, or of two ÷ 2
	AskSmall    Kind = "small"    // [Who] in the smaller unit: metres × 1000, cents × 100
)

// Things that are not items.
const (
	Dollars    = "dollars"
	Kilometres = "kilometres"
)

// Fact is one sentence of a story.
type Fact struct {
	Kind             Kind
	Who, Whom, Third string // people, see Names
	Thing            string // see Things; or Dollars or Kilometres
	N, M             string // decimals
}

// IsQuestion reports whether the kind is one of the questions.
func (k Kind) IsQuestion() bool {
	return slices.Contains([]Kind{AskLeft, AskTogether, AskDiff, AskSplit, AskMean, AskSmall}, k)
}
