package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/kernel/task/arithmetic"
)

// undefinedReply is what the model says where its reading of a story has no
// value, because it divides by zero.
const undefinedReply = "This does not work out: as I read it, something is divided by zero."

// solveStory answers a story by calculating step by step.
func solveStory(p prompt, n noise) (solution, bool) {
	c, ok := calculate(p, n)
	if !ok {
		return solution{}, false
	}
	said := c.steps
	c = c.slipped(n)
	var s solution
	var b strings.Builder
	b.WriteString("The story gives these steps.\n")
	for i, step := range said {
		value, err := c.value(arithmetic.Operand{Step: i + 1})
		if err != nil {
			return solution{steps: b.String(), none: undefinedReply}, true
		}
		fmt.Fprintf(&b, "%d. %s %s and %s: %s.\n", i+1, step.Op, c.shown(step.A), c.shown(step.B), value)
	}
	s.steps = b.String()
	var err error
	if s.value, err = c.value(c.result); err != nil {
		s.none = undefinedReply
	}
	return s, true
}

// calculation is a story as understood.
type calculation struct {
	steps  []arithmetic.Step
	result arithmetic.Operand
	story  string // tells it apart
}

// calculate reads the story of a prompt.
func calculate(p prompt, n noise) (calculation, bool) {
	story, err := findStory(p)
	if err != nil || slices.ContainsFunc(story.Numbers, func(x string) bool { return !json.Valid([]byte(x)) }) {
		return calculation{}, false // numbers such as 007 have no form in a reply
	}
	return misreadStory(story, n), true
}

// slipped is the calculation as it is worked out in one's head: a step's result may be
// one too large.
func (c calculation) slipped(n noise) calculation {
	c.steps = slices.Clone(c.steps)
	for i := range c.steps {
		value, err := c.value(arithmetic.Operand{Step: i + 1})
		if err == nil && n.errs(compute, c.story, i) {
			c.steps[i] = arithmetic.Step{Op: arithmetic.Add, A: arithmetic.Operand{Value: value}, B: arithmetic.Operand{Value: "1"}}
		}
	}
	return c
}

// written is the calculation as a plan has it: a step may have another operation.
func (c calculation) written(n noise) calculation {
	c.steps = slices.Clone(c.steps)
	for i, s := range c.steps {
		if n.errs(write, i) {
			c.steps[i] = misreadOperation(s, n.draws(write, i))
		}
	}
	return c
}

// draws is [noise.below] for one fact.
func (n noise) draws(r reading, fact ...any) func(limit, which int) int {
	return func(limit, which int) int { return n.below(limit, r, which, fact...) }
}

func findStory(p prompt) (arithmetic.Story, error) {
	query, marked := p.question()
	if marked {
		return arithmetic.ReadStory(query)
	}
	return arithmetic.FindStory(query)
}

// value is an operand's value as a decimal; an error if there is none.
func (c calculation) value(o arithmetic.Operand) (string, error) {
	if o.Step == 0 {
		return o.Value, nil
	}
	return arithmetic.Story{Steps: c.steps[:o.Step]}.Answer()
}

// shown is an operand as reasoning writes it.
func (c calculation) shown(o arithmetic.Operand) string {
	if o.Step > 0 {
		return fmt.Sprintf("the result of step %d", o.Step)
	}
	return o.Value
}

// misreadStory is what a careless reader takes a story for. Of each wrong step
// an operand is another number of the text, the operation is another, or the
// step is lost and its first operand stands for it, evenly.
func misreadStory(s arithmetic.Story, n noise) calculation {
	c := calculation{story: fmt.Sprint(s)}
	stands := make([]arithmetic.Operand, len(s.Steps)+1) // what stands for each step
	through := func(o arithmetic.Operand) arithmetic.Operand {
		if o.Step > 0 {
			return stands[o.Step]
		}
		return o
	}
	for i, step := range s.Steps {
		step.A, step.B = through(step.A), through(step.B)
		if n.errs(request, c.story, i) {
			switch draw := n.draws(request, c.story, i); draw(3, 0) {
			case 0:
				step = misreadOperand(step, s.Numbers, draw)
			case 1:
				step = misreadOperation(step, draw)
			case 2:
				stands[i+1] = step.A
				continue
			}
		}
		c.steps = append(c.steps, step)
		stands[i+1] = arithmetic.Operand{Step: len(c.steps)}
	}
	c.result = stands[len(s.Steps)]
	return c
}

// misreadOperand puts another of the text's numbers in the place of one that
// the step has. Without one to change the operation is misread.
func misreadOperand(s arithmetic.Step, numbers []string, draw func(limit, which int) int) arithmetic.Step {
	var operands []*arithmetic.Operand
	for _, o := range []*arithmetic.Operand{&s.A, &s.B} {
		if o.Step == 0 {
			operands = append(operands, o)
		}
	}
	if len(operands) == 0 {
		return misreadOperation(s, draw)
	}
	o := operands[draw(len(operands), 1)]
	others := slices.DeleteFunc(slices.Clone(numbers), func(x string) bool { return x == o.Value })
	if len(others) == 0 {
		return misreadOperation(s, draw)
	}
	o.Value = others[draw(len(others), 2)]
	return s
}

func misreadOperation(s arithmetic.Step, draw func(limit, which int) int) arithmetic.Step {
	others := slices.DeleteFunc([]arithmetic.Op{arithmetic.Add, arithmetic.Subtract, arithmetic.Multiply, arithmetic.Divide}, func(o arithmetic.Op) bool { return o == s.Op })
	s.Op = others[draw(len(others), 1)]
	return s
}
