package cafes

import (
	"encoding/json"
	"fmt"
	"strings"

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
