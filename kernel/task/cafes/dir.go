package cafes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// DirOptions choose what LoadDir takes of the data. The zero value is the
// default.
type DirOptions struct {
	N     int    // items in each problem; 0 means 10, or all if there are fewer
	Limit int    // the first so many requests; 0 means all
	Seed  uint64 // of the choice and order of items
}

const maxDirItems = 1000

// DirOptionsDoc describes what ParseDirOptions takes.
func DirOptionsDoc() []methods.Option {
	return []methods.Option{
		{Name: "n", Type: methods.IntOption, Default: strconv.Itoa(defaultN), Doc: "items in each problem, the right one among them"},
		{Name: "limit", Type: methods.IntOption, Default: "0", Doc: "only the first so many requests; 0 for all"},
		{Name: "seed", Type: methods.IntOption, Default: "0", Doc: "seed of the choice and order of items"},
	}
}

// ParseDirOptions reads options as a user types them.
func ParseDirOptions(given map[string]string) (DirOptions, error) {
	var o DirOptions
	if err := known(given, DirOptionsDoc()); err != nil {
		return o, err
	}
	var err error
	if o.N, err = number(given, "n", 0, 2, maxDirItems); err != nil {
		return o, err
	}
	if o.Limit, err = number(given, "limit", 0, 0, 1<<30); err != nil {
		return o, err
	}
	o.Seed, err = seedOption(given)
	return o, err
}

// LoadDir reads a folder in the data format of the public ANoT project:
// restaurants.jsonl, reviews.jsonl, requests.jsonl and groundtruth.jsonl, and
// if it is there user_mapping.json, which gives reviewers names and friends.
//
// Of restaurants and reviews only listed fields reach a problem; scores that
// a model gave them, addresses and the like do not, and of a request only its
// text does. The task's notes name what was left out. Attribute values that
// are Python literals inside strings become values, hours are written as in
// "7:00-19:30", and categories become a list.
//
// Source: the data's own documentation of its fields. Differs: that project
// shows the same first items to every request and drops requests whose right
// item is not among them; here every request keeps its right item and draws
// its distractors by seed, those of a smaller N being among those of a larger.
func LoadDir(dir string, o DirOptions) (*task.Task, error) {
	d := &data{dropped: map[string]bool{}}
	if err := d.read(dir); err != nil {
		return nil, fmt.Errorf("load %s: %w", filepath.Base(dir), err)
	}
	if o.N == 0 {
		o.N = min(defaultN, len(d.places))
	}
	if o.N < 2 || o.N > len(d.places) {
		return nil, fmt.Errorf("load %s: n is %d, but %s holds %d restaurants", filepath.Base(dir), o.N, restaurantsFile, len(d.places))
	}
	t := &task.Task{
		Name:    filepath.Base(filepath.Clean(dir)),
		Version: "1",
		Summary: "find the one place of N that fits a request (ANoT data format)",
		Config:  fmt.Sprintf("limit=%d&n=%d&seed=%d", o.Limit, o.N, o.Seed),
		Source:  d.source,
		Notes:   d.notes(),
	}
	for i, q := range d.queries {
		if o.Limit > 0 && i == o.Limit {
			break
		}
		s, err := d.sample(q, o)
		if err != nil {
			return nil, fmt.Errorf("load %s: request %q: %w", filepath.Base(dir), q.ID, err)
		}
		t.Samples = append(t.Samples, s)
	}
	return t, nil
}

// sample presents a request with n items in an order of its own.
func (d *data) sample(q query, o DirOptions) (task.Sample, error) {
	h := fnv.New64a()
	h.Write([]byte(q.ID)) // a hash never fails to write
	rng := rand.New(rand.NewPCG(o.Seed, h.Sum64()))
	shown := []int{q.gold}
	for _, p := range rng.Perm(len(d.places)) {
		if p != q.gold && len(shown) < o.N {
			shown = append(shown, p)
		}
	}
	rng.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
	items := make([]json.RawMessage, len(shown))
	for i, p := range shown {
		items[i] = d.places[p].raw
	}
	context, err := json.Marshal(struct {
		Friends map[string][]string `json:"friends,omitempty"`
		Items   []json.RawMessage   `json:"items"`
	}{d.circle(q.Text, shown), items})
	if err != nil {
		return task.Sample{}, err
	}
	return task.Sample{
		ID:    q.ID,
		Group: q.Group,
		Problem: methods.Problem{
			Query:   q.Text,
			Context: context,
			Answer:  methods.AnswerSpec{Kind: methods.Ranking, N: o.N, K: min(maxRanked, o.N)},
		},
		Target: methods.RankingAnswer([]int{slices.Index(shown, q.gold) + 1}).Value,
		Metadata: map[string]string{
			"gold":     d.places[q.gold].item.Name,
			"evidence": strings.Join(q.evidence, ","),
		},
	}, nil
}

// circle is the part of the friend graph that matters to a problem: the
// people who wrote its reviews, those whom its request names, and the friends
// of the latter.
func (d *data) circle(text string, shown []int) map[string][]string {
	people := map[string]bool{}
	for _, p := range shown {
		for _, r := range d.places[p].item.Reviews {
			people[r.Author] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.friends)) {
		if mentions(text, name) {
			people[name] = true
			for _, f := range d.friends[name] {
				people[f] = true
			}
		}
	}
	out := map[string][]string{}
	for name := range people {
		for _, f := range d.friends[name] {
			if people[f] {
				out[name] = append(out[name], f)
			}
		}
	}
	return out
}

// notes says what problems do not show.
func (d *data) notes() []string {
	notes := []string{"that exactly one place fits each request is the data's claim; it was not checked"}
	if len(d.dropped) > 0 {
		notes = append(notes, "fields left out of problems: "+strings.Join(slices.Sorted(maps.Keys(d.dropped)), ", "))
	}
	if d.stray > 0 {
		notes = append(notes, fmt.Sprintf("%s names the writers of %d reviews that are not in %s", peopleFile, d.stray, reviewsFile))
	}
	if len(d.unsettled) > 0 {
		notes = append(notes, "requests left out because their ground truth is not \"ok\": "+strings.Join(d.unsettled, ", "))
	}
	return notes
}
