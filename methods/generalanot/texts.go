package generalanot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods/generalanot/pyexpr"
)

// textsOf are the texts of an item or a context: its reviews or else its
// paragraphs, or the value itself if it is a text or has a "text".
func textsOf(v any) []Review {
	dict, ok := v.(map[string]any)
	for _, key := range []string{reviewsKey, paragraphsKey} {
		if list, found := dict[key].([]any); found {
			texts := make([]Review, len(list))
			for i, e := range list {
				texts[i] = textOf(e, i+1)
			}
			return texts
		}
	}
	if _, hasText := dict["text"].(string); ok && !hasText {
		return nil
	}
	return []Review{textOf(v, 1)}
}

// textOf is a text with what the data says about it. What is not a text is an
// empty one, so that the others keep their numbers.
func textOf(v any, n int) Review {
	r := Review{N: n, more: map[string]any{"author": nil, "title": nil, "review": v}}
	if text, ok := v.(string); ok {
		r.Text = strings.ToValidUTF8(text, "\ufffd")
		return r
	}
	entry, _ := v.(map[string]any)
	text, _ := entry["text"].(string)
	r.Text = strings.ToValidUTF8(text, "\ufffd")
	r.Date, _ = entry["date"].(string)
	r.Stars, _ = entry["stars"].(json.Number)
	r.Useful, _ = entry["useful"].(json.Number)
	r.more["author"], r.more["title"] = entry["author"], entry["title"]
	return r
}

// readMaterial makes the one context of a choice. Its texts are the reviews of
// all items, the reviews or the paragraphs of the problem's context; or else
// one text, of all texts in the context; or else the question itself. It also
// says in words what they are.
func readMaterial(raw json.RawMessage, query string) (c *Context, what string, err error) {
	object, err := decodeObject(raw)
	if err != nil {
		return nil, "", err
	}
	c = &Context{}
	what = "the entries of context['reviews'] or context['paragraphs']"
	if items, ok := object[itemsKey].([]any); ok {
		what = "the reviews of all entries of context['items'], where e['item'] is the entry"
		if object, err = c.addItems(object, items); err != nil {
			return nil, "", err
		}
	}
	value, err := pyexpr.FromGo(object)
	if err != nil {
		return nil, "", fmt.Errorf("read context: %w", err)
	}
	c.data, c.inputs = map[string]any{contextInput: object}, map[string]any{contextInput: value}
	if c.Reviews == nil {
		c.Reviews = textsOf(object)
	}
	if len(c.Reviews) == 0 {
		text := allTexts(object, "")
		what = "one text, which has all texts of the context"
		if text == "" {
			what, text = "one text, the question itself", query
		}
		c.Reviews = []Review{textOf(text, 1)}
	}
	for i := range c.Reviews {
		if more := c.Reviews[i].more; more[itemInput] == nil {
			more[itemInput] = nil
		}
	}
	return c, what, nil
}

// addItems adds the texts of all items, numbered through, and returns the object
// with the items as formulas read them.
func (c *Context) addItems(object map[string]any, items []any) (map[string]any, error) {
	if len(items) > maxItems {
		return nil, fmt.Errorf("read context: %d items, more than %d", len(items), maxItems)
	}
	plain := make([]any, len(items))
	for i, item := range items {
		plain[i] = plainAttributes(item)
		value, err := pyexpr.FromGo(plain[i])
		if err != nil {
			return nil, fmt.Errorf("read context: item %d: %w", i+1, err)
		}
		for _, r := range textsOf(plain[i]) {
			r.N = len(c.Reviews) + 1
			r.more[itemInput] = value
			c.Reviews = append(c.Reviews, r)
		}
	}
	object = maps.Clone(object)
	object[itemsKey] = plain
	return object, nil
}

// allTexts are the texts in a value with their places, a line each.
func allTexts(v any, place string) string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) == "" {
			return ""
		}
		return strings.TrimPrefix(place+": "+strings.ToValidUTF8(v, "\ufffd")+"\n", ": ")
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(allTexts(e, place))
		}
		return b.String()
	case map[string]any:
		var b strings.Builder
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(allTexts(v[key], strings.TrimPrefix(place+"."+key, ".")))
		}
		return b.String()
	}
	return ""
}
