package cafes

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"noema/methods"
)

// world is what all requests of one seed share.
type world struct {
	cafes   []cafe
	raw     [][]byte         // the cafes as problems show them
	items   []map[string]any // raw, decoded for the checker
	friends map[string][]string
	askers  []string // people whose friends requests speak of; they write no reviews
}

// cafe is an item as problems show it.
type cafe struct {
	Name       string            `json:"name"`
	Categories []string          `json:"categories"`
	Stars      float64           `json:"stars"`
	Attributes map[string]any    `json:"attributes"`
	Hours      map[string]string `json:"hours"` // days without an entry are closed
	Reviews    []review          `json:"reviews"`
}

type review struct {
	Author string `json:"author"`
	Stars  int    `json:"stars"`
	Date   string `json:"date"`
	Text   string `json:"text"`
}

func newWorld(seed uint64) *world {
	w := &world{}
	var reviewers []string
	w.friends, w.askers, reviewers = newPeople(rand.New(rand.NewPCG(seed, peopleStream)))
	rng := rand.New(rand.NewPCG(seed, worldStream))
	for _, name := range cafeNames(rng) {
		c := cafe{
			Name:       name,
			Categories: someOf(rng, categories(), 1, 2),
			Attributes: newAttributes(rng),
			Hours:      newHours(rng),
			Reviews:    newReviews(rng, reviewers),
		}
		c.Stars = meanStars(c.Reviews)
		w.cafes = append(w.cafes, c)
	}
	for _, c := range w.cafes {
		raw := methods.Must(json.Marshal(c))
		var item map[string]any
		if err := json.Unmarshal(raw, &item); err != nil {
			panic(err) // it was just encoded
		}
		w.raw, w.items = append(w.raw, raw), append(w.items, item)
	}
	return w
}

func categories() []string {
	return []string{"Cafes", "Coffee and Tea", "Bakeries", "Brunch", "Desserts", "Tea Rooms", "Sandwiches", "Juice Bars"}
}

// cafeNames draws distinct names in random order.
func cafeNames(rng *rand.Rand) []string {
	first := []string{"Copper", "Velvet", "Paper", "Amber", "Crooked", "Marble", "Silver", "Mossy", "Wandering", "Little"}
	second := []string{"Finch", "Lantern", "Anchor", "Fern", "Otter", "Compass", "Button", "Harbor", "Thimble", "Magpie"}
	var all []string
	for _, a := range first {
		for _, b := range second {
			all = append(all, a+" "+b)
		}
	}
	return someOf(rng, all, worldSize, worldSize)
}

// newAttributes draws attributes under Yelp's names. Plain ones are always
// there; of the nested ones only what is true, as a missing key means false.
func newAttributes(rng *rand.Rand) map[string]any {
	a := map[string]any{}
	for _, flag := range []struct {
		name    string
		percent int
	}{
		{"GoodForKids", 50}, {"HasTV", 45}, {"OutdoorSeating", 50}, {"DogsAllowed", 35}, {"DriveThru", 20},
		{"BikeParking", 50}, {"WheelchairAccessible", 50}, {"RestaurantsDelivery", 45}, {"RestaurantsReservations", 40},
	} {
		a[flag.name] = rng.IntN(100) < flag.percent
	}
	a["WiFi"] = weighted(rng, []string{"free", "paid", "no"}, 55, 20, 25)
	a["NoiseLevel"] = weighted(rng, []string{"quiet", "average", "loud", "very_loud"}, 35, 30, 25, 10)
	a["Alcohol"] = weighted(rng, []string{"none", "beer_and_wine", "full_bar"}, 50, 30, 20)
	a["RestaurantsPriceRange2"] = weighted(rng, []int{1, 2, 3, 4}, 30, 40, 20, 10)
	a["Ambience"] = truths(rng, 22, "casual", "hipster", "romantic", "trendy", "classy", "touristy", "intimate", "upscale")
	a["GoodForMeal"] = truths(rng, 33, "breakfast", "brunch", "lunch", "dinner", "dessert", "latenight")
	a["BusinessParking"] = truths(rng, 28, "street", "lot", "garage", "valet")
	return a
}

func truths(rng *rand.Rand, percent int, keys ...string) map[string]bool {
	out := map[string]bool{}
	for _, k := range keys {
		if rng.IntN(100) < percent {
			out[k] = true
		}
	}
	return out
}

// newHours draws opening hours: much the same every day, later at the
// weekend for some, past midnight for a few, with up to two days closed.
func newHours(rng *rand.Rand) map[string]string {
	open := 360 + 30*rng.IntN(9)    // 6:00 to 10:00
	shut := 15*60 + 60*rng.IntN(9)  // 15:00 to 23:00
	lieIn := 60 * rng.IntN(3)       // later opening at the weekend
	lateNight := rng.IntN(100) < 35 // Fridays and Saturdays
	lateShut := 23*60 + 60*rng.IntN(4)
	closed := someOf(rng, days(), 0, 2)
	hours := map[string]string{}
	for _, day := range days() {
		from, to := open, shut
		if day == "Saturday" || day == "Sunday" {
			from += lieIn
		}
		if lateNight && (day == "Friday" || day == "Saturday") {
			to = lateShut
		}
		hours[day] = clock(from) + "-" + clock(to%(24*60))
	}
	for _, day := range closed {
		delete(hours, day)
	}
	return hours
}

func days() []string {
	return []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
}

func clock(minutes int) string { return fmt.Sprintf("%d:%02d", minutes/60, minutes%60) }

// newPeople draws the friend graph, which is mutual, and splits the people
// into those that requests speak of and those who write reviews. Nobody is in
// both, so it never matters whether a person counts as their own friend.
func newPeople(rng *rand.Rand) (friends map[string][]string, askers, reviewers []string) {
	names := someOf(rng, []string{
		"Ada", "Boris", "Clara", "Dmitri", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Keiko", "Lars",
		"Mina", "Nuno", "Olga", "Pavel", "Rosa", "Samir", "Tilda", "Uwe", "Vera", "Wim", "Yuki", "Zora",
	}, 24, 24)
	askers, reviewers = names[:4], names[4:]
	friends = map[string][]string{}
	befriend := func(a, b string) {
		friends[a], friends[b] = append(friends[a], b), append(friends[b], a)
	}
	for i, r := range reviewers { // a ring with a few shortcuts: two hops reach about half
		befriend(r, reviewers[(i+1)%len(reviewers)])
		if i%4 == 0 && i < len(reviewers)/2 {
			befriend(r, reviewers[i+len(reviewers)/2])
		}
	}
	for _, a := range askers {
		for _, r := range someOf(rng, reviewers, 4, 4) {
			befriend(a, r)
		}
	}
	return friends, askers, reviewers
}

func meanStars(reviews []review) float64 {
	sum := 0
	for _, r := range reviews {
		sum += r.Stars
	}
	return math.Round(2*float64(sum)/float64(len(reviews))) / 2
}

// newDate draws a day of the four years up to the end of 2025.
func newDate(rng *rand.Rand) string {
	start := time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)
	return start.AddDate(0, 0, rng.IntN(4*365)).Format(time.DateOnly)
}

// weighted draws one of values with the given weights.
func weighted[T any](rng *rand.Rand, values []T, weights ...int) T {
	total := 0
	for _, w := range weights {
		total += w
	}
	at := rng.IntN(total)
	for i, w := range weights {
		if at < w {
			return values[i]
		}
		at -= w
	}
	panic("weighted: more values than weights")
}

// someOf draws between low and high distinct elements of from, in random order.
func someOf[T any](rng *rand.Rand, from []T, low, high int) []T {
	n := low + rng.IntN(high-low+1)
	out := make([]T, n)
	for i, j := range rng.Perm(len(from))[:n] {
		out[i] = from[j]
	}
	return out
}
