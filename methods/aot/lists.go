package aot

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"noema/methods/decimal"
)

// The schemas of the decisions over lists.
const (
	listIn   = `{"type":"object","properties":{"list":{"type":"array"}},"required":["list"],"additionalProperties":false}`
	totalIn  = `{"type":"object","properties":{"list":{"type":"array"},"path":{"type":"string"}},"required":["list"],"additionalProperties":false}`
	listsIn  = `{"type":"object","properties":{"lists":{"type":"array","items":{"type":"array"},"minItems":1}},"required":["lists"],"additionalProperties":false}`
	twoIn    = `{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"array"}},"required":["a","b"],"additionalProperties":false}`
	fieldIn  = `{"type":"object","properties":{"of":{"type":["object","array"]},"path":{"type":"string","minLength":1}},"required":["of","path"],"additionalProperties":false}`
	filterIn = `{"type":"object","properties":{"list":{"type":"array"},"path":{"type":"string"},"op":{"enum":["=","!=","<","<=",">",">=","contains"]},"value":{}},"required":["list","op","value"],"additionalProperties":false}`
	sortIn   = `{"type":"object","properties":{"list":{"type":"array"},"path":{"type":"string"},"order":{"enum":["ascending","descending"]}},"required":["list","order"],"additionalProperties":false}`
	arrayOut = `{"type":"array"}`
	countOut = `{"type":"integer"}`
)

func listDecisions() []decision {
	return []decision{
		newDecision("count", "how many values a list has", listIn, countOut, count),
		newDecision("total", "the sum of the numbers in a list, or at a dotted path in its objects; 0 for an empty list", totalIn, numberOut, total),
		newDecision("field", "the value at a dotted path in an object; of a list of objects, the list of those values, without the objects that have none", fieldIn, "", field).infers(fieldShape),
		newDecision("filter", "the values of a list that stand in a relation to a value, or whose value at a dotted path does", filterIn, arrayOut, filter).infers(sameList("list")),
		newDecision("sort", "a list in order, or by the value at a dotted path in its objects: numbers before texts, equal ones as they were, those without a value last", sortIn, arrayOut, sortList).infers(sameList("list")),
		newDecision("union", "the values that are in any of the lists, each once, in the order of their first place", listsIn, arrayOut, union).infers(joinedList),
		newDecision("intersect", "the values that are in all of the lists, each once, in the order of the first list", listsIn, arrayOut, intersect).infers(joinedList),
		newDecision("difference", "the values of a that are not in b, each once", twoIn, arrayOut, difference).infers(sameList("a")),
	}
}

// sameList says that a result has the items of an input.
func sameList(key string) func(map[string]any, func(any) shape) shape {
	return func(input map[string]any, shapeOf func(any) shape) shape {
		if s := shapeOf(input[key]); s.name == "array" {
			return s
		}
		return shape{name: "array"}
	}
}

// joinedList is what a list has that is made of several.
func joinedList(input map[string]any, shapeOf func(any) shape) shape {
	if items := shapeOf(input["lists"]).item(); items.name == "array" {
		return items
	}
	return shape{name: "array"}
}

func fieldShape(input map[string]any, shapeOf func(any) shape) shape {
	path, _ := input["path"].(string)
	of := shapeOf(input["of"])
	switch of.name {
	case "object":
		return of.at(strings.Split(path, "."))
	case "array":
		if found := of.item().at(strings.Split(path, ".")); found.name != "" {
			return listOf(found)
		}
		return shape{name: "array"}
	}
	return shape{}
}

// key is a value in a form in which equal values are equal texts: 2 and 2.0 are
// one number.
func key(v any) string {
	if n, ok := v.(json.Number); ok {
		if r, err := decimal.Parse(string(n)); err == nil {
			return r.RatString()
		}
	}
	return string(encode(v))
}

func values(v any) []any {
	list, _ := v.([]any) // the schema has seen to it
	return list
}

func count(input map[string]any) (any, error) {
	return json.Number(fmt.Sprint(len(values(input["list"])))), nil
}

func total(input map[string]any) (any, error) {
	path, _ := input["path"].(string)
	sum := new(big.Rat)
	for i, v := range values(input["list"]) {
		v, _ := valueAt(v, path)
		x, err := exact(v)
		if err != nil {
			return nil, fmt.Errorf("value %d of the list: %w", i+1, err)
		}
		sum.Add(sum, x)
	}
	return number(sum), nil
}

// valueAt follows a dotted path into objects; a key may have dots of its own.
func valueAt(v any, path string) (any, bool) {
	if path == "" {
		return v, true
	}
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	if v, ok := fields[path]; ok {
		return v, true
	}
	first, rest, ok := strings.Cut(path, ".")
	if !ok {
		return nil, false
	}
	return valueAt(fields[first], rest)
}

func field(input map[string]any) (any, error) {
	path, _ := input["path"].(string)
	if list, ok := input["of"].([]any); ok {
		found := []any{}
		for _, v := range list {
			if v, ok := valueAt(v, path); ok {
				found = append(found, v)
			}
		}
		return found, nil
	}
	v, ok := valueAt(input["of"], path)
	if !ok {
		fields, _ := input["of"].(map[string]any)
		return nil, fmt.Errorf("the object has no value at %.60q; its keys are %.300s", path, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
	}
	return v, nil
}

func filter(input map[string]any) (any, error) {
	path, _ := input["path"].(string)
	op, kept := textOf(input["op"]), []any{}
	for _, v := range values(input["list"]) {
		if have, _ := valueAt(v, path); relates(have, op, input["value"]) {
			kept = append(kept, v)
		}
	}
	return kept, nil
}

func union(input map[string]any) (any, error) {
	seen, out := map[string]bool{}, []any{}
	for _, list := range values(input["lists"]) {
		for _, v := range values(list) {
			if k := key(v); !seen[k] {
				seen[k] = true
				out = append(out, v)
			}
		}
	}
	return out, nil
}

func intersect(input map[string]any) (any, error) {
	lists := values(input["lists"])
	if len(lists) == 0 {
		return nil, errors.New("no lists to intersect")
	}
	in := map[string]int{} // how many of the first lists a value is in
	for i, list := range lists {
		for _, v := range values(list) {
			if k := key(v); in[k] == i {
				in[k]++
			}
		}
	}
	out := []any{}
	for _, v := range values(lists[0]) {
		if k := key(v); in[k] == len(lists) {
			in[k] = 0
			out = append(out, v)
		}
	}
	return out, nil
}

func difference(input map[string]any) (any, error) {
	seen, out := map[string]bool{}, []any{}
	for _, v := range values(input["b"]) {
		seen[key(v)] = true
	}
	for _, v := range values(input["a"]) {
		if k := key(v); !seen[k] {
			seen[k] = true
			out = append(out, v)
		}
	}
	return out, nil
}
