package cafes

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"noema/kernel/task"
	"noema/kernel/task/internal/tools"
)

// environment offers pure tools over the items of a problem: list_items,
// list_attributes, filter_items, open_items, find_reviews and sort_items. Items
// are named by their numbers, from 1 in the order shown, so that a result means
// nothing outside of the trial that it was made in.
var environment = sync.OnceValue(func() task.PerTrial {
	return &tools.Environment[*shelf]{Task: Name, Holds: "items", Set: toolset, Read: newShelf}
})

func newShelf(raw json.RawMessage) (*shelf, error) {
	var context struct {
		Friends map[string][]string `json:"friends"`
		Items   []map[string]any    `json:"items"`
	}
	if err := json.Unmarshal(raw, &context); err != nil {
		return nil, err
	}
	s := &shelf{friends: context.Friends, items: context.Items, groups: map[string]bool{}}
	for _, item := range context.Items {
		values := map[string]any{}
		s.flatten(values, "", item)
		s.values = append(s.values, values)
		s.reviews = append(s.reviews, readReviews(item))
	}
	return s, nil
}

// shelf is the items of one problem as tools see them.
type shelf struct {
	friends map[string][]string
	items   []map[string]any
	values  []map[string]any // by path, of each item
	groups  map[string]bool  // paths of objects
	reviews [][]review
}

// flatten files the values below v by their dotted paths. Reviews have a tool of
// their own; here they count.
func (s *shelf) flatten(into map[string]any, path string, v any) {
	fields, ok := v.(map[string]any)
	if !ok {
		into[path] = v
		return
	}
	if path != "" {
		s.groups[path] = true
		path += "."
	}
	for key, v := range fields {
		if list, ok := v.([]any); ok && path+key == reviewsKey {
			into[reviewsKey] = float64(len(list))
			continue
		}
		s.flatten(into, path+key, v)
	}
}

// reviewsKey is the key of an item's reviews; as a path it is their number.
const reviewsKey = "reviews"

func readReviews(item map[string]any) []review {
	list, _ := item[reviewsKey].([]any)
	reviews := make([]review, len(list))
	for i, r := range list {
		fields, _ := r.(map[string]any)
		reviews[i].Author, _ = fields["author"].(string)
		reviews[i].Text, _ = fields["text"].(string)
	}
	return reviews
}

// paths lists the paths that some item has a value at.
func (s *shelf) paths() []string {
	all := map[string]bool{}
	for _, values := range s.values {
		for path := range values {
			all[path] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

const (
	itemsOut  = `{"type":"array","items":{"type":"integer"}}`
	rowsStart = `{"type":"array","items":{"type":"object","properties":{`
	rowsEnd   = `}}}`
)

// toolset is prepared once: reading schemas takes longer than running a tool.
var toolset = sync.OnceValue(func() *tools.Set[*shelf] {
	return tools.NewSet(
		tools.Tool[*shelf]{Name: "list_items", Description: "all items with their names",
			Parameters: `{"type":"object","properties":{},"additionalProperties":false}`,
			Result:     rowsStart + `"item":{"type":"integer"},"name":{"type":"string"}` + rowsEnd, Run: tools.Of((*shelf).listItems)},
		tools.Tool[*shelf]{Name: "list_attributes", Description: "the paths inside items, such as attributes.WiFi, that begin with a prefix (all without one), and the different values at each with the items that have them",
			Parameters: `{"type":"object","properties":{"prefix":{"type":"string"}},"additionalProperties":false}`,
			Result:     rowsStart + `"path":{"type":"string"},"values":{"type":"array"},"more":{"type":"integer"}` + rowsEnd, Run: tools.Of((*shelf).listAttributes)},
		tools.Tool[*shelf]{Name: "filter_items", Description: "the items whose value at a path inside the item, such as attributes.WiFi, stands in a relation to a value; what an item lacks counts as false, as no number, and as different from every text; the path reviews is the number of reviews",
			Parameters: `{"type":"object","properties":{"path":{"type":"string"},"op":{"enum":["=","!=","<","<=",">",">=","contains"]},"value":{"type":["string","number","boolean"]}},"required":["path","op","value"],"additionalProperties":false}`,
			Result:     itemsOut, Run: tools.Of((*shelf).filterItems)},
		tools.Tool[*shelf]{Name: "open_items", Description: `the items open on a day during all of from to to, such as "7:30" and "19:00"; without to, open at from; a time to at or before from is on the next day`,
			Parameters: `{"type":"object","properties":{"day":{"enum":["Monday","Tuesday","Wednesday","Thursday","Friday","Saturday","Sunday"]},"from":{"type":"string"},"to":{"type":"string"}},"required":["day","from"],"additionalProperties":false}`,
			Result:     itemsOut, Run: tools.Of((*shelf).openItems)},
		tools.Tool[*shelf]{Name: "find_reviews", Description: "the items with reviews that mention one of some words or phrases (any review without them), perhaps only reviews by people near a person: hops 1 for the person's friends, 2 for their friends as well, 0 for the person; with the number of such reviews and excerpts",
			Parameters: `{"type":"object","properties":{"words":{"type":"array","items":{"type":"string","minLength":1},"maxItems":100},"person":{"type":"string"},"hops":{"type":"integer","minimum":0,"maximum":2}},"additionalProperties":false}`,
			Result:     rowsStart + `"item":{"type":"integer"},"count":{"type":"integer"},"excerpts":{"type":"array","items":{"type":"string"}}` + rowsEnd, Run: tools.Of((*shelf).findReviews)},
		tools.Tool[*shelf]{Name: "sort_items", Description: "the items with a number or text at a path inside the item, such as stars, and that value, least first, or greatest first if descending; of equal values the lower item number first",
			Parameters: `{"type":"object","properties":{"path":{"type":"string"},"descending":{"type":"boolean"}},"required":["path"],"additionalProperties":false}`,
			Result:     rowsStart + `"item":{"type":"integer"},"value":{"type":["number","string"]}` + rowsEnd, Run: tools.Of((*shelf).sortItems)},
	)
})
