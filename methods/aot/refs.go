package aot

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/methods/internal/trial"
)

// A reference is written <result_of_N>.
var reference = regexp.MustCompile(`<result_of_(\d{1,9})>`)

// refStart begins every reference, also one that is written wrongly.
const refStart = "<result_of_"

// references lists the ids that an input refers to, each once and in order,
// and the texts that look like references and are not.
func references(input map[string]json.RawMessage) (ids []int, malformed []string) {
	for _, key := range slices.Sorted(maps.Keys(input)) {
		var v any
		if decode(input[key], &v) != nil {
			continue
		}
		_, _ = trial.MapTexts(v, nil, func(s string, _ []string) (any, error) { // it never fails
			good := reference.FindAllStringSubmatch(s, -1)
			for _, m := range good {
				ids = append(ids, refID(m[1]))
			}
			if strings.Count(s, refStart) > len(good) {
				malformed = append(malformed, s)
			}
			return s, nil
		})
	}
	slices.Sort(ids)
	return slices.Compact(ids), malformed
}

func refID(digits string) int {
	id, _ := strconv.Atoi(digits) // at most nine digits
	return id
}

// maxInput bounds what the references of one input may grow it to. Texts that
// repeat each other double with every atom.
const maxInput = 4 << 20

// filler puts results in the place of references.
type filler struct {
	result  func(id int) json.RawMessage // nil if there is none
	size    int                          // bytes put in so far
	literal bool                         // what is put into a pattern matches itself
}

// fill resolves all references of an input. What it puts in is not searched
// for references again.
func (f *filler) fill(input map[string]json.RawMessage) (map[string]any, error) {
	filled := make(map[string]any, len(input))
	for _, key := range slices.Sorted(maps.Keys(input)) {
		var v any
		if err := decode(input[key], &v); err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
		put := f.text
		if f.literal && key == patternKey {
			put = f.pattern
		}
		var err error
		if filled[key], err = trial.MapTexts(v, nil, put); err != nil {
			return nil, fmt.Errorf("input %q: %w", key, err)
		}
	}
	return filled, nil
}

// text resolves a string: as a whole it becomes a value of any type, and
// references among other text become texts.
func (f *filler) text(s string, _ []string) (any, error) {
	if id, ok := wholeReference(s); ok {
		return f.get(id)
	}
	return f.among(s, textOf)
}

// pattern resolves references as the texts that match themselves.
func (f *filler) pattern(s string, _ []string) (any, error) {
	return f.among(s, func(v any) string { return regexp.QuoteMeta(textOf(v)) })
}

// among puts texts in the place of references.
func (f *filler) among(s string, text func(any) string) (any, error) {
	var failed error
	filled := reference.ReplaceAllStringFunc(s, func(ref string) string {
		if failed != nil {
			return ""
		}
		v, err := f.get(refID(reference.FindStringSubmatch(ref)[1]))
		if err != nil {
			failed = err
		}
		return text(v)
	})
	return filled, failed
}

func (f *filler) get(id int) (any, error) {
	raw := f.result(id)
	if raw == nil {
		return nil, fmt.Errorf("atom %d has no result", id)
	}
	if f.size += len(raw); f.size > maxInput {
		return nil, fmt.Errorf("the results put in are larger than %d bytes", maxInput)
	}
	var v any
	if err := decode(raw, &v); err != nil {
		return nil, fmt.Errorf("result of atom %d: %w", id, err)
	}
	return v, nil
}

// wholeReference reports whether s is one reference and nothing else.
func wholeReference(s string) (id int, ok bool) {
	s = strings.TrimSpace(s)
	if m := reference.FindStringSubmatch(s); m != nil && len(m[0]) == len(s) {
		return refID(m[1]), true
	}
	return 0, false
}

// textOf writes a value inside a text: a string bare, anything else as JSON.
func textOf(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(encode(v))
}
