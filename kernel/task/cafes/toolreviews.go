package cafes

import (
	"fmt"
	"maps"
	"slices"

	"noema/kernel/task/internal/tools"
	"noema/methods"
)

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
