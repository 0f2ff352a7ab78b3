// Package cafes is the task of finding the one cafe that fits a request. It
// exists because comparing methods needs a task whose answers are beyond
// doubt, whose difficulty is graded and whose size can be chosen: [New] makes
// one from a seed, and [LoadDir] reads public data of the same shape.
//
// A world has 50 fictional cafes with attributes (some nested in dicts),
// opening hours and reviews, and a friend graph of the people who wrote them.
// A request is a tree of conditions, said in varied English.
// Exactly one of all 50 cafes satisfies it, and that one is among the N that a
// problem presents, so growing N changes neither requests nor answers; the
// items of a smaller N are among those of a larger one. About half of the
// distractors at N = 10 are near misses, which fail one conjunct only.
//
//	group  form                                          looks at
//	G01    a AND b AND c                                 attributes
//	G02    a AND b AND NOT c AND NOT d                   attributes, negation
//	G03    a AND b AND (c OR d)                          attributes, choice
//	G04    a AND b AND hours                             opening hours
//	G05    a AND b AND review                            review texts
//	G06    a AND (b AND c OR d AND e)                    nested choice
//	G07    a AND b AND friend's review                   friend graph, one hop
//	G08    a AND b AND friend's or their friend's review friend graph, two hops
//	G09    a AND NOT b AND hours AND review              mixture
//	G10    NOT a AND hours AND (b OR c AND review) AND friend's review   mixture, one or two hops
//
// Every cafe is the answer to equally many requests, give or take one, and
// the position of the right item is uniform over each N requests in a row.
// Guessing at N = 10 therefore has hits@1 of 10 % and hits@5 of 50 %, and so
// has always naming the same position.
package cafes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"noema/kernel/task"
	"noema/methods"
)

// Name is the task's name.
const Name = "cafes"

// version changes whenever the same options give other samples, or the tools
// other results. Since "2" the problems come with tools over their items.
const version = "2"

// maxRanked is how many items a method is asked to name.
const maxRanked = 5

// The streams of random numbers that one seed is split into. Each part of the
// task has its own, so that the size of one does not change another.
const (
	worldStream uint64 = iota + 1
	peopleStream
	goldStream
	requestStream
	choiceStream
	positionStream
)

// New generates the task. The same options always give the same samples.
// Every request is proven to have exactly one right cafe before New returns.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate cafes: %w", err)
	}
	w := newWorld(o.Seed)
	requests, err := w.requests(o)
	if err != nil {
		return nil, fmt.Errorf("generate cafes: %w", err)
	}
	t := &task.Task{
		Name:    Name,
		Version: version,
		Summary: "find the one cafe of N that fits a request (generated, ten groups of difficulty)",
		Config:  o.String(),
		Source:  "generated",
		Notes:   []string{"fictional data; by chance hits@1 is 1/N and hits@5 is 5/N"},

		Environment: environment(),
	}
	positions := goldPositions(o)
	for i, r := range requests {
		t.Samples = append(t.Samples, w.sample(r, o, positions[i]))
	}
	return t, nil
}

// sample presents r with n items, the right one at the given position.
func (w *world) sample(r request, o Options, position int) task.Sample {
	shown := w.choose(r, o)
	rng := rand.New(rand.NewPCG(o.Seed, positionStream<<32+r.stream))
	rng.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
	for i, c := range shown {
		if c == r.gold {
			shown[i], shown[position] = shown[position], shown[i]
			break
		}
	}
	items := make([][]byte, len(shown))
	near := 0
	for i, c := range shown {
		items[i] = w.raw[c]
		if r.nearMisses>>c&1 == 1 {
			near++
		}
	}
	friends := methods.Must(json.Marshal(w.friends))
	return task.Sample{
		ID:    r.id,
		Group: r.group,
		Problem: methods.Problem{
			Query:   Render(r.tree, rand.New(rand.NewPCG(o.Seed, requestStream<<32+r.stream))),
			Context: slices.Concat([]byte(`{"friends":`), friends, []byte(`,"items":[`), bytes.Join(items, []byte(",")), []byte("]}")),
			Answer:  methods.AnswerSpec{Kind: methods.Ranking, N: o.N, K: min(maxRanked, o.N)},
		},
		Target: methods.RankingAnswer([]int{position + 1}).Value,
		Metadata: map[string]string{
			"condition":   r.tree.String(),
			"gold":        w.cafes[r.gold].Name,
			"near_misses": strconv.Itoa(near),
		},
	}
}

// goldPositions deals out the positions of the right items: each run of N
// requests uses every position once.
func goldPositions(o Options) []int {
	rng := rand.New(rand.NewPCG(o.Seed, positionStream))
	var all []int
	for len(all) < o.Requests {
		all = append(all, rng.Perm(o.N)...)
	}
	return all
}

const (
	worldSize   = 50
	maxRequests = 500
)

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N        int    `json:"n" default:"10" min:"2" max:"50" doc:"items in each problem"`
	Requests int    `json:"requests" default:"100" min:"1" max:"500" doc:"how many requests, spread evenly over the groups"`
	Seed     uint64 `json:"seed" default:"0" doc:"seed of the world and the requests"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("n=%d&requests=%d&seed=%d", o.N, o.Requests, o.Seed)
}
