package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"noema/kernel/task"
	"noema/kernel/task/internal/public"
	"noema/kernel/task/internal/words"
)

// line is a line of the data set.
type line struct {
	ID       string `json:"business_id"`
	Business struct {
		ID         any             `json:"business_id"` // said already
		Name       string          `json:"name"`
		Categories json.RawMessage `json:"categories"`
	} `json:"business"`
	Reviews []rawReview `json:"reviews"`
}

type rawReview struct {
	Business any `json:"business_id"` // said already
	User     struct {
		Name string `json:"name"`
	} `json:"user" opaque:"true"`
	Stars  float64 `json:"stars"`
	Date   string  `json:"date"`
	Useful int     `json:"useful"`
	Text   *string `json:"text"`
}

func (d *data) readDataset(path string, golds map[string]map[string]json.RawMessage) error {
	if _, err := d.File(path); err != nil {
		return err
	}
	seen := map[string]bool{}
	return task.EachLine(path, func(l task.Line) error {
		var in line
		if err := l.Decode(&in); err != nil {
			return err
		}
		if in.ID == "" || seen[in.ID] {
			return l.Errorf("business_id %q is empty or appears twice", in.ID)
		}
		seen[in.ID] = true
		p, err := in.place(l)
		if err != nil {
			return err
		}
		if p.truth = golds[in.ID]; p.truth == nil {
			d.unjudged = append(d.unjudged, in.ID)
			return nil
		}
		if err := json.Unmarshal(p.truth[VerdictName], &p.verdict); err != nil {
			return l.Errorf("verdict: %w", words.Of(err))
		}
		if len(p.reviews) < d.k {
			d.fewer++
		}
		d.places = append(d.places, p)
		return d.Line(l, "", &in)
	})
}

// place is the restaurant of a line.
func (in line) place(l task.Line) (dirPlace, error) {
	p := dirPlace{id: in.ID, place: place{Name: in.Business.Name}}
	if p.place.Name == "" {
		return p, l.Errorf("restaurant %q has no business.name", in.ID)
	}
	var err error
	if p.place.Categories, err = public.Names(in.Business.Categories); err != nil {
		return p, l.Errorf("business.categories: %w", err)
	}
	if len(in.Reviews) == 0 {
		return p, l.Errorf("restaurant %q has no reviews", in.ID)
	}
	for i, r := range in.Reviews {
		read, err := r.review()
		if err != nil {
			return p, l.Errorf("review %d: %w", i+1, err)
		}
		p.reviews = append(p.reviews, read)
	}
	return p, nil
}

func (r rawReview) review() (review, error) {
	out := review{Author: r.User.Name, Stars: int(r.Stars), Useful: r.Useful}
	if r.Stars != math.Trunc(r.Stars) || r.Stars < 1 || r.Stars > 5 {
		return out, fmt.Errorf("stars must be 1 to 5, not %v", r.Stars)
	}
	if r.Text == nil {
		return out, errors.New("the text is missing")
	}
	out.Text = *r.Text
	if len(r.Date) >= len(time.DateOnly) {
		out.Date = r.Date[:len(time.DateOnly)]
	}
	if _, err := time.Parse(time.DateOnly, out.Date); err != nil {
		return out, fmt.Errorf("date %.40q must start like 2024-05-01", r.Date)
	}
	return out, nil
}
