package generalanot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods/generalanot/pyexpr"
	"noema/methods/reply"
)

// What a context of a ranking or a choice may be, at most. A formula is run for
// every item, so their number bounds the work.
const (
	maxContext = 64 << 20 // bytes
	maxItems   = 1000
)

// The keys of a context whose lists hold texts, as kernel/task has them.
const (
	itemsKey      = "items"
	reviewsKey    = "reviews"
	paragraphsKey = "paragraphs"
	attributesKey = "attributes"
)

// decodeObject reads a problem's context for rankings and choices. An absent one
// is an empty object.
func decodeObject(raw json.RawMessage) (map[string]any, error) {
	if len(raw) > maxContext {
		return nil, fmt.Errorf("read context: %d bytes, more than %d", len(raw), maxContext)
	}
	object := map[string]any{}
	if len(bytes.TrimSpace(raw)) == 0 {
		return object, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&object); err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	return object, nil
}

// readItems makes a context of each item of a ranking. Formulas read the item,
// and everything besides the items as context.
func readItems(raw json.RawMessage) ([]*Context, error) {
	object, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	items, _ := object[itemsKey].([]any)
	switch {
	case len(items) == 0:
		return nil, fmt.Errorf("read context: a ranking needs a list %q, and it is missing or empty", itemsKey)
	case len(items) > maxItems:
		return nil, fmt.Errorf("read context: %d items, more than %d: rank fewer at a time", len(items), maxItems)
	}
	rest := maps.Clone(object)
	delete(rest, itemsKey)
	shared, err := pyexpr.FromGo(rest)
	if err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	contexts := make([]*Context, len(items))
	for i, item := range items {
		item = plainAttributes(item)
		value, err := pyexpr.FromGo(item)
		if err != nil {
			return nil, fmt.Errorf("read context: item %d: %w", i+1, err)
		}
		c := &Context{
			Reviews: textsOf(item), item: i + 1,
			data:   map[string]any{itemInput: item, contextInput: rest},
			inputs: map[string]any{itemInput: value, contextInput: shared},
		}
		for j := range c.Reviews {
			c.Reviews[j].item = c.item
		}
		contexts[i] = c
	}
	return contexts, nil
}

// plainAttributes is an item with the values of its attributes that are Python
// literals inside strings, such as "u'free'" or "{'hipster': True}", as values:
// public data has them so, and formulas cannot look into a string.
func plainAttributes(item any) any {
	dict, _ := item.(map[string]any)
	have, _ := dict[attributesKey].(map[string]any)
	if have == nil {
		return item
	}
	plain := make(map[string]any, len(have))
	for name, v := range have {
		if text, ok := v.(string); ok {
			if literal, err := reply.PythonLiteral(strings.TrimSpace(text)); err == nil {
				v = literal
			}
		}
		plain[name] = v
	}
	dict = maps.Clone(dict)
	dict[attributesKey] = plain
	return dict
}

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
