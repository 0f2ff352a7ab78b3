// Package booking is the task of booking trains, hotels, museum visits and
// concerts with tools that have effects: what a trial leaves behind counts, and
// not what its answer says. It exists to compare how methods undo what cannot be
// finished, and what they do when tools fail.
//
// Each request is for all of some things or for nothing, and half of them end with
// nothing new. Whether there are seats is told by holding them alone, so that what
// was done must be undone midway. For each request there is exactly one right end:
// [Solve] proves it.
//
//	group   asks for
//	one     one thing
//	both    two things
//	either  two things, with another kind of thing instead of one that is full
//	money   three things, for which the money may not do
//	swap    one thing in place of a reservation that the traveller has
//
// # What the tools do
//
// A reservation is held, then booked, then paid, and can be cancelled at any
// time, with its seats released and its price refunded. A call that is refused
// changes nothing. The results of the tools say what was done, and the
// scorer "booking" of [noema/kernel/base/score] counts nothing else.
//
// # What fails
//
// With fail=0.1, one call in ten is refused as unavailable before it does
// anything. Which ones is drawn from the trial's seed, the path, the name and the
// arguments of the call, never from the order of arrival. A retry has a path of
// its own, and fares anew. No call does something and then says that it failed:
// the score would have to count what no result tells.
package booking

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/methods"
)

// Name is the task's name, and that of its scorer.
const Name = "booking"

// version changes whenever the same options give other samples, or the tools
// other results.
const version = "1"

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N    int     `json:"n" default:"100" min:"1" max:"10000" doc:"how many requests, of five groups in turn"`
	Fail float64 `json:"fail" default:"0" min:"0" max:"0.9" doc:"probability that a call of a tool is refused as unavailable, without any effect"`
	Seed uint64  `json:"seed" default:"0" doc:"seed of the offers and the requests"`
}

// New generates the task. The same options always give the same task.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate booking: %w", err)
	}
	w := newWorld(o.Seed)
	env := newEnvironment(w, o)
	config := fmt.Sprintf("fail=%v&n=%d&seed=%d", o.Fail, o.N, o.Seed)
	t := &task.Task{
		// The offers and what fails are not part of the samples: they make another version.
		Name: Name, Version: fmt.Sprintf("%s+fail=%v&seed=%d", version, o.Fail, o.Seed),
		Summary: "book, pay and undo with tools that have effects (generated)", Config: config, Source: "generated",
		Notes:  []string{fmt.Sprintf("scored by what the tools have done; of their calls, a share of %v is refused as unavailable", o.Fail)},
		Scorer: score.Named(Name), Environment: env,
	}
	rng := rand.New(rand.NewPCG(o.Seed, 2))
	for i := range o.N {
		s, a, err := w.sample(i, rng)
		if err != nil {
			return nil, fmt.Errorf("generate booking: %w", err)
		}
		env.accounts[s.ID] = a
		t.Samples = append(t.Samples, s)
	}
	return t, nil
}

// Account is what a traveller has before the trial.
type Account struct {
	Money int
	Mine  []Reservation // paid
}

// Target is what the scorer compares with: what the traveller had, what should be
// left, and the price of what is new in it.
type Target struct {
	Total int           `json:"total"`
	Money int           `json:"money"` // before
	Mine  []Reservation `json:"mine"`  // before, paid
	Want  []Place       `json:"want"`  // after, paid
}

// Place is seats in an offer.
type Place struct {
	Offer string `json:"offer"`
	Seats int    `json:"seats"`
}

// groups are the groups of requests in turn.
var groups = [...]string{"one", "both", "either", "money", "swap"}

// sample draws request i until it has the end that is its turn: something to
// book, or nothing.
func (w *world) sample(i int, rng *rand.Rand) (task.Sample, Account, error) {
	group, possible := groups[i%len(groups)], i/len(groups)%2 == 0
	for range 10_000 {
		wish, account := w.draw(group, rng)
		end, err := Solve(w.offers, wish, account)
		if err != nil || (len(end.Bought) > 0) != possible {
			continue
		}
		switch {
		case group == "money" && !possible && !end.Short:
			continue // it fails for the money, not for a seat
		case group == "either" && possible && (w.byID[end.Bought[1].Offer].Kind == wish.Items[1].Or) != (i/10%2 == 0):
			continue // in turn for what is asked first and for what stands instead
		}
		target := Target{end.Total, account.Money, account.Mine, end.Left}
		return task.Sample{
			ID: fmt.Sprintf("B%03d", i+1), Group: group, Target: methods.Must(json.Marshal(target)),
			Problem:  methods.Problem{Query: say(wish, rng), Answer: methods.AnswerSpec{Kind: methods.Number}},
			Metadata: map[string]string{"end": map[bool]string{true: "booked", false: "nothing"}[possible]},
		}, account, nil
	}
	return task.Sample{}, Account{}, fmt.Errorf("found no request of group %q", group)
}

// draw makes some request of a group.
func (w *world) draw(group string, rng *rand.Rand) (Wish, Account) {
	account := Account{Money: 4000}
	city, day, seats := pick(rng, cities[:]), pick(rng, days[:]), 1+rng.IntN(4)
	kinds := []string{"train", "hotel", "museum", "concert"}
	rng.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	count := map[string]int{"both": 2, "either": 2, "money": 3}[group]
	var wish Wish
	for k := range max(1, count) {
		item := Item{Kind: kinds[k], City: city, Day: day, Seats: seats, Only: rng.IntN(4) == 0}
		if rng.IntN(3) == 0 && item.Kind != "hotel" {
			item.Part = pick(rng, parts[:])
		}
		if rng.IntN(2) == 0 {
			item.Under = 30 + 10*rng.IntN(10)
		}
		wish.Items = append(wish.Items, item)
	}
	switch group {
	case "either":
		wish.Items[1].Or = kinds[2]
	case "money":
		account.Money = 50 + 10*rng.IntN(60)
	case "swap":
		old := w.offers[rng.IntN(len(w.offers))]
		for old.Kind == wish.Items[0].Kind {
			old = w.offers[rng.IntN(len(w.offers))]
		}
		mine := Reservation{ID: fmt.Sprintf("R-%016x", rng.Uint64()), Offer: old.ID, Seats: seats, Price: old.Price * seats}
		account.Mine, wish.Swap = []Reservation{mine}, mine.ID
	}
	return wish, account
}

func pick(rng *rand.Rand, list []string) string { return list[rng.IntN(len(list))] }
