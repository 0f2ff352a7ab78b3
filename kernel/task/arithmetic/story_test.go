package arithmetic_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"noema/kernel/task/arithmetic"
)

func ExampleReadStory() {
	s, err := arithmetic.ReadStory("Ana buys 3 boxes of 12 pencils each. She is 9 years old. Then she gives 5 pencils to Ben. How many pencils does Ana have now?")
	fmt.Println(s.Steps, s.Numbers, s.Unit, err)
	fmt.Println(s.Answer())
	// Output:
	// [{multiply {3 0} {12 0}} {subtract { 1} {5 0}}] [3 12 9 5] pencils <nil>
	// 31 <nil>
}

func TestReadStory(t *testing.T) {
	for text, want := range map[string]string{
		"Ben has saved $1,250.50. Later, he spends $0.25 on lunch. How many cents does Ben have now?":                                     "125025 cents",
		"Ana has twice as much money as Ben. How many dollars does Ana have now?":                                                         "error the story does not say how many dollars Ben has",
		"Ben has saved $8. Ana has twice as much money as Ben. How many dollars do Ana and Ben have on average?":                          "12 dollars",
		"Ana has 3 eggs. Ben has half as many eggs as Ana. If Ben spreads the eggs evenly over 0 baskets, how many go into each?":         "error division by zero",
		"Ana rides for 1.5 hours at 10 kilometres per hour. How many metres does Ana cover in all?":                                       "15000 metres",
		"Ana has 3 eggs. Ana has 4 cards. Ana finds 2 more eggs. How many cards do Ana and Ben have together?":                            "error how many cards Ben has",
		"Ana has 30 eggs. Ana sells all of the eggs for $0.50 each. Ana pays for 2 cards at $3 each. How many dollars does Ana have now?": "9 dollars",
		"Ana has 30 eggs. Ana sells all of the eggs for $0.50 each. How many eggs does Ana have now?":                                     "error how many eggs Ana has",
		"Ana has 30 eggs. Ben has 4 fewer eggs than Ana. Ana gives 3 eggs to Carla. How many eggs do Ana, Ben and Carla have on average?": "18.6666666667 eggs",
		"Ana has 30 eggs. How many eggs does Ana have now?":                                                                               "error nothing to compute",
		"She has 30 eggs. How many eggs does Ana have now?":                                                                               "error nobody",
		"Ana has 30 eggs.": "error no question",
		"How many eggs does Ana have now? Ana has 3 eggs.":  "error does not come last",
		"Zoe has 30 eggs. How many eggs does Zoe have now?": `error cannot read "Zoe has 30 eggs"`,
		"":          "error no question",
		"1.2.3?. .": "error cannot read",
		strings.Repeat("Ana has 30 eggs. ", 1000): "error bytes",
	} {
		s, err := arithmetic.ReadStory(text)
		got := ""
		if err == nil {
			got, err = s.Answer()
			got += " " + s.Unit
		}
		cause, bad := strings.CutPrefix(want, "error ")
		if bad && (err == nil || !strings.Contains(err.Error(), cause)) || !bad && (err != nil || got != want) {
			t.Errorf("%.80s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// Whatever is said is read as what it was: each way to say each fact, with
// every thing.
func TestRenderAndFactsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	counted := []arithmetic.Kind{arithmetic.Have, arithmetic.Packs, arithmetic.Gain, arithmetic.Lose, arithmetic.Give, arithmetic.Times, arithmetic.More, arithmetic.Fewer, arithmetic.Half, arithmetic.Sell, arithmetic.Buy}
	money := []arithmetic.Kind{arithmetic.Have, arithmetic.Work, arithmetic.Gain, arithmetic.Lose, arithmetic.Give, arithmetic.Times, arithmetic.More, arithmetic.Fewer}
	distance := []arithmetic.Kind{arithmetic.Ride, arithmetic.Gain, arithmetic.Times, arithmetic.More}
	questions := []arithmetic.Kind{arithmetic.AskLeft, arithmetic.AskTogether, arithmetic.AskDiff, arithmetic.AskSplit, arithmetic.AskMean}
	texts := map[string]bool{}
	for range 4000 {
		thing, kinds, asks := arithmetic.Things()[rng.IntN(len(arithmetic.Things()))], counted, questions
		switch rng.IntN(3) {
		case 0:
			thing, kinds, asks = arithmetic.Dollars, money, append(questions[:5:5], arithmetic.AskSmall)
		case 1:
			thing, kinds, asks = arithmetic.Kilometres, distance, append(questions[:5:5], arithmetic.AskSmall)
		}
		who := func() string { return arithmetic.Names()[rng.IntN(len(arithmetic.Names()))] }
		facts := []arithmetic.Fact{
			slots(arithmetic.Fact{Kind: kinds[rng.IntN(len(kinds))], Thing: thing}, who, rng), {Kind: arithmetic.Noise, Who: "Ana", N: "17"},
			slots(arithmetic.Fact{Kind: kinds[rng.IntN(len(kinds))], Thing: thing}, who, rng), slots(arithmetic.Fact{Kind: asks[rng.IntN(len(asks))], Thing: thing}, who, rng),
		}
		facts[2].Who = facts[0].Who // for the pronouns
		text, err := arithmetic.Render(facts, rng)
		if err != nil {
			t.Fatal(err)
		}
		got, err := arithmetic.Facts(arithmetic.Sentences(text))
		if err != nil {
			t.Fatal(err)
		}
		got[1].Who = "Ana" // a sentence need not name anybody
		if !reflect.DeepEqual(got, facts) {
			t.Fatalf("%s\nreads %+v\nwants %+v", text, got, facts)
		}
		texts[text] = true
	}
	if len(texts) < 3700 {
		t.Errorf("only %d different texts", len(texts))
	}
}

// slots fills those fields of a fact that its kind has.
func slots(f arithmetic.Fact, who func() string, rng *rand.Rand) arithmetic.Fact {
	number := func() string { return []string{"2", "3", "12.5", "1250", "0.75", "1234567"}[rng.IntN(6)] }
	f.Who = who()
	switch f.Kind {
	case arithmetic.Packs, arithmetic.Work, arithmetic.Ride, arithmetic.Buy:
		f.N, f.M = number(), number()
	case arithmetic.Give, arithmetic.Times, arithmetic.More, arithmetic.Fewer:
		f.N, f.Whom = number(), who()
	case arithmetic.Half, arithmetic.AskDiff:
		f.Whom = who()
	case arithmetic.AskTogether, arithmetic.AskMean:
		if f.Whom = who(); rng.IntN(2) == 0 {
			f.Third = who()
		}
	case arithmetic.Have, arithmetic.Gain, arithmetic.Lose, arithmetic.Sell, arithmetic.AskSplit:
		f.N = number()
	}
	return f
}

func TestRenderRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, facts := range [][]arithmetic.Fact{
		nil,
		{{Kind: arithmetic.Have, Who: "Ana", Thing: "eggs", N: "3"}},
		{{Kind: arithmetic.Sell, Who: "Ana", Thing: arithmetic.Kilometres, N: "3"}, {Kind: arithmetic.AskLeft, Who: "Ana", Thing: "eggs"}},
	} {
		if text, err := arithmetic.Render(facts, rng); err == nil {
			t.Errorf("%+v became %q", facts, text)
		}
	}
}

func TestStoryRefusesBrokenSteps(t *testing.T) {
	for _, s := range []arithmetic.Story{
		{},
		{Steps: []arithmetic.Step{{Op: arithmetic.Add, A: arithmetic.Operand{Step: 1}, B: arithmetic.Operand{Value: "1"}}}},
		{Steps: []arithmetic.Step{{Op: "power", A: arithmetic.Operand{Value: "1"}, B: arithmetic.Operand{Value: "1"}}}},
		{Steps: []arithmetic.Step{{Op: arithmetic.Add, A: arithmetic.Operand{Value: "x"}, B: arithmetic.Operand{Value: "1"}}}},
	} {
		if v, err := s.Value(); err == nil {
			t.Errorf("%+v is %v", s, v)
		}
	}
}

func FuzzReadStory(f *testing.F) {
	f.Add("Ana buys 3 boxes of 12 pencils each. She is 9 years old. How many pencils does Ana have now?")
	f.Add("Ben has saved $1,250.50. Later, he spends $0.25 on lunch. How many cents does Ben have now?")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := arithmetic.ReadStory(text)
		if err != nil {
			return
		}
		if _, err := s.Value(); err != nil && !strings.Contains(err.Error(), "division by zero") && !strings.Contains(err.Error(), "parse number") {
			t.Error(err)
		}
	})
}
