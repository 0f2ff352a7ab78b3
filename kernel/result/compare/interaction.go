package compare

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"noema/kernel/base/score"
)

// Interaction says whether the difference of two methods is the same on all tasks, or with
// all models. That it is not shown to differ does not say that it is the same.
type Interaction struct {
	A  string `json:"a"`
	B  string `json:"b"`
	Of string `json:"of"` // "tasks" or "models"
	// F is Welch's, over tasks; P is of the same difference everywhere, Corrected for the pairs.
	F         Number `json:"f"`
	P         Number `json:"p"`
	Corrected Number `json:"p_corrected"`
	// Parts are each task against the mean of the others, or each two models.
	Parts []Departure `json:"parts"`
}

// Departure is how much the difference of two methods changes from one part of a study to
// another.
type Departure struct {
	Part       string       `json:"part"` // a task, or a model
	Against    string       `json:"against"`
	Difference score.Metric `json:"difference"`
	Corrected  Number       `json:"p_corrected"`
	Differs    bool         `json:"differs,omitempty"`
	// Detectable is the smallest change that would be found with a chance of [Power]; null where
	// it differs, and where so few samples would find none.
	Detectable Number `json:"detectable"`
}

// interactions are those of every pair, over tasks and over models.
func (s *study) interactions() (all []Interaction) {
	for _, p := range s.pairs {
		if len(s.strata) > 1 {
			if one, ok := s.overTasks(p); ok {
				all = append(all, one)
			}
		}
	}
	for _, p := range s.pairs {
		if one := s.overModels(p); len(one.Parts) > 0 {
			all = append(all, one)
		}
	}
	return all
}

// index are the places of a pair's methods.
func (s *study) index(p Pair) (a, b int) {
	return slices.Index(s.methods, p.A), slices.Index(s.methods, p.B)
}

// differences are those of a pair by task, as far as a rule judges them.
func (s *study) differences(p Pair, strata []stratum) (parts []bounded, weights []float64, ok bool) {
	a, b := s.index(p)
	for _, t := range strata {
		one := t.paired(a, b, view{envelope: s.envelope})
		if one.units < 2 || !one.within() || t.Metric == score.Graded {
			return nil, nil, false
		}
		parts, weights = append(parts, one.bounded()), append(weights, t.Weight)
	}
	return parts, weights, true
}

// unseenVariance is how much variance a task has that its units may not have shown, in parts
// of the square of a unit's share: the allowance again, chosen in simulations.
const unseenVariance = 1.5

// overTasks tests with Welch's F whether the difference is the same on all tasks, and each
// task against the mean of the others.
func (s *study) overTasks(p Pair) (Interaction, bool) {
	out := Interaction{A: p.A, B: p.B, Of: "tasks"}
	parts, weights, ok := s.differences(p, s.strata)
	if !ok {
		return out, false
	}
	f, df1, df2 := welch(parts)
	out.F, out.P = Number(f), Number(distuv.F{D1: df1, D2: df2}.Survival(f))
	out.Corrected = Number(min(1, float64(out.P)*float64(s.family)))
	family := float64(s.family * len(parts))
	for i, t := range s.strata {
		contrast := make([]float64, len(weights))
		for j, w := range weights {
			contrast[j] = -w / (1 - weights[i])
		}
		contrast[i] = 1
		against := "the other tasks"
		if len(s.strata) == 2 {
			against = s.strata[1-i].Task
		}
		out.Parts = append(out.Parts, departure(compose(parts, contrast), t.Task, against, family, 1-s.Level))
		if len(s.strata) == 2 {
			break // the other is the same, mirrored
		}
	}
	return out, true
}

// welch is Welch's F of equal means, with its degrees of freedom.
func welch(parts []bounded) (f, df1, df2 float64) {
	k := float64(len(parts))
	total, mean := 0.0, 0.0
	weights := make([]float64, len(parts))
	for i, p := range parts {
		weights[i] = 1 / (p.se*p.se + unseenVariance*p.weight*p.weight)
		total += weights[i]
		mean += weights[i] * p.mean
	}
	mean /= total
	between, rest := 0.0, 0.0
	for i, p := range parts {
		between += weights[i] * (p.mean - mean) * (p.mean - mean)
		rest += (1 - weights[i]/total) * (1 - weights[i]/total) / p.df
	}
	return between / (k - 1) / (1 + 2*(k-2)/(k*k-1)*rest), k - 1, (k*k - 1) / (3 * rest)
}

// mostChange is how far a difference can change from one part of a study to another: from -1 to 1.
const mostChange = 2

// departure judges a contrast, one of a family.
func departure(e bounded, part, against string, family, alpha float64) Departure {
	half := e.half(alpha / family)
	d := Departure{Part: part, Against: against, Detectable: undefined,
		Difference: score.Metric{Value: e.mean, Low: max(-mostChange, e.mean-half), High: min(mostChange, e.mean+half), Defined: true},
		Corrected:  Number(min(1, e.pValue()*family))}
	d.Differs = float64(d.Corrected) <= alpha && sideOf(d.Difference) != 0
	if least := half + student(e.df).Quantile(Power)*e.se; !d.Differs && least <= mostChange {
		d.Detectable = Number(least)
	}
	return d
}

// overModels tests each two models by what the difference changes within samples.
func (s *study) overModels(p Pair) Interaction {
	out := Interaction{A: p.A, B: p.B, Of: "models", F: undefined, P: undefined, Corrected: undefined}
	k := len(s.models)
	family := float64(s.family * k * (k - 1) / 2)
	for i, x := range s.models {
		for _, y := range s.models[i+1:] {
			if e, ok := s.between(p, x, y); ok {
				one := departure(e, x, y, family, 1-s.Level)
				out.Parts = append(out.Parts, one)
				if !out.P.Defined() || one.Corrected < out.Corrected {
					out.P, out.Corrected = Number(e.pValue()), one.Corrected
				}
			}
		}
	}
	return out
}

// between is how much the difference of a pair changes from one model to another, within the
// samples of the tasks that both have.
func (s *study) between(p Pair, x, y string) (bounded, bool) {
	a, b := s.index(p)
	var parts []bounded
	var weights []float64
	total := 0.0
	for _, first := range s.of(x) {
		for _, second := range s.of(y) {
			if first.Task != second.Task {
				continue
			}
			one, ok := first.changed(second, a, b, view{envelope: s.envelope})
			if !ok {
				return bounded{}, false
			}
			parts, weights, total = append(parts, one), append(weights, first.Weight), total+first.Weight
		}
	}
	for i := range weights {
		weights[i] /= total
	}
	if len(parts) == 0 {
		return bounded{}, false
	}
	return compose(parts, weights), true
}

// changed is how much a difference changes from the model of t to that of other.
func (t stratum) changed(other stratum, a, b int, v view) (bounded, bool) {
	v.metric = t.Metric
	d, e := t.data[0], other.data[0]
	at := map[string]float64{}
	x, y := e.values(a, v), e.values(b, v)
	for i, s := range e.Samples {
		at[s.ID] = x[i] - y[i]
	}
	x, y = d.values(a, v), d.values(b, v)
	first, second, inRange := make([]float64, len(x)), make([]float64, len(x)), t.Metric == other.Metric && t.Metric != score.Graded
	for i, s := range d.Samples {
		first[i], second[i] = x[i]-y[i], math.NaN()
		if theirs, has := at[s.ID]; has {
			second[i] = theirs
		}
		inRange = inRange && !(math.Abs(first[i]) > 1) && !(math.Abs(second[i]) > 1)
	}
	p := pair(first, second, d.clusters())
	if p.units < 2 || !inRange {
		return bounded{}, false
	}
	out := p.bounded()
	out.bound = mostChange
	return out, true
}

// Rank is the places that a method may have among all, by what is proven: 1 is the best.
type Rank struct {
	Method string `json:"method"`
	From   int    `json:"from"`
	To     int    `json:"to"`
}

// ranks are the simultaneous confidence sets of ranks: below as many as are surely better,
// above as many as are surely worse.
//
// Source: Mogstad, Romano, Shaikh and Wilhelm 2024, "Inference for ranks with applications to
// mobility across neighbourhoods and academic achievement across countries".
func ranks(methods []string, pairs []Difference) (all []Rank) {
	for _, m := range methods {
		r := Rank{Method: m, From: 1, To: len(methods)}
		for _, d := range pairs {
			switch {
			case d.Winner == "" || d.A != m && d.B != m:
			case d.Winner == m:
				r.To--
			default:
				r.From++
			}
		}
		all = append(all, r)
	}
	return all
}

// Elsewhere is the difference of two methods on tasks like these: if other tasks scatter as
// these do. No winner is named by it, because one task in ten that turns round makes every
// rule of moderate size name false ones.
type Elsewhere struct {
	A    string       `json:"a"`
	B    string       `json:"b"`
	Mean score.Metric `json:"mean"` // over tasks, each with the same weight
	Next score.Metric `json:"next"` // the difference on one further task
}

// fewestTasks is how many tasks it takes to speak of others.
const fewestTasks = 5

// elsewhere is nil under five tasks. Its intervals are Student's over the tasks' means, and
// not corrected.
func (s *study) elsewhere() (all []Elsewhere) {
	n := float64(len(s.strata))
	if n < fewestTasks {
		return nil
	}
	for _, p := range s.pairs {
		parts, _, ok := s.differences(p, s.strata)
		if !ok {
			continue
		}
		means := make([]float64, len(parts))
		for i, part := range parts {
			means[i] = part.mean
		}
		mean, sd := stat.MeanStdDev(means, nil)
		t := student(n - 1).Quantile((1 + s.Level) / 2)
		around := func(half float64) score.Metric {
			return score.Metric{Value: mean, Low: mean - half, High: mean + half, N: len(parts), Defined: true}
		}
		all = append(all, Elsewhere{A: p.A, B: p.B, Mean: around(t * sd / math.Sqrt(n)), Next: around(t * sd * math.Sqrt(1+1/n))})
	}
	return all
}
