// Package policy is the task of applying a written policy to the reviews of a
// restaurant. It exists to measure what a method is worth whose work is to
// turn rules in natural language into a computation over many texts: [New]
// makes the task from a seed, and [LoadDir] reads public data of its shape.
//
// A problem's query is one of six policies in English (allergy, hygiene,
// service, value, accessibility, noise). It says what to read from each
// review, defines nine to twelve primitives by name, and sets a verdict of
// three levels by thresholds. The context has one restaurant with K reviews,
// newest first:
//
//	{"restaurant": {"name": "…"},
//	 "reviews": [{"author": "…", "stars": 4, "date": "2024-05-01", "useful": 3, "text": "…"}, …]}
//
// The answer is every primitive and the field "verdict".
//
// A few of the reviews say something that matters, the others do not. Reviews
// tell what others told the writer, what is only feared, what did not happen
// and what happened elsewhere; some are sarcastic, and some instruct the
// reader ("ignore the above …") in vain. Verdicts are balanced: of each three
// restaurants in a row one is of each level, so always naming one level is
// right in a third of the cases.
//
// The gold is computed from what each review was made to say; no text reaches it.
package policy

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"noema/kernel/task"
	"noema/methods"
)

// Name is the task's name.
const Name = "policy"

// version changes whenever the same options give other samples, or the tools
// other results. Since "2" the problems come with tools over their reviews.
const version = "2"

// New generates the task. The same options always give the same samples; a
// smaller number of restaurants gives the first of a larger one, and a single
// policy gives what it has among all.
func New(o Options) (*task.Task, error) {
	if err := methods.ParseOptions(nil, &o); err != nil {
		return nil, fmt.Errorf("generate policy: %w", err)
	}
	t := &task.Task{
		Name:    Name,
		Version: version,
		Summary: "apply a written policy to the reviews of a restaurant (generated, six policies)",
		Config:  o.String(),
		Source:  "generated",
		Notes:   []string{"fictional data; verdicts are balanced, so always naming one level is right for a third of the samples"},

		Environment: environment(),
	}
	for number, p := range policies() {
		if o.Policy != All && o.Policy != p.Name {
			continue
		}
		samples, err := generate(p, uint64(number), o)
		if err != nil {
			return nil, fmt.Errorf("generate policy %q: %w", p.Name, err)
		}
		t.Samples = append(t.Samples, samples...)
	}
	return t, nil
}

// generate makes the samples of one policy.
func generate(p Policy, number uint64, o Options) ([]task.Sample, error) {
	query := p.Text()
	var out []task.Sample
	var levels []int
	order := rand.New(rand.NewPCG(o.Seed, levelStream<<48|number))
	names := restaurantNames(order)
	for i := range o.Restaurants {
		if i%3 == 0 {
			levels = order.Perm(3)
		}
		rng := rand.New(rand.NewPCG(o.Seed, reviewStream<<48|number<<32|uint64(i)))
		r, err := newRestaurant(p, levels[i%3], o.K, rng)
		if err != nil {
			return nil, fmt.Errorf("restaurant %d: %w", i+1, err)
		}
		r.name = names[i%len(names)]
		if i >= len(names) {
			r.name += " " + strconv.Itoa(i/len(names)+1)
		}
		s := r.sample(p, query)
		s.ID = fmt.Sprintf("%s-%03d", p.Name, i+1)
		out = append(out, s)
	}
	return out, nil
}

// The streams of random numbers that one seed is split into, by their use.
// The lower bits say which policy and restaurant.
const (
	levelStream uint64 = iota + 1
	reviewStream
)

// place is the restaurant of a problem.
type place struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories,omitempty"`
}

// review is a review of a problem.
type review struct {
	Author string `json:"author"`
	Stars  int    `json:"stars"`
	Date   string `json:"date"`
	Useful int    `json:"useful"`
	Text   string `json:"text"`
}

// encode is a problem's context.
func encode(p place, reviews []review) json.RawMessage {
	return methods.Must(json.Marshal(struct {
		Restaurant place    `json:"restaurant"`
		Reviews    []review `json:"reviews"`
	}{p, reviews}))
}

// sample is r under policy p.
func (r restaurant) sample(p Policy, query string) task.Sample {
	return task.Sample{
		Group: p.Name,
		Problem: methods.Problem{
			Query:   query,
			Context: encode(place{Name: r.name}, r.reviews),
			Answer: methods.AnswerSpec{
				Kind:   methods.Fields,
				Names:  append(p.Primitives(), VerdictName),
				Labels: p.Verdict.Labels[:],
			},
		},
		Target: methods.Must(methods.FieldsAnswer(r.gold)).Value, // numbers that were compared, and texts
		Metadata: map[string]string{
			"restaurant": r.name,
			"verdict":    fmt.Sprint(r.gold[VerdictName]),
			"telling":    strconv.Itoa(r.telling),
		},
	}
}

// All stands for all policies.
const All = "all"

// Options choose a generated task. The zero value is the default task. The
// numbers of reviews are those of the public benchmark.
type Options struct {
	Policy      string `json:"policy" default:"all" choices:"allergy,hygiene,service,value,accessibility,noise,all" doc:"which policy to apply"`
	Restaurants int    `json:"restaurants" default:"20" min:"1" max:"500" doc:"restaurants for each policy"`
	K           int    `json:"k" default:"25" choices:"25,50,100,200" doc:"reviews of each restaurant"`
	Seed        uint64 `json:"seed" default:"0" doc:"seed of the restaurants and the reviews"`
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("k=%d&policy=%s&restaurants=%d&seed=%d", o.K, o.Policy, o.Restaurants, o.Seed)
}
