package arithmetic

import (
	"math/rand/v2"
	"slices"
	"strconv"

	"noema/methods"
	"noema/methods/decimal"
)

// draw is the random choices of one story.
type draw struct {
	rng     *rand.Rand
	a, b, c string // three people
	thing   string
	other   string // another thing
}

func newDraw(rng *rand.Rand) *draw {
	names, things := Names(), Things()
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	rng.Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
	return &draw{rng, names[0], names[1], names[2], things[0], things[1]}
}

// n is a whole number within bounds.
func (d *draw) n(low, high int) string { return strconv.Itoa(low + d.rng.IntN(high-low+1)) }

// part is a multiple of 1/steps within bounds, which are whole, and above 0.
func (d *draw) part(low, high, steps int) string {
	k := max(1, low*steps+d.rng.IntN((high-low)*steps+1))
	r := methods.Must(decimal.Parse(strconv.Itoa(k))) // digits always parse
	text, _ := decimal.Format(r.Quo(r, intRat(steps)))
	return text
}

func (d *draw) either(a, b Kind) Kind {
	if d.rng.IntN(2) == 0 {
		return a
	}
	return b
}

// distract puts sentences that do not matter among the facts and returns how
// many. With a division to come, from level 3, one of them has a 0.
func (d *draw) distract(facts *[]Fact, level int, divides bool) int {
	l := limits[level]
	count := l.noiseLeast + d.rng.IntN(l.noiseMost-l.noiseLeast+1)
	for i := range count {
		f := Fact{Kind: Noise, Who: d.a, N: d.n(6, 60)}
		switch {
		case i == 0 && divides && level >= 3:
			f.N = "0"
		case d.rng.IntN(3) == 0:
			f = Fact{Kind: Have, Who: d.b, Thing: d.other, N: d.n(3, 60)}
		}
		*facts = slices.Insert(*facts, d.rng.IntN(len(*facts)), f)
	}
	return count
}

// plot draws the facts of a story, which may turn out to make no sense.
type plot func(*draw) []Fact

// plots are the stories of a level.
func plots(level int) []plot {
	return [levels + 1][]plot{
		1: {stock, packs, two, share, wage},
		2: {shrinking, double, baskets, wallet, stages},
		3: {trio, gift, average, halves},
		4: {sale, tour, jobs, shopping},
		5: {fair, savings, race},
	}[level]
}

// fact and ask keep the plots below short. The first arguments are people, n
// and m numbers.
func fact(kind Kind, who, whom, thing, n, m string) Fact {
	return Fact{Kind: kind, Who: who, Whom: whom, Thing: thing, N: n, M: m}
}

func ask(kind Kind, who, whom, third, thing, n string) Fact {
	return Fact{Kind: kind, Who: who, Whom: whom, Third: third, Thing: thing, N: n}
}

func stock(d *draw) []Fact {
	facts := []Fact{fact(Have, d.a, "", d.thing, d.n(20, 90), "")}
	for range 1 + d.rng.IntN(2) {
		facts = append(facts, fact(d.either(Gain, Lose), d.a, "", d.thing, d.n(3, 40), ""))
	}
	return append(facts, ask(AskLeft, d.a, "", "", d.thing, ""))
}

func packs(d *draw) []Fact {
	facts := []Fact{fact(Packs, d.a, "", d.thing, d.n(3, 15), d.n(4, 24))}
	if d.rng.IntN(2) == 0 {
		facts = append(facts, fact(Lose, d.a, "", d.thing, d.n(2, 30), ""))
	}
	return append(facts, ask(AskLeft, d.a, "", "", d.thing, ""))
}

func two(d *draw) []Fact {
	return []Fact{
		fact(Have, d.a, "", d.thing, d.n(20, 2500), ""), fact(Have, d.b, "", d.thing, d.n(5, 900), ""),
		ask(d.either(AskTogether, AskDiff), d.a, d.b, "", d.thing, ""),
	}
}

func share(d *draw) []Fact {
	return []Fact{
		fact(Have, d.a, "", d.thing, d.n(12, 200), ""), ask(AskSplit, d.a, "", "", d.thing, d.n(2, 12)),
	}
}

func wage(d *draw) []Fact {
	facts := []Fact{fact(Work, d.a, "", Dollars, d.n(9, 30), d.n(2, 9))}
	if d.rng.IntN(2) == 0 {
		facts = append(facts, fact(Lose, d.a, "", Dollars, d.n(3, 15), ""))
	}
	return append(facts, ask(AskLeft, d.a, "", "", Dollars, ""))
}

func shrinking(d *draw) []Fact {
	facts := append(packs(d)[:1], fact(Lose, d.a, "", d.thing, d.n(2, 40), ""))
	if d.rng.IntN(2) == 0 {
		facts = append(facts, fact(Gain, d.a, "", d.thing, d.n(2, 40), ""))
	}
	return append(facts, ask(AskLeft, d.a, "", "", d.thing, ""))
}

func double(d *draw) []Fact {
	facts := []Fact{
		fact(Have, d.a, "", d.thing, d.n(8, 60), ""), fact(Times, d.b, d.a, d.thing, d.n(2, 5), ""),
	}
	if d.rng.IntN(2) == 0 {
		facts = append(facts, fact(Lose, d.b, "", d.thing, d.n(3, 20), ""))
	}
	return append(facts, ask(d.either(AskTogether, AskDiff), d.b, d.a, "", d.thing, ""))
}

func baskets(d *draw) []Fact {
	return append(packs(d)[:1], fact(Lose, d.a, "", d.thing, d.n(2, 40), ""), ask(AskSplit, d.a, "", "", d.thing, d.n(2, 9)))
}

func wallet(d *draw) []Fact {
	return []Fact{
		fact(Have, d.a, "", Dollars, d.n(5, 60), ""), fact(Work, d.a, "", Dollars, d.n(9, 30), d.n(2, 9)),
		fact(Lose, d.a, "", Dollars, d.n(3, 40), ""), ask(AskLeft, d.a, "", "", Dollars, ""),
	}
}

func stages(d *draw) []Fact {
	return []Fact{
		fact(Ride, d.a, "", Kilometres, d.n(12, 30), d.n(2, 6)), fact(Gain, d.a, "", Kilometres, d.n(2, 12), ""),
		ask(AskSplit, d.a, "", "", Kilometres, d.n(2, 8)),
	}
}

func trio(d *draw) []Fact {
	return []Fact{
		packs(d)[0], fact(d.either(Times, More), d.b, d.a, d.thing, d.n(2, 6), ""),
		fact(d.either(More, Fewer), d.c, d.b, d.thing, d.n(3, 30), ""),
		ask(AskTogether, d.a, d.b, d.c, d.thing, ""),
	}
}

func gift(d *draw) []Fact {
	return []Fact{
		packs(d)[0], fact(Have, d.b, "", d.thing, d.n(5, 60), ""), fact(Give, d.a, d.b, d.thing, d.n(3, 20), ""),
		ask(AskDiff, d.a, d.b, "", d.thing, ""),
	}
}

func average(d *draw) []Fact {
	return []Fact{
		fact(Have, d.a, "", d.thing, d.n(8, 90), ""), fact(More, d.b, d.a, d.thing, d.n(2, 40), ""),
		fact(d.either(Times, Fewer), d.c, d.b, d.thing, d.n(2, 5), ""),
		ask(AskMean, d.a, d.b, d.c, d.thing, ""),
	}
}

func halves(d *draw) []Fact {
	return []Fact{
		packs(d)[0], fact(Half, d.b, d.a, d.thing, "", ""), fact(Lose, d.a, "", d.thing, d.n(2, 30), ""),
		ask(d.either(AskTogether, AskMean), d.a, d.b, "", d.thing, ""),
	}
}

func sale(d *draw) []Fact {
	return []Fact{
		packs(d)[0], fact(Lose, d.a, "", d.thing, d.n(2, 20), ""), fact(Sell, d.a, "", d.thing, d.part(0, 6, 20), ""),
		fact(Lose, d.a, "", Dollars, d.part(2, 20, 4), ""), ask(d.either(AskLeft, AskSmall), d.a, "", "", Dollars, ""),
	}
}

func tour(d *draw) []Fact {
	ride := func(who string) Fact {
		return fact(Ride, who, "", Kilometres, d.part(8, 30, 2), d.part(1, 6, 4))
	}
	return []Fact{
		ride(d.a), ride(d.a), fact(Gain, d.a, "", Kilometres, d.part(1, 9, 10), ""),
		ask(d.either(AskSplit, AskSmall), d.a, "", "", Kilometres, d.n(2, 8)),
	}
}

func jobs(d *draw) []Fact {
	job := func(who string) Fact {
		return fact(Work, who, "", Dollars, d.part(9, 40, 4), d.part(2, 8, 2))
	}
	return []Fact{
		job(d.a), job(d.a), fact(Lose, d.a, "", Dollars, d.part(3, 30, 4), ""), job(d.b),
		ask(AskDiff, d.a, d.b, "", Dollars, ""),
	}
}

func shopping(d *draw) []Fact {
	buy := func() Fact {
		return fact(Buy, d.a, "", d.thing, d.n(2, 9), d.part(0, 8, 20))
	}
	return []Fact{
		fact(Have, d.a, "", Dollars, d.n(40, 150), ""), buy(), buy(),
		ask(d.either(AskSplit, AskSmall), d.a, "", "", Dollars, d.n(2, 5)),
	}
}

func fair(d *draw) []Fact {
	facts := []Fact{
		packs(d)[0], fact(Times, d.b, d.a, d.thing, d.n(2, 5), ""), fact(Give, d.b, d.a, d.thing, d.n(2, 20), ""),
		fact(Sell, d.a, "", d.thing, d.part(0, 5, 20), ""), fact(Sell, d.b, "", d.thing, d.part(0, 5, 20), ""),
	}
	return append(facts, ask(d.either(AskTogether, AskMean), d.a, d.b, "", Dollars, ""))
}

func savings(d *draw) []Fact {
	return []Fact{
		fact(Work, d.a, "", Dollars, d.part(9, 40, 4), d.part(2, 9, 2)), fact(Times, d.b, d.a, Dollars, d.n(2, 4), ""),
		fact(Lose, d.a, "", Dollars, d.part(3, 15, 4), ""), fact(Buy, d.b, "", d.thing, d.n(3, 12), d.part(1, 6, 20)),
		fact(d.either(More, Fewer), d.c, d.b, Dollars, d.part(3, 30, 4), ""),
		ask(d.either(AskTogether, AskDiff), d.a, d.c, "", Dollars, ""),
	}
}

func race(d *draw) []Fact {
	ride := func(who string) Fact {
		return fact(Ride, who, "", Kilometres, d.part(8, 30, 2), d.part(1, 6, 2))
	}
	facts := []Fact{ride(d.a), ride(d.a), ride(d.b), fact(More, d.c, d.b, Kilometres, d.n(2, 30), "")}
	return append(facts, ask(d.either(AskTogether, AskMean), d.a, d.b, d.c, Kilometres, ""))
}
