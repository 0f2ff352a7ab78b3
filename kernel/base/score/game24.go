package score

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/big"
	"slices"
	"strings"

	"noema/methods/decimal"
)

// game24Goal is what the numbers of a puzzle must give.
var game24Goal = big.NewRat(24, 1)

// maxExpression bounds an answer in bytes; four numbers need far fewer.
const maxExpression = 1000

// Game24 returns nil if expression uses each of the numbers exactly once, no
// others, and only + - * / and parentheses, and its value is exactly 24; or
// else an error that says which rule it breaks. The signs × · ÷ − are read as
// * * / -, and "= 24" at its end is let pass.
//
// Source: Yao et al. 2023, "Tree of Thoughts", task Game of 24. Differs:
// fractions are exact, where the original's floats take (8/(3-8/3)) for
// 23.99999999999999 unless sympy simplifies it.
func Game24(expression string, numbers []int) error {
	text := strings.TrimSpace(expression)
	if left, right, ok := strings.Cut(text, "="); ok && strings.TrimSpace(right) == "24" {
		text = left
	}
	value, used, err := Evaluate(text)
	if err != nil {
		return err
	}
	given := slices.Sorted(slices.Values(numbers))
	if slices.Sort(used); !slices.Equal(used, given) {
		return fmt.Errorf("score: expression %.80q uses the numbers %v, not each of %v once", expression, used, given)
	}
	if value.Cmp(game24Goal) != 0 {
		return fmt.Errorf("score: expression %.80q is %s, not 24", expression, value.RatString())
	}
	return nil
}

// Evaluate computes an expression of whole numbers, + - * / and parentheses
// exactly, and lists the numbers in it in the order of the text.
func Evaluate(expression string) (*big.Rat, []int, error) {
	if len(expression) > maxExpression {
		return nil, nil, fmt.Errorf("score: expression of %d bytes; want at most %d", len(expression), maxExpression)
	}
	text := strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "\n", " ").Replace(expression)
	tree, err := parser.ParseExpr(text)
	if err != nil {
		return nil, nil, fmt.Errorf("score: expression %.80q: %w", expression, err)
	}
	var e evaluation
	value, err := e.eval(tree)
	if err != nil {
		return nil, nil, fmt.Errorf("score: expression %.80q: %w", expression, err)
	}
	return value, e.used, nil
}

// evaluation computes an expression and notes the numbers in it.
type evaluation struct{ used []int }

func (e *evaluation) eval(x ast.Expr) (*big.Rat, error) {
	switch x := x.(type) {
	case *ast.ParenExpr:
		return e.eval(x.X)
	case *ast.BasicLit:
		return e.number(x)
	case *ast.BinaryExpr:
		a, err := e.eval(x.X)
		if err != nil {
			return nil, err
		}
		b, err := e.eval(x.Y)
		if err != nil {
			return nil, err
		}
		if r := decimal.Apply(x.Op.String(), a, b); r != nil {
			return r, nil
		}
		if x.Op == token.QUO {
			return nil, errors.New("division by zero")
		}
		return nil, fmt.Errorf("the operation %s is not allowed", x.Op)
	}
	return nil, errors.New("only numbers, + - * / and parentheses are allowed")
}

func (e *evaluation) number(lit *ast.BasicLit) (*big.Rat, error) {
	if lit.Kind != token.INT || len(lit.Value) > 9 || strings.Trim(lit.Value, "0123456789") != "" {
		return nil, fmt.Errorf("%q is not a whole number", lit.Value)
	}
	r, ok := new(big.Rat).SetString(lit.Value)
	if !ok {
		return nil, fmt.Errorf("%q is not a whole number", lit.Value)
	}
	e.used = append(e.used, int(r.Num().Int64()))
	return r, nil
}
