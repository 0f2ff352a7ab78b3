package arithmetic

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"noema/kernel/base/score"
	"noema/kernel/task"
	"noema/kernel/task/table"
	"noema/methods"
)

// Game24Scorer is the name of the scorer that checks answers by
// [score.Game24]. The target is {"numbers": […]}.
const Game24Scorer = "game24"

// puzzles is the column of the puzzles.
const puzzles = "Puzzles"

// IsGame24 reports whether a row has the column "Puzzles".
func IsGame24(row table.Row) bool { return row.Has(puzzles) }

// LoadGame24 reads Game-of-24 puzzles from a table: those of the column "Puzzles",
// each numbers separated by spaces, such as "1 1 4 6". The answer is an expression.
// The tools are [Moves]. Errors name file and line.
//
// Source: Yao et al. 2023, "Tree of Thoughts", file 24.csv. Its columns on how
// people fared become metadata.
func LoadGame24(rows *table.Table) (*task.Task, error) {
	t := &task.Task{
		Name: "game24", Version: "1", Summary: "make 24 from the given numbers (Game of 24)", Source: "file " + filepath.Base(rows.Path),
		Scorer: score.Named(Game24Scorer), Environment: Moves{},
	}
	if err := rows.Each(func(row table.Row) error { return addPuzzle(t, row) }); err != nil {
		return nil, fmt.Errorf("read Game of 24: %w", err)
	}
	if len(t.Samples) == 0 {
		return nil, fmt.Errorf("read Game of 24: %s has no puzzles", filepath.Base(rows.Path))
	}
	return t, nil
}

func addPuzzle(t *task.Task, row table.Row) error {
	cells := map[string]string{}
	for _, name := range row.Columns() {
		raw, err := row.Cell(name)
		if err != nil {
			return err
		}
		if text := ""; json.Unmarshal(raw, &text) == nil {
			cells[name] = text
		} else if raw != nil {
			cells[name] = string(raw)
		}
	}
	var numbers []int
	for _, word := range strings.Fields(cells[puzzles]) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 0 {
			return row.Errorf("puzzle %.80q: want whole numbers separated by spaces, such as 1 1 4 6", cells[puzzles])
		}
		numbers = append(numbers, n)
	}
	if len(numbers) < 2 {
		return row.Errorf("puzzle %.80q: want at least two numbers", cells[puzzles])
	}
	target := methods.Must(json.Marshal(map[string][]int{"numbers": numbers}))
	s := task.Sample{
		ID: fmt.Sprintf("game24-%04d", len(t.Samples)+1), Target: target, Metadata: cells,
		Problem: methods.Problem{Query: puzzleText(numbers), Answer: methods.AnswerSpec{Kind: methods.Text}},
	}
	delete(cells, puzzles)
	t.Samples = append(t.Samples, s)
	return nil
}

func puzzleText(numbers []int) string {
	var list strings.Builder
	for i, n := range numbers {
		switch {
		case i > 0 && i == len(numbers)-1:
			list.WriteString(" and ")
		case i > 0:
			list.WriteString(", ")
		}
		list.WriteString(strconv.Itoa(n))
	}
	return "Make 24 from the numbers " + list.String() + ". Use each of them exactly once, with +, -, *, / and parentheses. " +
		"The answer is the expression alone, in the form of (1 + 2) * 8."
}

// asked finds the numbers of a puzzle's text.
var asked = regexp.MustCompile(`Make 24 from the numbers ((?:\d{1,4}, ){0,8}\d{1,4} and \d{1,4})\. `)

// FindPuzzle finds the last Game-of-24 puzzle in a longer text, such as a prompt, and
// returns its numbers; false if there is none.
func FindPuzzle(text string) (numbers []int, ok bool) {
	all := asked.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return nil, false
	}
	for _, word := range strings.FieldsFunc(all[len(all)-1][1], func(r rune) bool { return r < '0' || r > '9' }) {
		n, _ := strconv.Atoi(word) // at most four digits
		numbers = append(numbers, n)
	}
	return numbers, true
}

// Moves runs the moves of a puzzle. A move joins two numbers or expressions
// into one, so that the last of them is the answer; the tool value tells what
// an expression comes to, as an exact fraction such as 8/3.
type Moves struct{}

var _ task.Environment = Moves{}

// Tools lists add, subtract, multiply, divide and value.
func (Moves) Tools() []methods.ToolSpec {
	const operand = `{"type":["string","integer"]}`
	two := json.RawMessage(`{"type":"object","properties":{"a":` + operand + `,"b":` + operand + `},"required":["a","b"],"additionalProperties":false}`)
	one := json.RawMessage(`{"type":"object","properties":{"expression":{"type":"string"}},"required":["expression"],"additionalProperties":false}`)
	of := func(name, doc string, parameters json.RawMessage) methods.ToolSpec {
		return methods.ToolSpec{Name: name, Description: doc, Parameters: parameters, Result: json.RawMessage(`{"type":"string"}`), Pure: true}
	}
	return []methods.ToolSpec{
		of("add", "the expression (a + b) of two numbers or expressions", two),
		of("subtract", "the expression (a - b)", two),
		of("multiply", "the expression (a * b)", two),
		of("divide", "the expression (a / b); b must not come to 0", two),
		of("value", "what an expression comes to, as an exact fraction", one),
	}
}

// moves are the signs of the tools that join.
var moves = map[string]string{"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}

// Call implements [task.Environment]. It fails only for an unknown tool.
func (Moves) Call(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	var args struct {
		A, B       any
		Expression string
	}
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return failure(fmt.Errorf("read arguments: %w", err)), nil
	}
	if c.Name == "value" {
		v, _, err := score.Evaluate(args.Expression)
		if err != nil {
			return failure(err), nil
		}
		return methods.ToolResult{Content: v.RatString()}, nil
	}
	sign, ok := moves[c.Name]
	if !ok {
		return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
	}
	joined := fmt.Sprintf("(%v %s %v)", args.A, sign, args.B)
	if _, _, err := score.Evaluate(joined); err != nil {
		return failure(err), nil
	}
	return methods.ToolResult{Content: joined}, nil
}
