package compare

import "slices"

// Sequential says what a comparison under a design asked, and what that saved.
type Sequential struct {
	Rule   int     `json:"rule"`            // the version of the rule
	Looks  int     `json:"looks,omitempty"` // 0 for after every sample
	Detect float64 `json:"detect"`          // the declared smallest difference of interest
	Bound  int     `json:"bound,omitempty"` // samples that were declared at most; 0 if [Options].Undeclared
	Asked  []int   `json:"asked"`           // samples, along Comparison.Methods
	// Saved is against asking every sample of every method, with the means of the
	// trials that were made; nil while a pair is open, and where not the rule alone
	// chose the samples.
	Saved *Saved `json:"saved,omitempty"`
}

// Saved is what was not used.
type Saved struct {
	Trials int    `json:"trials"`
	Calls  Number `json:"calls"`
	Tokens Number `json:"tokens"`
	Cost   Number `json:"cost_usd"`
}

// sequel is a design over the data of a comparison: its numbers hold whenever one
// looks. An interval for a fixed number of samples would be wrong for a run that
// stopped by its results.
type sequel struct {
	schedule schedule
	other    bool // declared for other data
	stops    map[[2]string]Stop
	at       map[string]int // the place of a sample in the declared order
}

// follow goes through the samples of d by the rule of the design, and leaves out
// those that nobody was asked. Samples are in the declared order.
func (d Data) follow(o plan) (Data, *sequel) {
	clusters := make([]string, len(d.Samples))
	s := &sequel{other: o.Undeclared, stops: map[[2]string]Stop{}, at: map[string]int{}}
	for i, one := range d.Samples {
		clusters[i], s.at[one.ID] = one.Cluster, i
	}
	all := d.every(plan{})
	s.schedule = newSchedule(*o.Design, o.Test, clusters, max(1, len(all)))
	read := make([][]Reading, len(d.Methods))
	for m := range read {
		if len(d.Metrics) > 0 && !isCorpus(d.Metrics[0]) {
			read[m] = d.readings(m, view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)})
		}
	}
	for _, p := range all {
		a, b := slices.Index(d.Methods, p.A), slices.Index(d.Methods, p.B)
		if read[a] != nil && read[b] != nil {
			s.stops[[2]string{p.A, p.B}] = d.race(s.schedule, a, b, read)
		}
	}
	return d.where(func(one Sample) bool {
		return slices.ContainsFunc(one.Cells, func(cells []Cell) bool { return len(cells) > 0 })
	}), s
}

// readings are what method m scored on the samples; nil if a value is not within 0 and 1.
func (d Data) readings(m int, v view) []Reading {
	seen := d.values(m, v)
	if !within(seen) {
		return nil
	}
	v.treatment = lostWrong
	low := d.values(m, v)
	v.treatment = lostRight
	high := d.values(m, v)
	all := make([]Reading, len(seen))
	for i := range all {
		all[i] = Reading{seen[i], low[i], high[i]}
	}
	return all
}

// race follows methods a and b to the last sample that both have.
func (d Data) race(p schedule, a, b int, values [][]Reading) Stop {
	last := -1
	for i, s := range d.Samples {
		if len(s.Cells[a]) > 0 && len(s.Cells[b]) > 0 {
			last = i
		}
	}
	r := newRace(p)
	for i := 0; i <= last && r.stop.State == Open; i++ {
		r.add(values[a][i], values[b][i])
	}
	return r.stop
}

// within reports whether there are values, none of them outside of 0 and 1.
func within(values []float64) bool {
	return values != nil && !slices.ContainsFunc(values, func(x float64) bool { return x < 0 || x > 1 })
}

// stop is how far the design went for a pair; zero for one that it does not follow.
func (s *sequel) stop(a, b string) Stop {
	if one, ok := s.stops[[2]string{a, b}]; ok {
		return one
	}
	return s.stops[[2]string{b, a}]
}

// until keeps what the design looked at for a pair.
func (d Data) until(stop Stop, s *sequel) Data {
	return d.where(func(one Sample) bool { return s.at[one.ID] < stop.Asked })
}

// sequential tells what was asked and saved. bound is the number of declared samples.
func (s *sequel) sequential(d Data, c *Comparison) *Sequential {
	out := &Sequential{Rule: s.schedule.design.Rule, Looks: s.schedule.design.Looks, Detect: s.schedule.design.Detect, Bound: len(s.at), Asked: make([]int, len(d.Methods))}
	saved, byRule := Saved{}, len(s.stops) > 0 && !s.other
	for m := range d.Methods {
		last := 0
		for _, one := range d.Samples {
			if len(one.Cells[m]) > 0 {
				last = max(last, s.at[one.ID]+1)
				out.Asked[m]++
			}
		}
		byRule = byRule && out.Asked[m] == last // and not beside it, as in a run of another design
		left := (out.Bound - last) * c.Epochs
		saved.Trials += left
		use, seeds := c.Methods[m].Usage, c.Methods[m].Seeds // which are built whether or not a trial is asked
		saved.Calls += Number(float64(left) * (use[Calls].Value - seeds.Share(Calls)))
		saved.Tokens += Number(float64(left) * (use[Tokens].Value - seeds.Share(Tokens)))
		saved.Cost += Number(float64(left) * (use[Cost].Value - seeds.Share(Cost)))
	}
	for _, stop := range s.stops {
		byRule = byRule && stop.State != Open
	}
	if s.other {
		out.Bound = 0
	}
	if byRule {
		out.Saved = &saved
	}
	return out
}
