package cafes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"noema/kernel/task"
	"noema/kernel/task/internal/public"
	"noema/kernel/task/internal/words"
	"noema/methods/reply"
)

// item is a restaurant as problems show it: the only fields that do.
type item struct {
	Name        string            `json:"name"`
	Categories  []string          `json:"categories"`
	Stars       *float64          `json:"stars,omitempty"`
	ReviewCount *int              `json:"review_count,omitempty"`
	Attributes  map[string]any    `json:"attributes"`
	Hours       map[string]string `json:"hours"`
	Reviews     []shownReview     `json:"reviews"`
}

// shownReview is a review as problems show it: the only fields that do. The
// numbers about the writer are there because requests may weigh by them.
type shownReview struct {
	Author  string   `json:"author"`
	Friends []string `json:"friends,omitempty"`
	User    *writer  `json:"user,omitempty"`
	Stars   *float64 `json:"stars,omitempty"`
	Date    string   `json:"date,omitempty"`
	Text    string   `json:"text"`
	Useful  *int     `json:"useful,omitempty"`
	Funny   *int     `json:"funny,omitempty"`
	Cool    *int     `json:"cool,omitempty"`
}

type writer struct {
	ReviewCount  *int            `json:"review_count,omitempty"`
	AverageStars *float64        `json:"average_stars,omitempty"`
	YelpingSince string          `json:"yelping_since,omitempty"`
	Fans         *int            `json:"fans,omitempty"`
	Elite        json.RawMessage `json:"elite,omitempty"` // years, as a list or a text
}

func (d *data) readPlace(l task.Line) (place, error) {
	var in struct {
		ID string `json:"business_id"`
		item
		Categories json.RawMessage `json:"categories"`
		Attributes json.RawMessage `json:"attributes"`
		Hours      json.RawMessage `json:"hours"`
		Reviews    any             `json:"reviews" hidden:"they have a file of their own"`
	}
	if err := d.Line(l, "restaurants", &in); err != nil {
		return place{}, err
	}
	if in.ID == "" || in.Name == "" {
		return place{}, l.Errorf("a restaurant needs a business_id and a name")
	}
	p := place{id: in.ID, item: in.item}
	var err error
	if p.item.Attributes, err = dict(in.Attributes); err != nil {
		return place{}, l.Errorf("attributes of %q: %w", in.Name, err)
	}
	for key, v := range p.item.Attributes {
		if text, ok := v.(string); ok {
			p.item.Attributes[key] = literal(text)
		}
	}
	if p.item.Hours, err = hours(in.Hours); err != nil {
		return place{}, l.Errorf("hours of %q: %w", in.Name, err)
	}
	if p.item.Categories, err = public.Names(in.Categories); err != nil {
		return place{}, l.Errorf("categories of %q: %w", in.Name, err)
	}
	p.item.Categories = append([]string{}, p.item.Categories...) // shown as a list, though it is empty
	p.item.Reviews = []shownReview{}
	return p, nil
}

// literal is the value of a Python literal, or text itself if it is not one.
func literal(text string) any {
	v, err := reply.PythonLiteral(strings.TrimSpace(text))
	if err != nil {
		return text
	}
	return v
}

// dict reads an object, or a Python dict inside a string; null is empty.
func dict(raw json.RawMessage) (map[string]any, error) {
	var v any
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &v); err != nil {
			return nil, err
		}
	}
	if text, ok := v.(string); ok {
		v = literal(text)
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	}
	return nil, fmt.Errorf("%.60s is not a JSON object", raw)
}

// hours reads opening hours and writes "8:0-15:30" as "8:00-15:30".
func hours(raw json.RawMessage) (map[string]string, error) {
	all, err := dict(raw)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for day, v := range all {
		if v == nil {
			continue // closed
		}
		text, ok := v.(string)
		if !slices.Contains(days(), day) {
			return nil, fmt.Errorf("%q is not a day such as %s", day, time.Monday)
		}
		var h1, m1, h2, m2 int
		var rest string
		n := 0
		if ok {
			n, _ = fmt.Sscanf(text+" end", "%d:%d-%d:%d %s", &h1, &m1, &h2, &m2, &rest) // n tells how far it got
		}
		if n != 5 || rest != "end" || !clockTime(h1, m1) || !clockTime(h2, m2) {
			return nil, fmt.Errorf("%s is %v, not a time span such as \"8:0-20:30\"", day, v)
		}
		out[day] = clock(60*h1+m1) + "-" + clock(60*h2+m2)
	}
	return out, nil
}

func clockTime(h, m int) bool { return h >= 0 && m >= 0 && m < 60 && 60*h+m <= 24*60 }

// readReview returns a review and the id of the business that it is of.
func (d *data) readReview(l task.Line) (shownReview, string, error) {
	var in struct {
		Business string `json:"business_id"`
		UserID   string `json:"user_id"`
		User     *struct {
			writer
			Name    string          `json:"name"`
			Friends json.RawMessage `json:"friends"`
		} `json:"user"`
		shownReview
		Author  any `json:"author" hidden:"it is the user's name"`
		Friends any `json:"friends" hidden:"they are the user's"`
	}
	if err := d.Line(l, "reviews", &in); err != nil {
		return shownReview{}, "", err
	}
	r := in.shownReview
	r.Author = in.UserID
	r.Date, _, _ = strings.Cut(r.Date, " ") // the time of day says nothing
	if in.User == nil {
		return r, in.Business, nil
	}
	r.User = &in.User.writer
	if in.User.Name != "" {
		r.Author = in.User.Name
	}
	var err error
	if r.Friends, err = public.Names(in.User.Friends); err != nil {
		return r, "", l.Errorf("friends: %w", err)
	}
	return r, in.Business, nil
}

func (d *data) readRequest(l task.Line) (query, error) {
	var raw struct {
		ID        string          `json:"id"`
		Group     string          `json:"group"`
		Text      string          `json:"text"`
		Structure json.RawMessage `json:"structure" hidden:"it is the answer in other words"`
		Gold      string          `json:"gold_restaurant" hidden:"it is the answer"`
	}
	if err := d.Line(l, "requests", &raw); err != nil {
		return query{}, err
	}
	if raw.ID == "" || raw.Text == "" {
		return query{}, l.Errorf("a request needs an id and a text")
	}
	q := query{ID: raw.ID, Group: raw.Group, Text: raw.Text, wanted: raw.Gold, line: task.Line{File: l.File, Number: l.Number}}
	if len(raw.Structure) > 0 && string(raw.Structure) != "null" {
		if err := q.readStructure(raw.Structure); err != nil {
			return query{}, l.Errorf("structure of request %q: %w", raw.ID, err)
		}
	}
	slices.Sort(q.evidence)
	q.evidence = slices.Compact(q.evidence)
	return q, nil
}

// readStructure collects the kinds of evidence in a condition tree, which is
// otherwise kept from everybody: it is the answer in other words.
func (q *query) readStructure(raw json.RawMessage) error {
	var n struct {
		Op       string            `json:"op"`
		Args     []json.RawMessage `json:"args"`
		Evidence *struct {
			Kind string `json:"kind"`
		} `json:"evidence"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return words.Of(err)
	}
	if n.Evidence != nil && n.Evidence.Kind != "" {
		q.evidence = append(q.evidence, n.Evidence.Kind)
		return nil
	}
	if !slices.Contains([]string{"AND", "OR", "NOT"}, n.Op) || len(n.Args) == 0 {
		return fmt.Errorf("%.60s is neither a condition with a kind of evidence nor AND, OR or NOT with arguments", raw)
	}
	for _, a := range n.Args {
		if err := q.readStructure(a); err != nil {
			return err
		}
	}
	return nil
}
