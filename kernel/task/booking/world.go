package booking

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

var (
	cities = [...]string{"Arlen", "Borough", "Calder", "Dunmore", "Elmira", "Fairfax"}
	days   = [...]string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
	parts  = [...]string{"morning", "evening"}
)

// kinds are the kinds of offers with the letter of their ids.
var kinds = [...]struct{ name, letter string }{{"train", "T"}, {"hotel", "H"}, {"museum", "M"}, {"concert", "C"}}

// Offer is something that can be reserved.
type Offer struct {
	ID    string `json:"offer"`
	Kind  string `json:"kind"`
	City  string `json:"city"`
	Day   string `json:"day"`
	Part  string `json:"part"` // of the day
	Price int    `json:"price"`
	seats int    // that are left; told by holding alone
}

type world struct {
	offers []Offer
	byID   map[string]*Offer
}

// newWorld makes four offers of each kind for each city and day. Those of one
// kind, city and day have different prices, so that one is the cheapest; about
// one in three has no or too few seats.
func newWorld(seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{byID: map[string]*Offer{}}
	for _, city := range cities {
		for _, day := range days {
			for _, k := range kinds {
				prices := rng.Perm(12)
				for n := range 4 {
					seats := 1 + rng.IntN(9)
					if rng.IntN(3) == 0 {
						seats = 0
					}
					w.offers = append(w.offers, Offer{
						ID: fmt.Sprintf("%s%d", k.letter, 100+len(w.offers)), Kind: k.name, City: city, Day: day,
						Part: parts[n%2], Price: 20 + 9*prices[n] + rng.IntN(8), seats: seats,
					})
				}
			}
		}
	}
	for i := range w.offers {
		w.byID[w.offers[i].ID] = &w.offers[i]
	}
	return w
}

// search lists the offers that fit an item, the cheapest first.
func (w *world) search(want Item) []Offer {
	found := []Offer{}
	for _, o := range w.offers {
		if want.fits(o) {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Offer) int { return a.Price - b.Price })
	return found
}

// fits reports whether an offer is one that an item may be, seats aside.
func (i Item) fits(o Offer) bool {
	return o.Kind == i.Kind && o.City == i.City && o.Day == i.Day &&
		(i.Part == "" || o.Part == i.Part) && (i.Under == 0 || o.Price < i.Under)
}
