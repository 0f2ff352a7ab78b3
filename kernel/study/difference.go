package study

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// difference says where two JSON texts differ first.
func difference(said, now []byte) string {
	var a, b any
	if err := decode(said, &a); err != nil {
		return err.Error()
	}
	if err := decode(now, &b); err != nil {
		return err.Error()
	}
	if path, x, y, ok := differ("", a, b); ok {
		return fmt.Sprintf("%s is %s, and computed again %s", path, short(x), short(y))
	}
	return "it is written in another way than noema writes it"
}

func decode(raw []byte, v *any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// differ walks two values side by side.
func differ(path string, a, b any) (string, any, any, bool) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			all := slices.Sorted(maps.Keys(a))
			all = append(all, slices.DeleteFunc(slices.Sorted(maps.Keys(b)), func(k string) bool { _, both := a[k]; return both })...)
			for _, key := range all {
				if p, x, y, ok := differ(path+"."+key, a[key], b[key]); ok {
					return p, x, y, true
				}
			}
			return "", nil, nil, false
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				if p, x, y, ok := differ(fmt.Sprintf("%s[%d]", path, i), a[i], b[i]); ok {
					return p, x, y, true
				}
			}
			return "", nil, nil, false
		}
	default:
		if a == b {
			return "", nil, nil, false
		}
	}
	return path, a, b, true
}

// short is a value in a message.
func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%.80s", raw)
}
