package aot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/methods/reply"
)

// stand checks values that are not all known yet: each reference is replaced
// by a stand-in of the type that it will have, and of the schema's faults
// those count that do not depend on the value.
type stand struct {
	typeOf func(id int) string
	refs   []standIn
}

// standIn is a reference and what is known of its value.
type standIn struct {
	place []string
	id    int
	gives string // JSON type; empty if it is not known
}

// text replaces a reference, for [trial.MapTexts].
func (s *stand) text(text string, place []string) (any, error) {
	if id, ok := wholeReference(text); ok {
		gives := s.typeOf(id)
		s.refs = append(s.refs, standIn{place, id, gives})
		return example(gives), nil
	}
	if m := reference.FindStringSubmatch(text); m != nil {
		s.refs = append(s.refs, standIn{place, refID(m[1]), "string"})
	}
	return text, nil
}

// example is some value of a JSON type.
func example(kind string) any {
	switch kind {
	case "number", "integer":
		return json.Number("1")
	case "string":
		return ""
	case "boolean":
		return true
	case "array":
		return []any{}
	case "object":
		return map[string]any{}
	}
	return nil
}

// onValues are the rules that may break or hold with another value in the
// place of a reference below.
var onValues = []string{"uniqueItems", "const", "enum", "not", "oneOf", "anyOf"}

// judge keeps the faults that stand whatever the references will give.
func (s *stand) judge(list []reply.SchemaFault) []reply.SchemaFault {
	var kept []reply.SchemaFault
	types := make([][]string, len(s.refs)) // wanted in the place of each reference
	other := make([]bool, len(s.refs))     // another rule is at work there
	for _, f := range list {
		if i := slices.IndexFunc(s.refs, func(r standIn) bool { return isPrefix(r.place, f.Place) }); i >= 0 {
			_, want, ok := strings.Cut(f.Text, "want ")
			if f.Rule != "type" || !ok || s.refs[i].gives == "" {
				other[i] = true
			}
			types[i] = append(types[i], want)
			continue
		}
		below := slices.ContainsFunc(s.refs, func(r standIn) bool { return isPrefix(f.Place, r.place) })
		if !below || !slices.Contains(onValues, f.Rule) {
			kept = append(kept, f)
		}
	}
	for i, r := range s.refs {
		if len(types[i]) > 0 && !other[i] {
			text := fmt.Sprintf("atom %d gives a value of type %s, want %s", r.id, r.gives, strings.Join(types[i], " or "))
			kept = append(kept, reply.SchemaFault{Place: r.place, Rule: "type", Text: text})
		}
	}
	return kept
}

func isPrefix(short, long []string) bool {
	return len(short) <= len(long) && slices.Equal(short, long[:len(short)])
}
