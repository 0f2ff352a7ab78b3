package cafes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"noema/kernel/base/files"
	"noema/kernel/task"
	"noema/kernel/task/internal/public"
	"noema/kernel/task/internal/words"
	"noema/methods"
)

// The files of the data format.
const (
	restaurantsFile = "restaurants.jsonl"
	reviewsFile     = "reviews.jsonl"
	requestsFile    = "requests.jsonl"
	truthFile       = "groundtruth.jsonl"
	peopleFile      = "user_mapping.json" // optional
)

// data is a folder as read.
type data struct {
	public.Data
	places    []place
	byID      map[string]int // index into places by business id
	queries   []query
	friends   map[string][]string // by name, as far as names are people
	unsettled []string            // ids of requests without a settled answer
	stray     int                 // names given to reviews that are not there
}

type place struct {
	id   string
	item item
	raw  json.RawMessage // item, encoded once for all requests
}

// query is a request with its answer.
type query struct {
	ID, Group, Text string
	evidence        []string // kinds of evidence that its structure names
	wanted          string   // gold_restaurant of the request itself; may be empty
	gold            int      // index into data.places
	line            task.Line
}

func (d *data) read(dir string) error {
	for _, step := range []struct {
		file string
		read func(path string) error
	}{
		{restaurantsFile, d.readPlaces},
		{reviewsFile, d.readReviews},
		{peopleFile, d.readPeople},
		{requestsFile, d.readRequests},
		{truthFile, d.readTruth},
	} {
		path := filepath.Join(dir, step.file)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if step.file == peopleFile {
				continue
			}
			return fmt.Errorf("%s is missing: the folder needs %s, %s, %s and %s",
				step.file, restaurantsFile, reviewsFile, requestsFile, truthFile)
		}
		if err := step.read(path); err != nil {
			return err
		}
		if _, err := d.File(path); err != nil {
			return err
		}
	}
	d.tidyFriends()
	for i, p := range d.places {
		d.places[i].raw = methods.Must(json.Marshal(p.item)) // texts, and values read from JSON
	}
	return nil
}

func (d *data) readPlaces(path string) error {
	d.byID = map[string]int{}
	return task.EachLine(path, func(l task.Line) error {
		p, err := d.readPlace(l)
		if err != nil {
			return err
		}
		if _, dup := d.byID[p.id]; dup {
			return l.Errorf("business_id %q appears twice", p.id)
		}
		d.byID[p.id] = len(d.places)
		d.places = append(d.places, p)
		return nil
	})
}

func (d *data) readReviews(path string) error {
	d.friends = map[string][]string{}
	return task.EachLine(path, func(l task.Line) error {
		r, business, err := d.readReview(l)
		if err != nil {
			return err
		}
		at, ok := d.byID[business]
		if !ok {
			return l.Errorf("business_id %q is not in %s", business, restaurantsFile)
		}
		d.places[at].item.Reviews = append(d.places[at].item.Reviews, r)
		d.befriend(r.Author, r.Friends)
		return nil
	})
}

// readPeople reads names and friends of reviewers. The same name may stand
// for several people: the friends of each review's writer stay with the
// review. Other parts of the file, which tell the answers, are not read.
func (d *data) readPeople(path string) error {
	raw, err := files.Read(path, files.MaxJSON)
	if err != nil {
		return err
	}
	var people struct {
		Graph       map[string][]string `json:"friend_graph"`
		Assignments map[string][]struct {
			Review  int      `json:"review_idx"`
			Name    string   `json:"name"`
			Friends []string `json:"friends"`
		} `json:"review_assignments"`
	}
	if err := json.Unmarshal(raw, &people); err != nil {
		return words.At(peopleFile, raw, err)
	}
	for i := range d.places {
		reviews := d.places[i].item.Reviews
		for _, a := range people.Assignments[fmt.Sprint(i)] {
			if a.Review < 0 || a.Review >= len(reviews) || a.Name == "" {
				d.stray++
				continue
			}
			reviews[a.Review].Author, reviews[a.Review].Friends = a.Name, a.Friends
		}
	}
	for _, name := range slices.Sorted(maps.Keys(people.Graph)) {
		d.befriend(name, people.Graph[name])
	}
	return nil
}

func (d *data) readRequests(path string) error {
	seen := map[string]bool{}
	return task.EachLine(path, func(l task.Line) error {
		q, err := d.readRequest(l)
		if err != nil {
			return err
		}
		if seen[q.ID] {
			return l.Errorf("request %q appears twice", q.ID)
		}
		seen[q.ID] = true
		d.queries = append(d.queries, q)
		return nil
	})
}

// readTruth sets the right item of each request and checks it against what
// the request itself says.
func (d *data) readTruth(path string) error {
	at := map[string]int{}
	for i, q := range d.queries {
		at[q.ID] = i
	}
	settled := map[string]bool{}
	err := task.EachLine(path, func(l task.Line) error {
		var g truth
		if err := l.Decode(&g); err != nil {
			return err
		}
		i, ok := at[g.Request]
		if !ok {
			return l.Errorf("request %q is not in %s", g.Request, requestsFile)
		}
		if _, dup := settled[g.Request]; dup {
			return l.Errorf("request %q has a ground truth already", g.Request)
		}
		settled[g.Request] = g.Status == "" || g.Status == "ok"
		if !settled[g.Request] {
			d.unsettled = append(d.unsettled, g.Request)
			return nil
		}
		return d.settle(&d.queries[i], g, l)
	})
	if err != nil {
		return err
	}
	for _, q := range d.queries {
		if _, ok := settled[q.ID]; !ok {
			return fmt.Errorf("%s:%d: request %q is not in %s", q.line.File, q.line.Number, q.ID, truthFile)
		}
	}
	d.queries = slices.DeleteFunc(d.queries, func(q query) bool { return !settled[q.ID] })
	return nil
}

// truth is a line of the ground truth.
type truth struct {
	Request string `json:"request_id"`
	Gold    string `json:"gold_restaurant"`
	Index   *int   `json:"gold_idx"`
	Status  string `json:"status"`
}

func (d *data) settle(q *query, g truth, l task.Line) error {
	gold, ok := d.byID[g.Gold]
	switch {
	case !ok:
		return l.Errorf("gold_restaurant %q of request %q is not in %s", g.Gold, g.Request, restaurantsFile)
	case g.Index != nil && *g.Index != gold:
		return l.Errorf("gold_idx of request %q is %d, but %q is restaurant %d, counted from 0", g.Request, *g.Index, g.Gold, gold)
	case q.wanted != "" && q.wanted != g.Gold:
		return l.Errorf("gold_restaurant of request %q is %q, but %q in %s:%d", g.Request, g.Gold, q.wanted, q.line.File, q.line.Number)
	}
	q.gold = gold
	return nil
}

func (d *data) befriend(name string, friends []string) {
	for _, f := range friends {
		if f != name && !slices.Contains(d.friends[name], f) {
			d.friends[name] = append(d.friends[name], f)
		}
	}
}

// tidyFriends leaves out of every list the people that the data says nothing about:
// those who neither wrote a review nor have friends.
func (d *data) tidyFriends() {
	people := map[string]bool{}
	for name := range d.friends {
		people[name] = true
	}
	for _, p := range d.places {
		for _, r := range p.item.Reviews {
			people[r.Author] = true
		}
	}
	unknown := func(name string) bool { return !people[name] }
	for name, list := range d.friends {
		d.friends[name] = slices.DeleteFunc(list, unknown)
	}
	for _, p := range d.places {
		for i := range p.item.Reviews {
			r := &p.item.Reviews[i]
			r.Friends = slices.DeleteFunc(r.Friends, unknown)
		}
	}
}
