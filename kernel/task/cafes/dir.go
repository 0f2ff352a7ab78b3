package cafes

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"noema/kernel/task"
	"noema/methods"
)

// defaultItems is how many items a problem shows if the folder has as many.
const defaultItems = 10

// DirOptions choose what LoadDir takes of the data.
type DirOptions struct {
	N     int    `json:"n" default:"0" min:"0" max:"1000" doc:"items in each problem, the right one among them; 0 for 10, or all if there are fewer"`
	Limit int    `json:"limit" default:"0" min:"0" doc:"only the first so many requests; 0 for all"`
	Seed  uint64 `json:"seed" default:"0" doc:"seed of the choice and order of items"`
	Items string `json:"items" default:"drawn" choices:"drawn,frequent" doc:"the other items of a problem: drawn for each request, or for all the n that are most often right, in the order of the file, as ANoT's own results have them"`
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
// its distractors by seed, those of a smaller N being among those of a larger,
// unless Items is frequent.
func LoadDir(dir string, o DirOptions) (*task.Task, error) {
	d := &data{}
	if err := d.read(dir); err != nil {
		return nil, fmt.Errorf("load %s: %w", filepath.Base(dir), err)
	}
	n := o.N
	if n == 0 {
		n = min(defaultItems, len(d.places))
	}
	if n < 2 || n > len(d.places) {
		return nil, fmt.Errorf("load %s: n is %d, but %s has %d restaurants", filepath.Base(dir), n, restaurantsFile, len(d.places))
	}
	t := &task.Task{
		Name:    filepath.Base(filepath.Clean(dir)),
		Version: version, // the tools are the same
		Summary: "find the one place of N that fits a request (ANoT data format)",
		Config:  fmt.Sprintf("limit=%d&n=%d&seed=%d", o.Limit, n, o.Seed),
		Source:  d.Source(),
		Notes:   d.notes(),

		Environment: environment(),
	}
	frequent := d.frequent(n)
	for i, q := range d.queries {
		if o.Limit > 0 && i == o.Limit {
			break
		}
		shown := d.drawn(q, n, o.Seed)
		if o.Items == "frequent" {
			if shown = frequent; !slices.Contains(shown, q.gold) {
				continue
			}
		}
		t.Samples = append(t.Samples, d.sample(q, shown))
	}
	if o.Items == "frequent" {
		t.Config += "&items=frequent"
		t.Notes = append(t.Notes, fmt.Sprintf("every request shows the same %d items: %d requests have their right one among them, the others are left out", n, len(t.Samples)))
	}
	return t, nil
}

// frequent are the n places that are right most often, in their order.
func (d *data) frequent(n int) []int {
	times, all := make([]int, len(d.places)), make([]int, len(d.places))
	for i := range all {
		all[i] = i
	}
	for _, q := range d.queries {
		times[q.gold]++
	}
	slices.SortStableFunc(all, func(a, b int) int { return times[b] - times[a] })
	return slices.Sorted(slices.Values(all[:n]))
}

// drawn are the right place and others, n together, in an order of the request's own.
func (d *data) drawn(q query, n int, seed uint64) []int {
	h := fnv.New64a()
	h.Write([]byte(q.ID)) // a hash never fails to write
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	shown := []int{q.gold}
	for _, p := range rng.Perm(len(d.places)) {
		if p != q.gold && len(shown) < n {
			shown = append(shown, p)
		}
	}
	rng.Shuffle(len(shown), func(i, j int) { shown[i], shown[j] = shown[j], shown[i] })
	return shown
}

// sample presents a request with the shown places.
func (d *data) sample(q query, shown []int) task.Sample {
	n := len(shown)
	items := make([]json.RawMessage, len(shown))
	for i, p := range shown {
		items[i] = d.places[p].raw
	}
	context := methods.Must(json.Marshal(struct {
		Friends map[string][]string `json:"friends,omitempty"`
		Items   []json.RawMessage   `json:"items"`
	}{d.circle(q.Text, shown), items}))
	return task.Sample{
		ID:    q.ID,
		Group: q.Group,
		Problem: methods.Problem{
			Query:   q.Text,
			Context: context,
			Answer:  methods.AnswerSpec{Kind: methods.Ranking, N: n, K: min(maxRanked, n)},
		},
		Target: methods.RankingAnswer([]int{slices.Index(shown, q.gold) + 1}).Value,
		Metadata: map[string]string{
			"gold":     d.places[q.gold].item.Name,
			"evidence": strings.Join(q.evidence, ","),
		},
	}
}

// circle is the part of the friend graph that matters to a problem: the
// people who wrote its reviews, those its request names, and the friends
// of the latter.
func (d *data) circle(text string, shown []int) map[string][]string {
	people := map[string]bool{}
	for _, p := range shown {
		for _, r := range d.places[p].item.Reviews {
			people[r.Author] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.friends)) {
		if Mentions(text, name) {
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
	if dropped := d.Dropped(); dropped != "" {
		notes = append(notes, "fields left out of problems: "+dropped)
	}
	if d.stray > 0 {
		notes = append(notes, fmt.Sprintf("%s names the writers of %d reviews that are not in %s", peopleFile, d.stray, reviewsFile))
	}
	if len(d.unsettled) > 0 {
		notes = append(notes, "requests left out because their ground truth is not \"ok\": "+strings.Join(d.unsettled, ", "))
	}
	return notes
}
