package generalanot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"noema/methods"
)

// Context is what a seed is executed on: a restaurant and its reviews, an item
// of a ranking with its reviews, or the texts and data of a choice.
type Context struct {
	Reviews []Review
	data    map[string]any // for lookups: the whole context, or what the inputs hold
	inputs  map[string]any // what formulas read besides the extractions, by name
	item    int            // the number of the item of a ranking, from 1; 0 for none
}

// Review is one review. What the data lack is empty.
type Review struct {
	N      int // its number in the context, from 1
	Text   string
	Date   string      // as in the data, usually ISO: 2024-05-01
	Stars  json.Number // empty if unknown
	Useful json.Number // votes; empty if unknown

	item int            // the number of the item that it is of, in a ranking
	more map[string]any // what else formulas read of it, in rankings and choices
}

// metadata lists what formulas can read of a review besides the extraction
// fields. In rankings and choices that is also the entry of the data itself.
func metadata(kind methods.AnswerKind) []string {
	names := []string{"stars", "date", "year", "useful", "text"}
	switch kind {
	case methods.Choice:
		return append(names, "author", "title", "review", itemInput)
	case methods.Ranking:
		return append(names, "author", "title", "review")
	}
	return names
}

// values are the review's metadata as formulas see them; what is unknown is
// None.
func (r Review) values() map[string]any {
	v := map[string]any{"stars": number(r.Stars), "date": r.day(), "year": r.year(), "useful": number(r.Useful), "text": r.Text}
	maps.Copy(v, r.more)
	return v
}

func number(n json.Number) any {
	if n == "" {
		return nil
	}
	return n
}

// day is the date without the time of day that some data add to it, or nil.
func (r Review) day() any {
	if r.Date == "" {
		return nil
	}
	if n := len(time.DateOnly); len(r.Date) > n {
		if _, err := time.Parse(time.DateOnly, r.Date[:n]); err == nil {
			return r.Date[:n]
		}
	}
	return r.Date
}

// year is the year that the date begins with, or nil.
func (r Review) year() any {
	const digits = 4
	if len(r.Date) < digits || len(r.Date) > digits && r.Date[digits] != '-' {
		return nil
	}
	n, err := strconv.ParseUint(r.Date[:digits], 10, 16)
	if err != nil {
		return nil
	}
	return int64(n)
}

// ParseContext reads a problem's context: a JSON object with a list of
// reviews, each with text, date, stars and useful. The rest of the object is
// for lookups.
func ParseContext(raw json.RawMessage) (*Context, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, errors.New("read context: empty: the method needs a restaurant with reviews")
	}
	c := &Context{}
	if err := methods.DecodeJSON(raw, &c.data); err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	var shape struct{ Reviews []json.RawMessage }
	if err := json.Unmarshal(raw, &shape); err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	if shape.Reviews == nil {
		return nil, errors.New(`read context: the list "reviews" is missing`)
	}
	for i, raw := range shape.Reviews {
		r := Review{}
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("read context: review %d: %w", i+1, err)
		}
		r.N = i + 1
		r.Text = strings.ToValidUTF8(r.Text, "\ufffd")
		c.Reviews = append(c.Reviews, r)
	}
	return c, nil
}

// field follows a dotted path into the context and returns the text of the scalar
// there, or those of the scalars of a list. It is false where the path leads to neither.
func (c *Context) field(path string) (texts []string, found bool) {
	var at any = c.data
	for _, key := range strings.Split(path, ".") {
		dict, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		if at, ok = dict[key]; !ok {
			return nil, false
		}
	}
	list, isList := at.([]any)
	if !isList {
		list = []any{at}
	}
	for _, one := range list {
		switch v := one.(type) {
		case string:
			texts = append(texts, v)
		case json.Number:
			texts = append(texts, v.String())
		case bool:
			texts = append(texts, strconv.FormatBool(v))
		}
	}
	return texts, isList || len(texts) > 0
}

// find is the value of the lookup for a context, and whether the table had it. Of a
// list any element may match; the first key of the table that does decides.
func (l Lookup) find(c *Context) (any, bool) {
	texts, _ := c.field(l.Field)
	for _, e := range l.Table {
		if slices.ContainsFunc(texts, e.matches) {
			return e.Value, true
		}
	}
	return l.Default, false
}

// matches compares with a text of the field. A key between asterisks may stand
// anywhere in it, as "*Thai*" does in "Thai, Noodles".
func (e LookupEntry) matches(text string) bool {
	if inner, ok := strings.CutPrefix(e.Key, "*"); ok && len(inner) > 1 && strings.HasSuffix(inner, "*") {
		return strings.Contains(fold(text), fold(strings.TrimSuffix(inner, "*")))
	}
	return strings.EqualFold(e.Key, text)
}
