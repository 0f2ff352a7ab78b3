package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// restaurant is a generated one.
type restaurant struct {
	name    string
	reviews []review
	gold    map[string]any
	telling int // reviews that say anything
}

// maxTries bounds the draws for one restaurant. The rarest level, High Risk
// of allergy among 200 reviews, takes 13 on average.
const maxTries = 5000

// newRestaurant draws facts until their verdict is the given level, mildest
// 0, and then writes the reviews that say them.
func newRestaurant(p Policy, level, k int, rng *rand.Rand) (restaurant, error) {
	for range maxTries {
		facts := drawFacts(p, level, k, rng)
		values := p.Compute(facts)
		score, _ := values[p.Verdict.Term].(float64)
		if values[VerdictName] != p.Verdict.Labels[level] || doubtful(score, p.Verdict.Cuts) {
			continue
		}
		return write(p, facts, values, rng), nil
	}
	return restaurant{}, fmt.Errorf("no restaurant with the verdict %q in %d draws", p.Verdict.Labels[level], maxTries)
}

// doubtful reports whether a score is so close to a cut that rounding in
// another order could cross it. Scores on a cut are fine if they are sums of
// halves and quarters, which no order rounds.
func doubtful(score float64, cuts [2]float64) bool {
	exact := score*8 == math.Trunc(score*8)
	for _, cut := range cuts {
		if math.Abs(score-cut) < 0.01 && !exact {
			return true
		}
	}
	return false
}

// drawFacts draws k reviews' facts, a few of them telling. The level only
// tilts the draw: what is good or bad is found at every level.
func drawFacts(p Policy, level, k int, rng *rand.Rand) []Review {
	facts := make([]Review, k)
	telling := 5 + rng.IntN(5+k/20)
	for i := range facts {
		l := p.Blank()
		if i < telling {
			tell(p, l, level, rng)
		}
		facts[i] = Review{Labels: l, Stars: stars(p, l, rng), Year: weighted(rng, 8, 12, 14, 18, 22, 26) + 2019, Useful: useful(rng)}
	}
	rng.Shuffle(k, func(i, j int) { facts[i], facts[j] = facts[j], facts[i] })
	return facts
}

// tell makes l say something.
func tell(p Policy, l Labels, level int, rng *rand.Rand) {
	event, account, reply := p.Fields[0], p.Fields[1], p.Fields[2]
	what := rng.IntN(100)
	if what < 80 {
		severity := [3][]int{{6, 3, 1}, {4, 4, 2}, {2, 3, 4}}[level]
		l[event.Name] = event.Values[1+weighted(rng, severity...)].Name
		whose := [3][]int{{4, 3, 4}, {5, 3, 3}, {6, 3, 2}}[level]
		l[account.Name] = account.Values[1+weighted(rng, whose...)].Name
	}
	if what < 30 || what >= 80 {
		mood := [3][]int{{5, 2, 1}, {3, 2, 2}, {2, 2, 4}}[level]
		if n := len(reply.Values) - 1; n == 2 {
			mood = []int{mood[0], mood[2]}
		}
		l[reply.Name] = reply.Values[1+weighted(rng, mood...)].Name
	}
}

// stars fit what a review says, with some noise.
func stars(p Policy, l Labels, rng *rand.Rand) int {
	weights := []int{4, 8, 20, 36, 32}
	bad := p.Fields[0].index(l) >= 2 && p.Fields[1].index(l) == 1
	if reply := p.Fields[2]; bad || reply.index(l) == len(reply.Values)-1 {
		weights = []int{36, 30, 20, 10, 4}
	}
	return 1 + weighted(rng, weights...)
}

// useful draws votes: mostly none, seldom many.
func useful(rng *rand.Rand) int {
	n := 0
	for n < 12 && rng.IntN(5) < 2 {
		n++
	}
	return n
}

// write makes the reviews that say facts.
func write(p Policy, facts []Review, values map[string]any, rng *rand.Rand) restaurant {
	r := restaurant{gold: values, reviews: make([]review, len(facts))}
	authors := rng.Perm(len(people()) * len(initials))
	for i, f := range facts {
		text := p.Render(f.Labels, rng)
		if !f.Labels.Silent() {
			r.telling++
		}
		who := authors[i]
		r.reviews[i] = review{
			Author: people()[who/len(initials)] + " " + string(initials[who%len(initials)]) + ".",
			Stars:  f.Stars,
			Date:   fmt.Sprintf("%d-%02d-%02d", f.Year, 1+rng.IntN(12), 1+rng.IntN(28)),
			Useful: f.Useful,
			Text:   text,
		}
	}
	slices.SortStableFunc(r.reviews, func(a, b review) int { return strings.Compare(b.Date, a.Date) })
	return r
}

// weighted draws an index by weight.
func weighted(rng *rand.Rand, weights ...int) int {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := rng.IntN(total)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// people and initials make 360 names, more than a restaurant has reviews.
func people() []string {
	return []string{"Ada", "Ben", "Carla", "Dmitri", "Esra", "Femi", "Greta", "Hugo", "Ines", "Jonas", "Kaya", "Liam",
		"Mira", "Noor", "Otto", "Priya", "Quinn", "Rosa", "Sami", "Tove"}
}

const initials = "ABCDEFGHJKLMNPRSTW"

// restaurantNames are in random order, without repeats.
func restaurantNames(rng *rand.Rand) []string {
	var all []string
	for _, first := range []string{"Copper", "Little", "Old Harbour", "Blue", "Garden", "North", "Lucky", "Velvet", "Stone", "Amber", "Willow", "Union"} {
		for _, second := range []string{"Spoon", "Table", "Kitchen", "Fox", "Lantern", "House", "Oven", "Plate", "Anchor", "Pepper"} {
			all = append(all, first+" "+second)
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
