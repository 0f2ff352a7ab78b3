package aot

import (
	"fmt"
	"slices"
	"strings"

	"noema/methods/reply"
)

// stand checks values that are not all known yet: each reference is replaced
// by a stand-in of the shape that it will have, and of the schema's faults
// those count that do not depend on the value.
type stand struct {
	shapeOf func(id int) shape
	refs    []standIn
}

// standIn is a reference and what is known of its value.
type standIn struct {
	place []string
	id    int
	gives shape
}

// text replaces a reference, for [trial.MapTexts].
func (s *stand) text(text string, place []string) (any, error) {
	if id, ok := wholeReference(text); ok {
		gives := s.shapeOf(id)
		s.refs = append(s.refs, standIn{place, id, gives})
		return gives.example(), nil
	}
	if m := reference.FindStringSubmatch(text); m != nil {
		s.refs = append(s.refs, standIn{place, refID(m[1]), shape{name: "string"}})
	}
	return text, nil
}

// onValues are the rules that may break or hold with another value in the
// place of a reference below.
var onValues = []string{"uniqueItems", "const", "enum", "not", "oneOf", "anyOf"}

// misfit is what the schema says of a place inside a reference's value.
type misfit struct {
	ref   standIn
	place []string // inside the value
	want  []string // types
	other bool     // another rule is at work there, or the type is not known
}

// judge keeps the faults that stand whatever the references will give.
func (s *stand) judge(list []reply.SchemaFault) []reply.SchemaFault {
	var kept []reply.SchemaFault
	var misfits []*misfit
	for _, f := range list {
		if i := slices.IndexFunc(s.refs, func(r standIn) bool { return isPrefix(r.place, f.Place) }); i >= 0 {
			misfits = collect(misfits, s.refs[i], f)
			continue
		}
		below := slices.ContainsFunc(s.refs, func(r standIn) bool { return isPrefix(f.Place, r.place) })
		if !below || !slices.Contains(onValues, f.Rule) {
			kept = append(kept, f)
		}
	}
	slices.SortStableFunc(misfits, func(a, b *misfit) int { return slices.IndexFunc(s.refs, a.ref.is) - slices.IndexFunc(s.refs, b.ref.is) })
	for _, m := range misfits {
		if len(m.want) > 0 && !m.other {
			kept = append(kept, reply.SchemaFault{Place: m.ref.place, Rule: "type", Text: m.text()})
		}
	}
	return kept
}

func (r standIn) is(other standIn) bool { return slices.Equal(r.place, other.place) }

// collect adds a fault to what is known of its place.
func collect(all []*misfit, ref standIn, f reply.SchemaFault) []*misfit {
	inside := f.Place[len(ref.place):]
	i := slices.IndexFunc(all, func(m *misfit) bool { return m.ref.is(ref) && slices.Equal(m.place, inside) })
	if i < 0 {
		i, all = len(all), append(all, &misfit{ref: ref, place: inside})
	}
	_, want, ok := strings.Cut(f.Text, "want ")
	if f.Rule != "type" || !ok || ref.gives.at(inside).name == "" {
		all[i].other = true
	}
	all[i].want = append(all[i].want, want)
	return all
}

// text names the place as items and keys, since there is no value yet.
func (m *misfit) text() string {
	kind := m.ref.gives.at(m.place).name
	want := strings.Join(m.want, " or ")
	if len(m.place) == 0 {
		return fmt.Sprintf("atom %d gives a value of type %s, want %s", m.ref.id, kind, want)
	}
	place := make([]string, len(m.place))
	for i, step := range m.place {
		if place[i] = step; m.ref.gives.at(m.place[:i]).name == "array" {
			place[i] = "items"
		}
	}
	return fmt.Sprintf("atom %d gives a value whose %s are of type %s, want %s", m.ref.id, strings.Join(place, "."), kind, want)
}

func isPrefix(short, long []string) bool {
	return len(short) <= len(long) && slices.Equal(short, long[:len(short)])
}
