package generalanot

import (
	"maps"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// Program is a valid Formula Seed, ready to be executed on any number of
// contexts at once.
type Program struct {
	Seed  *FormulaSeed // not to be changed
	Moved []string     // steps that the seed has before steps that they use, in their new order
	spec  methods.AnswerSpec
	steps []step // in the order of execution
}

type step struct {
	ComputeStep
	expr  *pyexpr.Expr
	at    int   // its place in the seed
	uses  []int // places of the steps that it uses
	reads bool  // it reads the extractions itself
}

// NewProgram validates a seed and compiles its formulas. It returns a program
// or all the faults; see [Validate].
func NewProgram(s *FormulaSeed, spec methods.AnswerSpec) (*Program, []Fault) {
	c := &checker{seed: s, spec: spec}
	c.keys()
	c.fields()
	c.prompt()
	c.handling()
	if len(s.ComputeDAG) > maxSteps {
		return nil, c.faults // listing the rest would take long
	}
	names := map[string]bool{} // of lookups and steps
	c.lookups(names)
	steps := make([]step, len(s.ComputeDAG))
	places := map[string]int{}
	for i, d := range s.ComputeDAG {
		c.stepName(index("compute_dag", i)+".name", d.Name, names)
		places[d.Name] = i
		steps[i] = step{ComputeStep: d, at: i, expr: c.compile(i, d)}
	}
	for i := range steps {
		c.resolve(&steps[i], names, places)
	}
	p := &Program{Seed: s, spec: spec, steps: c.order("compute_dag", steps)}
	c.outputs(places)
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	for i, st := range steps {
		if slices.ContainsFunc(st.uses, func(u int) bool { return u > i }) {
			p.Moved = append(p.Moved, st.Name)
		}
	}
	return p, nil
}

// compile parses a formula; nil means that it has a fault.
func (c *checker) compile(i int, d ComputeStep) *pyexpr.Expr {
	at := index("compute_dag", i) + ".formula"
	if strings.TrimSpace(d.Formula) == "" {
		c.fault(at, "is missing or empty")
		return nil
	}
	e, err := pyexpr.Compile(d.Formula)
	if err != nil {
		c.fault(at, "%s: %v", d.Name, err)
		return nil
	}
	return e
}

// resolve finds what the step uses: inputs, lookups and other steps, and
// fields of the extractions.
func (c *checker) resolve(s *step, names map[string]bool, places map[string]int) {
	if s.expr == nil {
		return
	}
	at := index("compute_dag", s.at) + ".formula"
	for _, n := range s.expr.Names() {
		place, isStep := places[n]
		switch {
		case n == extractionsInput:
			s.reads = true
		case slices.Contains(inputs(c.spec.Kind), n):
		case isStep:
			s.uses = append(s.uses, place)
		case !names[n]:
			known := slices.Concat(slices.Collect(maps.Keys(names)), pyexpr.Builtins(), inputs(c.spec.Kind))
			slices.Sort(known)
			hint := methods.DidYouMean(n, known)
			if cure := pyexpr.Instead(n); cure != "" {
				hint = ": " + cure
			}
			c.fault(at, "%s uses %q, which is not an input, lookup, step or builtin%s", s.Name, n, hint)
		}
	}
	known := metadata(c.spec.Kind)
	c.access(at, s, reviewsInput, known)
	for _, f := range c.seed.ExtractionFields {
		known = append(known, f.Name)
	}
	c.access(at, s, extractionsInput, known)
}

// access: every e['field'] of a list is one that its elements have.
func (c *checker) access(at string, s *step, list string, known []string) {
	for _, f := range s.expr.Fields(list) {
		if !slices.Contains(known, f.Name) {
			c.fault(at, "%s reads in column %d the field %q of %s, which has only %s", s.Name, f.Col, f.Name, list, strings.Join(known, ", "))
		}
	}
}
