package lwt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// itemsKey is the key of a problem's context that holds its items.
const itemsKey = "items"

const queryName = "query"

// itemNames are the names that stand for the items.
func itemNames() []string { return []string{"context", "input", itemsKey} }

func isItems(name string) bool { return slices.Contains(itemNames(), name) }

// Data is what the references of a program lead to besides its own steps:
// the request and the problem's context, decoded once.
type Data struct {
	query string
	tree  *tree
}

// NewData decodes the context of a problem, a JSON object whose "items" are a
// list. Both may be missing.
func NewData(query string, context json.RawMessage) (*Data, error) {
	if len(strings.TrimSpace(string(context))) == 0 {
		context = json.RawMessage("{}")
	}
	t, err := parseTree(context)
	if err != nil {
		return nil, fmt.Errorf("decode context: %w", err)
	}
	if t.root.kind != dict && t.doc != "null" {
		return nil, fmt.Errorf("decode context: want a JSON object, have %.40q", t.doc)
	}
	if items, ok := t.root.dict[itemsKey]; ok && items.kind != list {
		return nil, fmt.Errorf("decode context: %q is not a list", itemsKey)
	}
	return &Data{query: query, tree: t}, nil
}

// Items is the number of items.
func (d *Data) Items() int {
	if items, ok := d.tree.root.dict[itemsKey]; ok {
		return len(items.list)
	}
	return 0
}

// Names returns the other keys of the context that can be referred to, in
// alphabetical order.
func (d *Data) Names() []string {
	var names []string
	for k := range d.tree.root.dict {
		if k != queryName && !isItems(k) && IsID(k) {
			names = append(names, k)
		}
	}
	slices.Sort(names)
	return names
}

// Value is what r refers to, as it is inserted into a prompt: strings bare,
// True, False and None, numbers in their shortest form, lists and dicts as
// JSON. It is false if r leads nowhere or to a step.
func (d *Data) Value(r Reference) (string, bool) {
	if r.Name == queryName {
		if len(r.Path) > 0 {
			return "", false
		}
		return d.query, true
	}
	name, base := r.Name, 0
	if isItems(name) {
		name, base = itemsKey, 1
	}
	n, ok := d.tree.root.dict[name]
	if !ok {
		return "", false
	}
	return d.tree.render(n, r.Path, base)
}

// Strings returns the strings of the list that r refers to.
func (d *Data) Strings(r Reference) ([]string, bool) {
	text, ok := d.Value(r)
	if !ok {
		return nil, false
	}
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, false
	}
	return list, true
}

// ParsePath reads a path as people write it, items[1].attributes.WiFi, or as
// a reference, {(context)}[1][attributes][WiFi]. The indices are those of
// references: items count from 1.
func ParsePath(text string) (Reference, error) {
	s := strings.TrimSpace(text)
	if strings.HasPrefix(s, refOpen) {
		if ref, end := parseReference(s, 0); ref != nil && end == len(s) {
			return *ref, nil
		}
		return Reference{}, fmt.Errorf("parse path %.80q: want {(name)}[key][key]", text)
	}
	end := strings.IndexAny(s, ".[")
	if end < 0 {
		end = len(s)
	}
	ref := Reference{Name: s[:end], Text: s}
	if !IsID(ref.Name) {
		return ref, fmt.Errorf("parse path %.80q: want a name first, such as items[1].name", text)
	}
	for s = s[end:]; s != ""; {
		a, n, ok := pathPiece(s)
		if !ok {
			return ref, fmt.Errorf("parse path %.80q: cannot read %.20q, want .key or [key]", text, s)
		}
		ref.Path, s = append(ref.Path, a), s[n:]
	}
	return ref, nil
}

// pathPiece reads .key or [key] at the start of s.
func pathPiece(s string) (Accessor, int, bool) {
	if s[0] != '.' {
		return parseAccessor(s, 0)
	}
	n := strings.IndexAny(s[1:], ".[")
	if n < 0 {
		n = len(s) - 1
	}
	key := strings.TrimSpace(s[1 : 1+n])
	if key == "" {
		return Accessor{}, 0, false
	}
	return bareAccessor(key), 1 + n, true
}
