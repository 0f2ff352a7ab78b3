package cafes

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/kernel/task/internal/tools"
	"noema/methods"
)

// The bounds of what tools show.
const (
	maxPaths    = 200 // paths that one call lists
	maxValues   = 20  // different values of a path
	maxExcerpts = 3   // of an item's reviews
	excerptSize = 120 // bytes
)

type namedItem struct {
	Item int    `json:"item"`
	Name string `json:"name"`
}

func (s *shelf) listItems(struct{}) (any, error) {
	rows := make([]namedItem, len(s.items))
	for i, item := range s.items {
		name, _ := item["name"].(string)
		rows[i] = namedItem{i + 1, name}
	}
	return rows, nil
}

// attribute is a path with its values. More counts those not listed.
type attribute struct {
	Path   string     `json:"path"`
	Values []valueRow `json:"values"`
	More   int        `json:"more,omitempty"`
}

type valueRow struct {
	Value any   `json:"value"`
	Items []int `json:"items"`
}

func (s *shelf) listAttributes(args struct{ Prefix string }) (any, error) {
	rows := []attribute{}
	for _, path := range s.paths() {
		if strings.HasPrefix(path, args.Prefix) {
			rows = append(rows, s.attribute(path))
		}
	}
	if len(rows) == 0 {
		return nil, s.unknown(args.Prefix)
	}
	if len(rows) > maxPaths {
		return nil, fmt.Errorf("%d paths begin with %q, more than the maximum of %d: give a longer prefix, such as %q", len(rows), args.Prefix, maxPaths, rows[0].Path)
	}
	return rows, nil
}

// attribute lists the values at a path by the first item that has each.
func (s *shelf) attribute(path string) attribute {
	a := attribute{Path: path, Values: []valueRow{}}
	at := map[string]int{}
	for i, values := range s.values {
		v, ok := values[path]
		if !ok {
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil { // it came from JSON
			continue
		}
		k, seen := at[string(raw)]
		if !seen {
			k, at[string(raw)] = len(at), len(at)
			if k < maxValues {
				a.Values = append(a.Values, valueRow{Value: v})
			}
		}
		if k < maxValues {
			a.Values[k].Items = append(a.Values[k].Items, i+1)
		}
	}
	a.More = max(0, len(at)-maxValues)
	return a
}

// check refuses a path that no item has, unless a group that lacks it leaves it
// out where it is false.
func (s *shelf) check(path string) error {
	for _, values := range s.values {
		if _, ok := values[path]; ok {
			return nil
		}
	}
	if s.groups[path] {
		return fmt.Errorf("%q is a group of values: name one of them, such as %q; list_attributes lists them", path, path+".…")
	}
	if at := strings.LastIndexByte(path, '.'); at > 0 && s.groups[path[:at]] {
		return nil
	}
	return s.unknown(path)
}

func (s *shelf) unknown(path string) error {
	return fmt.Errorf("no item has the path %.80q%s: list_attributes lists the paths", path, methods.DidYouMean(path, s.paths()))
}

const dayLength = 24 * 60

func (s *shelf) openItems(args struct{ Day, From, To string }) (any, error) {
	from, err := timeOfDay("from", args.From)
	if err != nil {
		return nil, err
	}
	to := from
	if args.To != "" {
		if to, err = timeOfDay("to", args.To); err != nil {
			return nil, err
		}
		if to <= from {
			to += dayLength
		}
	}
	before := days()[(slices.Index(days(), args.Day)+6)%7]
	items := []int{}
	for i, values := range s.values {
		if openDuring(values["hours."+args.Day], from, to) || openDuring(values["hours."+before], from+dayLength, to+dayLength) {
			items = append(items, i+1)
		}
	}
	return items, nil
}

// openDuring reports whether a day's hours, such as "18:00-2:00", hold all of a
// time, in minutes after the midnight that the day begins with. What is not a span
// of time is not open.
func openDuring(hours any, from, to int) bool {
	text, _ := hours.(string)
	open, shut, err := Span(text)
	return err == nil && open <= from && to <= shut && (from < to || from < shut)
}

func timeOfDay(name, text string) (int, error) {
	minutes, n := 0, 0
	if tokens := tokenize(text); len(tokens) > 0 {
		if minutes, n = readTime(tokens); n < len(tokens) {
			n = 0
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("%s %.40q is not a time of day: write it as in \"7:30\" or \"19:00\"", name, text)
	}
	return minutes, nil
}

type reviewRow struct {
	Item     int      `json:"item"`
	Count    int      `json:"count"`
	Excerpts []string `json:"excerpts"`
}

func (s *shelf) findReviews(args struct {
	Words  []string
	Person string
	Hops   *int
}) (any, error) {
	near, err := s.near(args.Person, args.Hops)
	if err != nil {
		return nil, err
	}
	rows := []reviewRow{}
	for i, reviews := range s.reviews {
		row := reviewRow{Item: i + 1, Excerpts: []string{}}
		for _, r := range reviews {
			at, ok := tools.MentionsAny(r.Text, args.Words)
			if !ok || near != nil && !near[r.Author] {
				continue
			}
			if row.Count++; row.Count <= maxExcerpts {
				row.Excerpts = append(row.Excerpts, tools.Excerpt(r.Author+": "+r.Text, at+len(r.Author)+2, excerptSize))
			}
		}
		if row.Count > 0 {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// near is who may have written a review; nil is anyone.
func (s *shelf) near(person string, hops *int) (map[string]bool, error) {
	if person == "" {
		if hops != nil {
			return nil, fmt.Errorf("hops without a person: name the person, or leave hops out")
		}
		return nil, nil
	}
	if !s.isPerson(person) {
		names := slices.Collect(maps.Keys(s.friends))
		return nil, fmt.Errorf("nobody is called %.80q%s: use a name of the friends or of a review's author", person, methods.DidYouMean(person, names))
	}
	switch {
	case hops == nil:
		return Nearby(s.friends, person, 1), nil
	case *hops == 0:
		return map[string]bool{person: true}, nil
	}
	return Nearby(s.friends, person, *hops), nil
}

func (s *shelf) isPerson(name string) bool {
	if _, ok := s.friends[name]; ok {
		return true
	}
	for _, reviews := range s.reviews {
		if slices.ContainsFunc(reviews, func(r review) bool { return r.Author == name }) {
			return true
		}
	}
	return false
}
