package policy

import (
	"fmt"
	"math"
	"strconv"

	"noema/kernel/task/internal/tools"
)

const excerptSize = 160 // bytes

// reviewRow is a review with its number.
type reviewRow struct {
	Review int    `json:"review"`
	Author string `json:"author"`
	Stars  int    `json:"stars"`
	Date   string `json:"date"`
	Year   int    `json:"year"`
	Useful int    `json:"useful"`
	Text   string `json:"text"`
}

func (f *file) row(i int, text string) reviewRow {
	r := f.Reviews[i]
	year := 0
	if len(r.Date) >= 4 {
		year, _ = strconv.Atoi(r.Date[:4]) // 0 where the date has no year
	}
	return reviewRow{i + 1, r.Author, r.Stars, r.Date, year, r.Useful, text}
}

// choice is which reviews a tool looks at.
type choice struct {
	Words    []string
	MinStars *float64 `json:"min_stars"`
	MaxStars *float64 `json:"max_stars"`
	Since    string
	Until    string
	Full     bool
}

// takes reports whether a review is chosen, and where it mentions the words.
func (c choice) takes(r review) (at int, ok bool) {
	if c.MinStars != nil && float64(r.Stars) < *c.MinStars || c.MaxStars != nil && float64(r.Stars) > *c.MaxStars {
		return 0, false
	}
	// A bound such as 2024-05 holds for all of the days that begin with it.
	if r.Date < c.Since || c.Until != "" && r.Date[:min(len(r.Date), len(c.Until))] > c.Until {
		return 0, false
	}
	return tools.MentionsAny(r.Text, c.Words)
}

func (f *file) find(c choice) (any, error) {
	rows := []reviewRow{}
	for i, r := range f.Reviews {
		if at, ok := c.takes(r); ok {
			text := r.Text
			if !c.Full {
				text = tools.Excerpt(text, at, excerptSize)
			}
			rows = append(rows, f.row(i, text))
		}
	}
	return rows, nil
}

func (f *file) count(c choice) (any, error) {
	n := 0
	for _, r := range f.Reviews {
		if _, ok := c.takes(r); ok {
			n++
		}
	}
	return n, nil
}

func (f *file) read(args struct{ Review int }) (any, error) {
	if args.Review < 1 || args.Review > len(f.Reviews) {
		return nil, fmt.Errorf("there is no review %d: name one of 1 to %d", args.Review, len(f.Reviews))
	}
	return f.row(args.Review-1, f.Reviews[args.Review-1].Text), nil
}

// restaurantRow is what is known of the restaurant beside its reviews' texts.
type restaurantRow struct {
	Name       string   `json:"name"`
	Categories []string `json:"categories,omitempty"`
	Reviews    int      `json:"reviews"`
	First      string   `json:"first,omitempty"`
	Last       string   `json:"last,omitempty"`
	MeanStars  *float64 `json:"mean_stars,omitempty"` // rounded to two decimals; none without reviews
}

func (f *file) about(struct{}) (any, error) {
	row := restaurantRow{Name: f.Restaurant.Name, Categories: f.Restaurant.Categories, Reviews: len(f.Reviews)}
	sum := 0
	for i, r := range f.Reviews {
		sum += r.Stars
		if i == 0 || r.Date < row.First {
			row.First = r.Date
		}
		row.Last = max(row.Last, r.Date)
	}
	if n := len(f.Reviews); n > 0 {
		mean := math.Round(100*float64(sum)/float64(n)) / 100
		row.MeanStars = &mean
	}
	return row, nil
}
