package trial

import (
	"maps"
	"slices"
	"strconv"
)

// MapTexts replaces every string value in v by what f makes of it, dicts by
// sorted key. The place holds the keys and indices that lead to it.
func MapTexts(v any, place []string, f func(text string, place []string) (any, error)) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		return f(v, place)
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			if list[i], err = MapTexts(e, append(slices.Clip(place), strconv.Itoa(i)), f); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		dict := make(map[string]any, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if dict[key], err = MapTexts(v[key], append(slices.Clip(place), key), f); err != nil {
				return nil, err
			}
		}
		return dict, nil
	}
	return v, nil
}
