package compare

import (
	"slices"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
)

// GroupStats is the headline metric within one group of samples. Its intervals
// are not corrected for the number of groups: they show where to look and
// decide nothing.
type GroupStats struct {
	Group   string         `json:"group"` // empty for samples without one
	Samples int            `json:"samples"`
	Methods []score.Metric `json:"methods"` // along Comparison.Methods
	Pairs   []score.Metric `json:"pairs"`   // mean differences A minus B, along Comparison.Pairs
	Chance  Number         `json:"chance"`  // of the headline in this group
}

// groups breaks the headline down; nil if no sample names a group.
func (d Data) groups(pairs []Pair, o plan) []GroupStats {
	var names []string
	for _, s := range d.Samples {
		if !slices.Contains(names, s.Group) {
			names = append(names, s.Group)
		}
	}
	if len(names) == 0 || len(names) == 1 && names[0] == "" {
		return nil
	}
	slices.SortFunc(names, record.ComparePaths)
	out := make([]GroupStats, len(names))
	for i, name := range names {
		out[i] = d.where(func(s Sample) bool { return s.Group == name }).group(name, pairs, o)
	}
	return out
}

// group is the group that d's samples are.
func (d Data) group(name string, pairs []Pair, o plan) GroupStats {
	g := GroupStats{Group: name, Samples: len(d.Samples), Pairs: []score.Metric{}, Chance: undefined}
	v := view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)}
	if level, ok := meanChance(d.Samples)[v.metric]; ok {
		g.Chance = Number(level)
	}
	at := map[string]int{}
	for m, label := range d.Methods {
		at[label] = m
		g.Methods = append(g.Methods, d.metric(m, v, o))
	}
	for _, p := range pairs {
		g.Pairs = append(g.Pairs, d.apart(at[p.A], at[p.B], v, o, Stop{}))
	}
	return g
}
