package aot

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// Validate lists all that is wrong with a plan, by position: duplicate and bad
// ids, unknown kinds, tools and decisions, arguments that do not fit the
// schema of their tool, references typed by the result schema of what they
// refer to, references and dependencies that lead nowhere or to the atom
// itself, cycles, no or several final atoms, atoms that the final one does not
// need, compensations that cannot run, and an answer that is not of the kind
// wanted (any will do if want has no kind). A plan without faults can be run;
// what its tools return is checked then.
func Validate(plan Plan, tools []methods.ToolSpec, want methods.AnswerSpec) []Fault {
	set, err := newToolset(tools, decisionList())
	if err != nil {
		return []Fault{{Text: err.Error()}}
	}
	_, faults := set.prepare(plan, want)
	return faults
}

// program is a plan that can be run.
type program struct {
	*graph
	tools  toolset
	answer *reply.Validator
	shapes []shape // by position: what is known of each atom's result
}

// prepare checks a plan and makes it a program; with faults there is none.
func (t toolset) prepare(plan Plan, want methods.AnswerSpec) (*program, []Fault) {
	schema, ok := answerSchema(want)
	if !ok {
		return nil, []Fault{{Text: fmt.Sprintf("an answer of kind %q cannot be planned", want.Kind)}}
	}
	answer, err := reply.NewValidator(schema)
	if err != nil {
		return nil, []Fault{{Text: err.Error()}}
	}
	if n := len(plan.Atoms); n == 0 || n > maxAtoms {
		return nil, []Fault{{Text: fmt.Sprintf("it has %d atoms; want 1 to %d", n, maxAtoms)}}
	}
	c := checker{program: &program{graph: newGraph(plan), tools: t, answer: answer}}
	c.inferShapes()
	for i := range plan.Atoms {
		c.at = i
		c.atom(plan.Atoms[i])
	}
	c.shape()
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b Fault) int { return a.Position - b.Position })
		return nil, c.faults
	}
	return c.program, nil
}

// checker finds the faults of a plan.
type checker struct {
	*program
	faults faultList
	at     int // position of the atom in hand
}

func (c *checker) fault(format string, args ...any) {
	c.faults.add(c.at+1, c.plan.Atoms[c.at].ID, format, args...)
}

// atom checks one atom by itself.
func (c *checker) atom(a Atom) {
	if a.ID < 1 {
		c.fault(idText)
	} else if first := c.index[a.ID]; first != c.at {
		c.fault("its id is taken by the atom at position %d", first+1)
	}
	c.dependencies(a)
	switch a.Kind {
	case Tool, Decision:
		op, fault := c.tools.find(a.Kind, a.Name)
		if fault != "" {
			c.fault("%s", fault)
		} else {
			c.input("input", a.Input, op.input)
		}
	case Final:
		c.final()
	default:
		c.fault("unknown kind %.40q; there are tool, decision and final", string(a.Kind))
	}
	c.compensation(a)
}

// dependencies checks what an atom names of others.
func (c *checker) dependencies(a Atom) {
	for _, id := range a.DependsOn {
		c.needs1(a, id, "dependsOn")
	}
	refs, malformed := references(a.Input)
	for _, id := range refs {
		c.needs1(a, id, "its input")
	}
	c.malformed(malformed)
}

func (c *checker) malformed(texts []string) {
	for _, text := range texts {
		c.fault("%.60q is not a reference; write <result_of_N>", text)
	}
}

func (c *checker) needs1(a Atom, id int, where string) {
	need, ok := c.index[id]
	switch {
	case id == a.ID:
		c.fault("%s names the atom itself", where)
	case !ok:
		c.fault("%s names atom %d, which does not exist", where, id)
	case c.plan.Atoms[need].Kind == Final:
		c.fault("%s names atom %d, which is final and gives nothing to others", where, id)
	}
}

// final checks the answer of a final atom.
func (c *checker) final() {
	value, fault := c.answerOf(c.at)
	if fault != "" {
		c.fault("%s", fault)
		return
	}
	c.value("the answer", value, c.answer)
}

// answerOf is what the final atom at position i answers: the value of the key
// "answer", or the only value of its input, or without input the result of the
// only atom that it depends on.
func (g *graph) answerOf(i int) (json.RawMessage, string) {
	a := g.plan.Atoms[i]
	if v, ok := a.Input["answer"]; ok {
		return v, ""
	}
	if len(a.Input) == 1 {
		for _, v := range a.Input {
			return v, ""
		}
	}
	if len(a.Input) == 0 && len(g.needs[i]) == 1 {
		return encode(fmt.Sprintf("%s%d>", refStart, g.plan.Atoms[g.needs[i][0]].ID)), ""
	}
	return nil, `it does not say what the answer is: write "input": {"answer": "<result_of_N>"}`
}

// unsaid lists the atoms that call a tool with effect and do not say how it is
// undone. A model that forgets it is asked again; who writes a plan by hand may
// leave it out.
func (t toolset) unsaid(plan Plan) (faults faultList) {
	for i, a := range plan.Atoms {
		if op, ok := t[Tool][a.Name]; a.Kind == Tool && ok && !op.spec.Pure && a.Compensate == nil {
			faults.add(i+1, a.ID, `%q has an effect: say how it is undone with "compensate", or that nothing is with {"name": %q}`, a.Name, nothing)
		}
	}
	return faults
}

// compensation checks how an atom is undone.
func (c *checker) compensation(a Atom) {
	if !a.Compensate.undoes() {
		return
	}
	if a.Kind != Tool {
		c.fault("only a tool atom can have a compensation")
	}
	op, fault := c.tools.find(Tool, a.Compensate.Name)
	if fault != "" {
		c.fault("compensate: %s", fault)
	} else {
		c.input("compensate", a.Compensate.Input, op.input)
	}
	known := c.reach(c.at)
	refs, malformed := references(a.Compensate.Input)
	c.malformed(malformed)
	for _, id := range refs {
		if i, ok := c.index[id]; !ok || !known[i] {
			c.fault("compensate refers to atom %d, which is neither the atom itself nor one that it needs", id)
		}
	}
}

// shape checks the plan as a whole.
func (c *checker) shape() {
	var finals []int
	for i, a := range c.plan.Atoms {
		if a.Kind == Final {
			finals = append(finals, i)
		}
	}
	if len(finals) != 1 {
		c.faults.add(0, 0, "it has %d final atoms; want one", len(finals))
	}
	for _, cycle := range c.cycles() {
		c.faults.add(0, 0, "a cycle: %s", c.cycleText(cycle))
	}
	if len(finals) == 0 {
		return
	}
	for i, used := range c.reach(finals...) {
		if !used {
			c.at = i
			c.fault("the final atom does not need it: use its result or leave it out")
		}
	}
}

// input checks arguments against the schema of a tool.
func (c *checker) input(what string, input map[string]json.RawMessage, schema *reply.Validator) {
	raw := json.RawMessage(`{}`)
	if len(input) > 0 {
		raw = encode(input)
	}
	c.value(what, raw, schema)
}

// value checks a value with references against a schema.
func (c *checker) value(what string, raw json.RawMessage, schema *reply.Validator) {
	var v any
	if err := decode(raw, &v); err != nil {
		c.fault("%s: %v", what, err)
		return
	}
	s := stand{shapeOf: c.shapeOf}
	filled, _ := trial.MapTexts(v, nil, s.text) // it never fails
	list, err := schema.Faults(encode(filled))
	if err != nil {
		c.fault("%s: %v", what, err)
		return
	}
	for _, f := range s.judge(list) {
		place := what
		if len(f.Place) > 0 {
			place += " " + strings.Join(f.Place, ".")
		}
		c.fault("%s: %s", place, f.Text)
	}
}

// shapeOf is what is known of the result of the atom with an id.
func (p *program) shapeOf(id int) shape {
	if i, ok := p.index[id]; ok {
		return p.shapes[i]
	}
	return shape{}
}

// inferShapes finds out what each atom gives: what the schema of its operation
// promises, or for decisions over any values what follows from their input. Of
// atoms on a cycle nothing is known.
func (p *program) inferShapes() {
	p.shapes = make([]shape, len(p.plan.Atoms))
	for _, i := range p.order {
		a := p.plan.Atoms[i]
		op := p.tools[a.Kind][a.Name]
		p.shapes[i] = op.gives
		if op.decision == nil || op.decision.gives == nil {
			continue
		}
		input := make(map[string]any, len(a.Input))
		for key, raw := range a.Input {
			var v any
			if decode(raw, &v) == nil {
				input[key] = v
			}
		}
		left := maxShapeNodes
		p.shapes[i] = op.decision.gives(input, func(v any) shape { return valueShape(v, p.shapeOf, 0) }).pruned(0, &left)
	}
}
