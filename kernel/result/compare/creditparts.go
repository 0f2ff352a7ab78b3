package compare

import (
	"math"

	"noema/kernel/base/score"
	"noema/kernel/result/record"
	"noema/methods"
)

// placeOf is a place with what its calls used as they are.
func placeOf(v *record.Intervention, run *record.Run, base []*record.Trial) Place {
	p := Place{At: v.At}
	var u methods.Usage
	for _, t := range base {
		n := 0
		for _, c := range t.Calls {
			if c.Kind != record.ToolCall && c.Fault == "" && v.Covers(c.Path) {
				u = u.Plus(c.Usage)
				n++
			}
		}
		if p.Calls += n; n > 0 {
			p.Trials++
		}
	}
	for _, s := range run.Seeds {
		if s.Method == v.Of && v.Covers("seed/"+s.Kind) {
			u = u.Plus(s.Usage)
		}
	}
	p.Tokens = Number(Tokens.of(u) / float64(len(base)))
	return p
}

func perThousand(m score.Metric, tokens float64) score.Metric {
	scale := 1000 / tokens
	if !(tokens > 0) {
		scale, m.Defined = math.NaN(), false
	}
	m.Value, m.Low, m.High = m.Value*scale, m.Low*scale, m.High*scale
	return m
}

// changedCalls counts the calls under an intervention, and those of them whose reply
// is not the one that the same trial got at that path as it is.
func changedCalls(v *record.Intervention, base, varied []*record.Trial) (calls, changed int) {
	was := map[record.TrialID]map[string]string{}
	for _, t := range base {
		replies := map[string]string{}
		for _, c := range t.Calls {
			replies[c.Path] += c.Digest
		}
		was[t.ID] = replies
	}
	for _, t := range varied {
		id := t.ID
		id.Method = v.Of
		now, made := map[string]string{}, map[string]int{}
		for _, c := range t.Calls {
			if c.Kind != record.ToolCall && c.Fault != record.BudgetFault && v.Covers(c.Path) {
				now[c.Path] += c.Digest
				made[c.Path]++
			}
		}
		for path, n := range made {
			if calls += n; was[id][path] != now[path] {
				changed += n
			}
		}
	}
	return calls, changed
}

// withoutAnswer counts the trials without an answer, and those that the infrastructure failed,
// which are left out.
func withoutAnswer(trials []*record.Trial) (failed, leftOut int) {
	for _, t := range trials {
		switch {
		case t.Infra:
			leftOut++
		case t.Answer.Outcome != methods.Answered:
			failed++
		}
	}
	return failed, leftOut
}

// together makes samples whose trials use one seed a cluster, on top of the task's
// own clusters: another reply to a call that builds the seed changes them all.
func (d Data) together(base []*record.Trial, v *record.Intervention) {
	first := map[string]int{} // the first sample with a seed, or of a cluster
	root := make([]int, len(d.Samples))
	find := func(i int) int {
		for root[i] != i {
			i = root[i]
		}
		return i
	}
	at := map[string]int{}
	join := func(name string, i int) {
		if j, ok := first[name]; ok {
			root[find(i)] = find(j)
		} else {
			first[name] = i
		}
	}
	for i, s := range d.Samples {
		root[i], at[s.ID] = i, i
		if s.Cluster != "" {
			join("cluster "+s.Cluster, i)
		}
	}
	for _, t := range base {
		for _, c := range t.Calls {
			if i, ok := at[t.ID.Sample]; ok && c.Kind == record.SeedCall && v.Covers(c.Path) {
				join("seed "+c.Key, i)
			}
		}
	}
	for i := range d.Samples {
		d.Samples[i].Cluster = d.Samples[find(i)].ID
	}
}
