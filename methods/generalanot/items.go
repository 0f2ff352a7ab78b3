package generalanot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"noema/methods"
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
	if err := methods.DecodeJSON(raw, &object); err != nil {
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
