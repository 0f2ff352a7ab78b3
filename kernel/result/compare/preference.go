package compare

import (
	"fmt"
	"slices"
)

// Preference is what graders who saw the answers of two methods beside each other say,
// in both orders. It is their word alone: it names no winner.
type Preference struct {
	// Of its values, a sample is 1 for the method that is preferred and 0 for the
	// other, or for both in a tie; epochs are averaged.
	Difference
	Asked  int `json:"asked"`            // verdicts in both orders, of each grader on each two answers
	Swayed int `json:"swayed"`           // of them, how often the order decided: the verdict changed with it, and counts as a tie
	Unread int `json:"unread,omitempty"` // answers beside each other without a verdict that can be read
}

// preferences are those of each pair; nil where no grader was asked for any. All pairs
// are one family.
func (d Data) preferences(pairs []Pair, o plan) {
	var found []int
	var differences []Difference
	for i, p := range pairs {
		pref, ok := d.preference(slices.Index(d.Methods, p.A), slices.Index(d.Methods, p.B), o)
		if ok {
			pairs[i].Preference = &pref
			found, differences = append(found, i), append(differences, pref.Difference)
		}
	}
	decide(differences, o)
	for n, i := range found {
		differences[n].Winner = ""
		pairs[i].Preference.Difference = differences[n]
	}
}

// preferred is the name of the values of a [Preference].
const preferred = "preferred"

func (d Data) preference(a, b int, o plan) (out Preference, ok bool) {
	first, second := make([]float64, len(d.Samples)), make([]float64, len(d.Samples))
	for i, s := range d.Samples {
		n := 0.0
		count := func(cells []Cell, against string, sign int) {
			for _, c := range cells {
				for _, p := range c.Pairs {
					if p.Against != against {
						continue
					}
					ok = true
					out.Asked, out.Swayed = out.Asked+p.Asked, out.Swayed+p.Swayed
					if p.Unread != "" {
						out.Unread++
						continue
					}
					n++
					first[i] += float64(max(0, sign*p.Side))
					second[i] += float64(max(0, -sign*p.Side))
				}
			}
		}
		count(s.Cells[a], d.Methods[b], 1)
		count(s.Cells[b], d.Methods[a], -1)
		first[i], second[i] = first[i]/n, second[i]/n // 0/0 is NaN: undefined
	}
	o.sequel = nil
	out.Difference = differ(preferred, d.Methods[a], d.Methods[b], pair(first, second, d.clusters()), o, Stop{})
	return out, ok
}

// preferenceNotes are what a reader of preferences must know.
func (c *Comparison) preferenceNotes() []string {
	var sum Preference
	some := false
	for _, p := range c.Pairs {
		if q := p.Preference; q != nil {
			sum.Asked, sum.Swayed, sum.Unread, some = sum.Asked+q.Asked, sum.Swayed+q.Swayed, sum.Unread+q.Unread, true
		}
	}
	if !some {
		return nil
	}
	text := "preferences of graders are not checked against people: they name no winner"
	if sum.Asked > 0 {
		text += fmt.Sprintf("; in %d of %d verdicts the order of the answers decided, which counts as a tie", sum.Swayed, sum.Asked)
	}
	if sum.Unread > 0 {
		text += fmt.Sprintf("; %d answers beside each other are left out, because no verdict could be read in both orders", sum.Unread)
	}
	return []string{text}
}
