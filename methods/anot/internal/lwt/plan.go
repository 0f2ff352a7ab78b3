package lwt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Plan is a program that was checked and made ready to run: its prompts are
// cut into text and references, and its graph is known.
type Plan struct {
	Steps  []PlanStep // in the order of the program
	Layers [][]int    // indices of the steps, by the longest way to them; for display
	sink   int
	index  map[string]int // step by id
}

// PlanStep is a step in the graph of its plan.
type PlanStep struct {
	Step
	Needs    []int // indices of the steps whose output it uses, ascending
	UsedBy   []int // indices of the steps that use its output, ascending
	Layer    int   // 0 if it needs no step
	template template
}

// Compile checks p against the names of the variables that the data has
// besides the items (see [Data.Names]) and plans it. The error joins the
// faults, each an [*Error], in the order of the steps: all that was found of
//
//   - no steps, or no step final;
//   - an id that is the name of a variable;
//   - a malformed reference, or one to neither a step nor a variable;
//   - a cycle;
//   - a step besides final whose output nothing uses;
//   - dots in place of items, which nothing fills in.
func Compile(p *Program, names []string) (*Plan, error) {
	c := &compiler{
		plan:  &Plan{sink: -1, index: p.index()},
		vars:  map[string]bool{},
		names: append(append(itemNames(), queryName), names...),
	}
	for _, name := range c.names {
		c.vars[name] = true
	}
	for _, s := range p.Steps {
		c.plan.Steps = append(c.plan.Steps, PlanStep{Step: s, template: parseTemplate(s.Prompt)})
	}
	for i := range c.plan.Steps {
		c.check(i)
	}
	c.layers()
	c.sinks()
	if err := errors.Join(c.faults...); err != nil {
		return nil, err
	}
	return c.plan, nil
}

// index is where the steps are, by id.
func (p *Program) index() map[string]int {
	index := make(map[string]int, len(p.Steps))
	for i, s := range p.Steps {
		index[s.ID] = i
	}
	return index
}

type compiler struct {
	plan   *Plan
	vars   map[string]bool
	names  []string // of vars, in a fixed order
	faults []error
}

func (c *compiler) fault(s Step, format string, args ...any) {
	c.faults = append(c.faults, &Error{s.Pos, s.ID, fmt.Sprintf(format, args...)})
}

// check looks at one step alone and enters its needs.
func (c *compiler) check(i int) {
	s := &c.plan.Steps[i]
	if c.vars[s.ID] {
		c.fault(s.Step, "the id is the name of a variable: choose another")
	}
	for _, m := range s.template.malformed {
		c.fault(s.Step, "%q begins no reference: want {(name)}", m)
	}
	needed := map[int]bool{}
	for _, p := range s.template.parts {
		if p.ref != nil {
			c.refer(i, p.ref, needed)
		}
	}
	slices.Sort(s.Needs)
	if s.template.elides() {
		c.fault(s.Step, "dots stand in place of items and nothing fills them in: list every item")
	}
}

// refer enters what a reference of step i needs, unless that is needed already.
func (c *compiler) refer(i int, r *Reference, needed map[int]bool) {
	s := &c.plan.Steps[i]
	to, isStep := c.plan.index[r.Name]
	switch {
	case c.vars[r.Name]:
	case isStep:
		if !needed[to] {
			needed[to] = true
			s.Needs = append(s.Needs, to)
			c.plan.Steps[to].UsedBy = append(c.plan.Steps[to].UsedBy, i)
		}
	default:
		c.fault(s.Step, "%.80s refers to no step and no variable (variables: %.200s)", r.Text, strings.Join(c.names, ", "))
	}
}

// layers orders the steps by Kahn's algorithm; what is left over is on a
// cycle or behind one.
func (c *compiler) layers() {
	steps := c.plan.Steps
	waiting := make([]int, len(steps))
	var layer []int
	for i, s := range steps {
		if waiting[i] = len(s.Needs); waiting[i] == 0 {
			layer = append(layer, i)
		}
	}
	done := 0
	for depth := 0; len(layer) > 0; depth++ {
		c.plan.Layers = append(c.plan.Layers, layer)
		done += len(layer)
		var next []int
		for _, i := range layer {
			steps[i].Layer = depth
			for _, user := range steps[i].UsedBy {
				if waiting[user]--; waiting[user] == 0 {
					next = append(next, user)
				}
			}
		}
		slices.Sort(next)
		layer = next
	}
	if done < len(steps) {
		c.cycle(waiting)
	}
}

// cycle reports one cycle among the steps that still wait.
func (c *compiler) cycle(waiting []int) {
	steps := c.plan.Steps
	at := slices.IndexFunc(waiting, func(n int) bool { return n > 0 })
	seen := map[int]int{}
	var way []int
	for {
		if from, ok := seen[at]; ok {
			way = append(way[from:], at)
			break
		}
		seen[at] = len(way)
		way = append(way, at)
		// A step that waits needs another one that waits.
		for _, need := range steps[at].Needs {
			if waiting[need] > 0 {
				at = need
				break
			}
		}
	}
	ids := make([]string, len(way))
	for i, w := range way {
		ids[i] = steps[w].ID
	}
	c.fault(steps[way[0]].Step, "needs its own output: %s", strings.Join(ids, " needs "))
}

// sinks checks that final, and only final, is used by no step.
func (c *compiler) sinks() {
	final, ok := c.plan.index[Final]
	if !ok {
		c.faults = append(c.faults, &Error{Msg: fmt.Sprintf("there is no step (%s): its output is the result", Final)})
	} else {
		c.plan.sink = final
	}
	for i, s := range c.plan.Steps {
		switch used := len(s.UsedBy) > 0; {
		case i == c.plan.sink && ok && used:
			c.fault(c.plan.Steps[s.UsedBy[0]].Step, "uses the output of %s, which must come last", Final)
		case s.ID != Final && !used:
			c.fault(s.Step, "no step uses its output: refer to it in %s or delete it", Final)
		}
	}
}

// Unknown lists the names that p refers to and that are neither a step nor always
// there, in alphabetical order: the data must have them.
func (p *Program) Unknown() []string {
	var names []string
	index := p.index()
	for _, s := range p.Steps {
		for _, part := range parseTemplate(s.Prompt).parts {
			if part.ref == nil || part.ref.Name == queryName || isItems(part.ref.Name) {
				continue
			}
			if _, isStep := index[part.ref.Name]; !isStep {
				names = append(names, part.ref.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Needs lists the steps that each step refers to.
func (p *Program) Needs() [][]string {
	index, needs := p.index(), make([][]string, len(p.Steps))
	for i, s := range p.Steps {
		seen := map[string]bool{}
		for _, part := range parseTemplate(s.Prompt).parts {
			if part.ref == nil || seen[part.ref.Name] {
				continue
			}
			if _, isStep := index[part.ref.Name]; isStep {
				seen[part.ref.Name] = true
				needs[i] = append(needs[i], part.ref.Name)
			}
		}
	}
	return needs
}

// Sink is the index of the final step.
func (p *Plan) Sink() int { return p.sink }

// Unlisted returns the items of 1..n that step i leaves out though it refers
// to others. Such a step judges only a part of the items.
func (p *Plan) Unlisted(i, n int) []int {
	listed := make([]bool, n+1)
	refers := false
	for _, part := range p.Steps[i].template.parts {
		if part.ref != nil && isItems(part.ref.Name) {
			refers = true
			mark(listed, part.ref.Path)
		}
	}
	if !refers {
		return nil
	}
	var missing []int
	for item := 1; item <= n; item++ {
		if !listed[item] {
			missing = append(missing, item)
		}
	}
	return missing
}

// Reads reports whether step i refers to the items' data at a path of keys: to the
// data itself, to a part of it or to what it is a part of.
func (p *Plan) Reads(i int, keys []string) bool {
	return slices.ContainsFunc(p.Steps[i].template.parts, func(part part) bool {
		if part.ref == nil || !isItems(part.ref.Name) {
			return false
		}
		for k := 1; k < len(part.ref.Path) && k <= len(keys); k++ {
			if a := part.ref.Path[k]; !a.Slice && a.Key != keys[k-1] {
				return false
			}
		}
		return true
	})
}

// mark sets the items that path takes in.
func mark(listed []bool, path []Accessor) {
	from, to := 1, len(listed)
	if len(path) > 0 {
		switch a := path[0]; {
		case !a.Slice && a.Index >= 0 && a.Index < len(listed):
			from, to = a.Index, a.Index+1
		case !a.Slice:
			return
		default:
			from = max(from, a.From)
			if a.To >= 0 {
				to = min(to, a.To)
			}
		}
	}
	for i := from; i < to; i++ {
		listed[i] = true
	}
}

// Fill puts data and outputs into the prompt of step i, in one pass. A
// reference that leads nowhere becomes the empty string and is returned as it
// is written, once for each time it occurs. Output returns the output of a
// step that step i needs; with accessors behind it, it is read as JSON or as a
// Python literal.
//
// Source: seed 000 §Variable Substitution. Differs: the original dropped
// what it did not find without a trace.
func (p *Plan) Fill(i int, d *Data, output func(id string) string) (prompt string, missing []string) {
	s := &p.Steps[i]
	var b strings.Builder
	for _, part := range s.template.parts {
		if part.ref == nil {
			b.WriteString(part.text)
			continue
		}
		text, ok := p.value(part.ref, d, output)
		if !ok {
			missing = append(missing, part.ref.Text)
		}
		b.WriteString(text)
	}
	return b.String(), missing
}

func (p *Plan) value(r *Reference, d *Data, output func(string) string) (string, bool) {
	if _, isStep := p.index[r.Name]; !isStep {
		return d.Value(*r)
	}
	text := output(r.Name)
	if len(r.Path) == 0 {
		return text, true
	}
	t, err := parseLoose(text)
	if err != nil {
		return "", false
	}
	return t.render(t.root, r.Path, 0)
}
