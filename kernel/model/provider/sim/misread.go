package sim

import (
	"slices"

	"noema/kernel/task/policy"
)

// misreadPolicy is what a careless reader takes a policy for: each formula and
// the verdict may be misread, each field or one of its values lost.
func misreadPolicy(p policy.Policy, n noise) policy.Policy {
	fields := p.Fields
	p = misreadFormulas(p, request, n)
	if n.errs(request, p.Name, "verdict") {
		p.Verdict.Cuts[n.below(2, request, 0, p.Name, "verdict")] *= 1.5
	}
	p.Fields = nil
	for _, f := range fields {
		if n.errs(request, p.Name, f.Name) {
			if len(f.Values) < 3 || n.below(2, request, 0, p.Name, f.Name) == 0 {
				continue
			}
			lost := 1 + n.below(len(f.Values)-1, request, 1, p.Name, f.Name) // "none" is never lost
			f.Values = slices.Delete(slices.Clone(f.Values), lost, lost+1)
		}
		p.Fields = append(p.Fields, f)
	}
	return p
}

// misreadFormulas is a policy whose formulas were each read or written with an error.
func misreadFormulas(p policy.Policy, kind reading, n noise) policy.Policy {
	p.Terms = slices.Clone(p.Terms)
	for i, t := range p.Terms {
		if n.errs(kind, p.Name, t.Name) {
			r := misreader{fields: p.Fields, draw: n.draws(kind, p.Name, t.Name)}
			p.Terms[i].Formula = r.formula(t.Formula)
		}
	}
	return p
}

// misreader draws how a formula is misread: draw is a number in [0, limit), and which
// tells its draws apart.
type misreader struct {
	fields []policy.Field
	draw   func(limit, which int) int
}

// formula is f misread: it counts other reviews, or takes in other values.
func (r misreader) formula(f policy.Formula) policy.Formula {
	switch f := f.(type) {
	case policy.Count:
		f.Where = r.where(f.Where)
		return f
	case policy.Average:
		f.Where = r.where(f.Where)
		return f
	case policy.Latest:
		f.Where = r.where(f.Where)
		return f
	case policy.Votes:
		f.Where = r.where(f.Where)
		return f
	case policy.ByYear:
		f.Ages = slices.Clone(f.Ages)
		f.Ages[r.draw(len(f.Ages), 0)].Since++
		return f
	case policy.Linear:
		f.Parts = r.parts(f.Parts)
		return f
	case policy.Product:
		return policy.Product{Names: f.Names[:max(1, len(f.Names)-1)]}
	case policy.Ratio:
		return policy.Ratio{Over: f.Under, Under: f.Over}
	case policy.Steps:
		f.Rungs = slices.Clone(f.Rungs)
		f.Rungs[r.draw(len(f.Rungs), 0)].AtLeast++
		return f
	}
	return f
}

// parts loses a part of a sum or gives it double weight, evenly. The first
// part is never lost: what follows it may begin with a minus.
func (r misreader) parts(parts []policy.Part) []policy.Part {
	parts = slices.Clone(parts)
	i := r.draw(len(parts), 0)
	if i > 0 && r.draw(2, 1) == 0 {
		return slices.Delete(parts, i, i+1)
	}
	parts[i].Weight *= 2
	return parts
}

// where loses one of several tests or takes another value for the one that a
// test asks for, evenly.
func (r misreader) where(w policy.Where) policy.Where {
	w.Tests = slices.Clone(w.Tests)
	i := r.draw(len(w.Tests), 0)
	if len(w.Tests) > 1 && r.draw(2, 1) == 0 {
		w.Tests = slices.Delete(w.Tests, i, i+1)
		return w
	}
	t := &w.Tests[i]
	for _, f := range r.fields {
		if f.Name == t.Field && len(f.Values) > 1 {
			t.Values = slices.Clone(t.Values)
			v := r.draw(len(t.Values), 2)
			t.Values[v] = otherThan(t.Values[v], f.Values, r.draw(len(f.Values)-1, 3))
		}
	}
	return w
}
