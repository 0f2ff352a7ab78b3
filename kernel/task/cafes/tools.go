package cafes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

func (s *shelf) filterItems(args struct {
	Path, Op string
	Value    any
}) (any, error) {
	if err := s.check(args.Path); err != nil {
		return nil, err
	}
	items := []int{}
	for i, values := range s.values {
		if relates(values[args.Path], args.Op, args.Value) {
			items = append(items, i+1)
		}
	}
	return items, nil
}

// relates compares a value of an item with a wanted one.
func relates(have any, op string, want any) bool {
	switch op {
	case "=":
		return same(have, want)
	case "!=":
		return !same(have, want)
	case "contains":
		return contains(have, want)
	}
	order, ok := compare(have, want)
	switch op {
	case "<":
		return ok && order < 0
	case "<=":
		return ok && order <= 0
	case ">":
		return ok && order > 0
	}
	return ok && order >= 0
}

func same(have, want any) bool {
	if want, ok := want.(bool); ok {
		have, _ := have.(bool)
		return have == want
	}
	order, ok := compare(have, want)
	return ok && order == 0
}

// contains looks into a text for a text, and into a list for a value.
func contains(have, want any) bool {
	switch have := have.(type) {
	case string:
		text, ok := want.(string)
		return ok && strings.Contains(strings.ToLower(have), strings.ToLower(text))
	case []any:
		return slices.ContainsFunc(have, func(v any) bool { return same(v, want) })
	}
	return false
}

// compare orders two numbers, also those written as texts, or two texts in any
// case; nothing else has an order.
func compare(a, b any) (order int, ok bool) {
	x, ok1 := asNumber(a)
	y, ok2 := asNumber(b)
	if ok1 && ok2 {
		return cmp.Compare(x, y), true
	}
	s, ok1 := a.(string)
	t, ok2 := b.(string)
	return strings.Compare(strings.ToLower(s), strings.ToLower(t)), ok1 && ok2
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		x, err := strconv.ParseFloat(v, 64)
		return x, err == nil && x == x
	}
	return 0, false
}

type sortedItem struct {
	Item  int `json:"item"`
	Value any `json:"value"`
}

func (s *shelf) sortItems(args struct {
	Path       string
	Descending bool
}) (any, error) {
	if err := s.check(args.Path); err != nil {
		return nil, err
	}
	rows := []sortedItem{}
	for i, values := range s.values {
		switch v := values[args.Path].(type) {
		case float64, string:
			rows = append(rows, sortedItem{i + 1, v})
		}
	}
	slices.SortStableFunc(rows, func(a, b sortedItem) int {
		order := sortOrder(a.Value, b.Value)
		if args.Descending {
			return -order
		}
		return order
	})
	return rows, nil
}

// sortOrder puts numbers before other texts.
func sortOrder(a, b any) int {
	_, isNumber := asNumber(a)
	_, other := asNumber(b)
	switch {
	case isNumber == other:
		order, _ := compare(a, b)
		return order
	case isNumber:
		return -1
	}
	return 1
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
		return nearby(s.friends, person, 1), nil
	case *hops == 0:
		return map[string]bool{person: true}, nil
	}
	return nearby(s.friends, person, *hops), nil
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
