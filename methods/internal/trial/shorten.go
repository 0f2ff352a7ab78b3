package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/methods/reply"
)

// maxExamples is how many items a plan is made from.
const maxExamples = 2

// Examples picks the items that together show the most fields: their places, in
// order. Ties go to the first item.
func Examples(items []any) []int {
	fields := make([]map[string]bool, len(items))
	for i, item := range items {
		fields[i] = map[string]bool{}
		collect(item, "", 3, fields[i])
	}
	return cover(fields, map[string]bool{})
}

// collect enters the paths of v, at most depth keys deep.
func collect(v any, path string, depth int, into map[string]bool) {
	dict, ok := v.(map[string]any)
	if !ok || depth == 0 {
		return
	}
	for k, e := range dict {
		into[path+"\x00"+k] = true
		collect(e, path+"\x00"+k, depth-1, into)
	}
}

// cover picks items greedily by how many fields they add to seen.
func cover(fields []map[string]bool, seen map[string]bool) []int {
	var picked []int
	for len(picked) < maxExamples {
		best, most := -1, -1
		for i, f := range fields {
			fresh := 0
			for k := range f {
				if !seen[k] {
					fresh++
				}
			}
			if fresh > most && !slices.Contains(picked, i) {
				best, most = i, fresh
			}
		}
		if best < 0 {
			break
		}
		picked = append(picked, best)
		maps.Copy(seen, fields[best])
	}
	slices.Sort(picked)
	return picked
}

// The sizes to which examples are cut, besides the length of texts.
const (
	maxList      = 2
	maxDict      = 40
	maxShowDepth = 6
	maxLine      = 6000 // bytes of one example
)

// Shortener cuts JSON values short for prompts and counts how often it did.
type Shortener struct {
	Limit int // bytes of a text
	Cuts  int // how often something was cut, so far
}

// Line is v on one line of JSON.
func (s *Shortener) Line(v any) string {
	raw, err := json.Marshal(s.short(v, 0))
	if err != nil {
		return ""
	}
	text, cut := reply.Head(string(raw), maxLine)
	if cut {
		s.Cuts++
		text += "…"
	}
	return text
}

func (s *Shortener) short(v any, depth int) any {
	switch v := v.(type) {
	case string:
		text, cut := reply.Head(v, s.Limit)
		if cut {
			s.Cuts++
			text += "…"
		}
		return text
	case []any:
		return s.shortList(v, depth)
	case map[string]any:
		return s.shortDict(v, depth)
	}
	return v
}

func (s *Shortener) shortList(v []any, depth int) any {
	keep := min(len(v), maxList)
	if depth >= maxShowDepth {
		keep = 0
	}
	short := []any{}
	for _, e := range v[:keep] {
		short = append(short, s.short(e, depth+1))
	}
	if left := len(v) - keep; left > 0 {
		s.Cuts++
		short = append(short, fmt.Sprintf("(%d more)", left))
	}
	return short
}

func (s *Shortener) shortDict(v map[string]any, depth int) any {
	keys := slices.Sorted(maps.Keys(v))
	keep := min(len(keys), maxDict)
	if depth >= maxShowDepth {
		keep = 0
	}
	short := map[string]any{}
	for _, k := range keys[:keep] {
		short[strings.ToValidUTF8(k, "\ufffd")] = s.short(v[k], depth+1)
	}
	if left := len(keys) - keep; left > 0 {
		s.Cuts++
		short["(more)"] = left
	}
	return short
}
