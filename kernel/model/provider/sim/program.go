package sim

import (
	"fmt"
	"strings"

	"noema/kernel/task/arithmetic"
)

// writeProgram writes a program in Python for the question of a prompt: of a story one
// that computes its steps as fractions, of any other question one that prints what the
// model has worked out itself.
func writeProgram(p prompt, n noise) (string, bool) {
	var b strings.Builder
	b.WriteString("```python\n")
	if c, ok := calculate(p, n); ok {
		c = c.written(n)
		b.WriteString("from decimal import Decimal\nfrom fractions import Fraction\n")
		for i, s := range c.steps {
			fmt.Fprintf(&b, "s%d = %s %s %s\n", i+1, inPython(s.A), operators[s.Op], inPython(s.B))
		}
		fmt.Fprintf(&b, "answer = %s\nprint(\"Answer:\", format(Decimal(answer.numerator) / answer.denominator, \"f\"))\n```", inPython(c.result))
		return b.String(), true
	}
	s, ok := p.solve(n)
	if !ok || s.none != "" {
		return s.none, ok
	}
	fmt.Fprintf(&b, "print(\"Answer: \" + %s)\n```", plainJSON(s.text()))
	return b.String(), true
}

// operators are those of Python.
var operators = map[arithmetic.Op]string{arithmetic.Add: "+", arithmetic.Subtract: "-", arithmetic.Multiply: "*", arithmetic.Divide: "/"}

// inPython is an operand as an expression.
func inPython(o arithmetic.Operand) string {
	if o.Step > 0 {
		return fmt.Sprintf("s%d", o.Step)
	}
	return fmt.Sprintf("Fraction(%q)", o.Value)
}
