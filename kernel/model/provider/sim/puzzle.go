package sim

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task/arithmetic"
	"noema/methods/decimal"
)

// token is a number of a puzzle, with the expression that it is worth.
type token struct {
	value *big.Rat
	text  string
}

// goal is what a puzzle's numbers should give.
var goal = big.NewRat(24, 1)

// maxNumbers bounds a puzzle: the search tries every move.
const maxNumbers = 4

// signs are the four operations.
var signs = []string{"+", "-", "*", "/"}

// joinedBy is what two tokens make by a sign; false for a division by zero.
func joinedBy(sign string, a, b token) (token, bool) {
	v := decimal.Apply(sign, a.value, b.value)
	return token{v, "(" + a.text + " " + sign + " " + b.text + ")"}, v != nil
}

// move is one step of a puzzle: two of its numbers make another.
type move struct {
	a, b, one token
	sign      string
	left      []token // after it
}

// String is the move as a step says it.
func (m move) String() string {
	values := make([]string, len(m.left))
	for i, t := range m.left {
		values[i] = t.value.RatString()
	}
	return fmt.Sprintf("%s (left: %s)", m.equation(), strings.Join(values, " "))
}

// equation is the move without what is left.
func (m move) equation() string {
	return m.a.value.RatString() + " " + m.sign + " " + m.b.value.RatString() + " = " + m.one.value.RatString()
}

// movesFrom are the moves that a state allows.
func movesFrom(left []token) (all []move) {
	for i, a := range left {
		for j, b := range left {
			for _, sign := range signs {
				one, ok := joinedBy(sign, a, b)
				if i == j || !ok || i > j && (sign == "+" || sign == "*") {
					continue
				}
				rest := make([]token, 0, len(left))
				for k, other := range left {
					if k != i && k != j {
						rest = append(rest, other)
					}
				}
				all = append(all, move{a, b, one, sign, append(rest, one)})
			}
		}
	}
	return all
}

// solvable is the first move of a way to the goal; false if there is none.
func solvable(left []token) (move, bool) {
	for _, m := range movesFrom(left) {
		if len(m.left) == 1 && m.left[0].value.Cmp(goal) == 0 {
			return m, true
		}
		if _, ok := solvable(m.left); len(m.left) > 1 && ok {
			return m, true
		}
	}
	return move{}, false
}

// puzzle is a Game of 24 that a prompt shows, as far as its steps go.
type puzzle struct {
	left []token
	lost bool // a step is not a move of the state before it
}

// moveLine is how a step says a move.
var moveLine = regexp.MustCompile(`^\S+ [-+*/] \S+ = [^\s(]+`)

// readPuzzle reads the puzzle of a prompt and makes the moves of these lines.
func readPuzzle(p prompt, lines []string) (puzzle, bool) {
	numbers, ok := arithmetic.FindPuzzle(p.text)
	if !ok || len(numbers) > maxNumbers {
		return puzzle{}, false
	}
	var z puzzle
	for _, n := range numbers {
		z.left = append(z.left, token{big.NewRat(int64(n), 1), fmt.Sprint(n)})
	}
	for _, line := range lines {
		said := moveLine.FindString(line)
		if said == "" {
			continue
		}
		all := movesFrom(z.left)
		made := slices.IndexFunc(all, func(m move) bool { return m.equation() == said })
		if z.lost = made < 0; z.lost {
			break
		}
		z.left = all[made].left
	}
	return z, true
}

// play makes moves until one number is left. A careless one makes a move that leads nowhere.
func (z puzzle) play(n noise) (made []move) {
	for len(z.left) > 1 {
		m, found := solvable(z.left)
		fact := move{left: z.left, a: z.left[0], b: z.left[0], one: z.left[0]}.String()
		if !found || n.errs(compute, fact) {
			all := movesFrom(z.left)
			m = all[n.below(len(all), compute, 0, fact)]
		}
		made, z.left = append(made, m), m.left
	}
	return made
}

// solvePuzzle plays a puzzle from the steps that a prompt shows.
func solvePuzzle(p prompt, n noise) (solution, bool) {
	shown, _, _ := section(p.text, "steps")
	z, ok := readPuzzle(p, strings.Split(shown, "\n"))
	if !ok {
		return solution{}, false
	}
	var steps strings.Builder
	last := z.left[0]
	for _, m := range z.play(n) {
		steps.WriteString(m.String() + "\n")
		last = m.one
	}
	text := strings.TrimSuffix(strings.TrimPrefix(last.text, "("), ")")
	return solution{steps: steps.String(), value: plainJSON(text), plain: text}, true
}

// planPuzzle plans one atom for each move.
func planPuzzle(p prompt, n noise) (string, bool) {
	z, ok := readPuzzle(p, nil)
	if !ok || len(z.left) < 2 || !hasTools(p, "add", "subtract", "multiply", "divide") {
		return "", false
	}
	d, refs := newDraft(), map[string]ref{} // by the expressions that they stand for
	operand := func(t token) any {
		if r, made := refs[t.text]; made {
			return r
		}
		return t.text
	}
	var last ref
	for _, m := range z.play(n) {
		name := map[string]string{"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[m.sign]
		last = d.tool(name, map[string]any{"a": operand(m.a), "b": operand(m.b)})
		refs[m.one.text] = last
	}
	return d.plan(last), true
}
