package aot

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"noema/methods/decimal"
)

// numbersIn and the other schemas are those of the decisions over numbers.
const (
	numbersIn = `{"type":"object","properties":{"values":{"type":"array","items":{"type":"number"},"minItems":1}},"required":["values"],"additionalProperties":false}`
	compareIn = `{"type":"object","properties":{"a":{"type":"number"},"op":{"enum":["<","<=","=","!=",">=",">"]},"b":{"type":"number"}},"required":["a","op","b"],"additionalProperties":false}`
	chooseIn  = `{"type":"object","properties":{"if":{"type":"boolean"},"then":{},"else":{}},"required":["if","then","else"],"additionalProperties":false}`
	quotaIn   = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"},"otherwise":{"type":"number"}},"required":["a","b"],"additionalProperties":false}`
	roundIn   = `{"type":"object","properties":{"x":{"type":"number"},"places":{"type":"integer","minimum":-300,"maximum":300}},"required":["x","places"],"additionalProperties":false}`
	gradeIn   = `{"type":"object","properties":{"value":{"type":"number"},"bounds":{"type":"array","items":{"type":"number"},"minItems":1},"values":{"type":"array","minItems":2}},"required":["value","bounds","values"],"additionalProperties":false}`
	numberOut = `{"type":"number"}`
	boolOut   = `{"type":"boolean"}`
)

// numberDecisions are enough for problems about numbers. Their words are part of
// prompts whose answers are stored: see promptVersion.
func numberDecisions() []decision {
	return []decision{
		newDecision("average", "the mean of the values", numbersIn, numberOut, average),
		newDecision("sum", "the sum of the values", numbersIn, numberOut, fold((*big.Rat).Add)),
		newDecision("min", "the least of the values", numbersIn, numberOut, extreme(-1)),
		newDecision("max", "the greatest of the values", numbersIn, numberOut, extreme(1)),
		newDecision("compare", "whether a stands in the relation op to b", compareIn, boolOut, compare),
		newDecision("choose", "the value of then if the condition is true, that of else if it is not", chooseIn, "", choose).infers(chosenShape),
	}
}

func moreNumberDecisions() []decision {
	return []decision{
		newDecision("product", "the product of the values", numbersIn, numberOut, fold((*big.Rat).Mul)),
		newDecision("quotient", "a ÷ b; the value of otherwise if b is 0", quotaIn, numberOut, quotient),
		newDecision("round", "x rounded to so many decimal places, half to even", roundIn, numberOut, roundEven),
		newDecision("grade", "by how many of the ascending bounds the value reaches: the first of the values below all bounds, the second from the first bound on, and so on; one value more than bounds", gradeIn, "", grade),
	}
}

// choose returns one of two values.
func choose(input map[string]any) (any, error) {
	if input["if"] == true {
		return input["then"], nil
	}
	return input["else"], nil
}

func chosenShape(input map[string]any, shapeOf func(any) shape) shape {
	then, other := shapeOf(input["then"]), shapeOf(input["else"])
	return then.or(other)
}

// maxNumber bounds the numbers on the way to a result, in bits.
const maxNumber = 4000

// fold joins all values by an operation.
func fold(join func(z, x, y *big.Rat) *big.Rat) func(map[string]any) (any, error) {
	return func(input map[string]any) (any, error) {
		list, err := exactList(input["values"])
		if err != nil {
			return nil, err
		}
		total := list[0]
		for _, x := range list[1:] {
			total = join(new(big.Rat), total, x)
			if total.Num().BitLen() > maxNumber || total.Denom().BitLen() > maxNumber {
				return nil, errors.New("the number gets too long")
			}
		}
		return number(total), nil
	}
}

func average(input map[string]any) (any, error) {
	list, err := exactList(input["values"])
	if err != nil {
		return nil, err
	}
	total := new(big.Rat)
	for _, x := range list {
		total.Add(total, x)
	}
	return number(total.Quo(total, big.NewRat(int64(len(list)), 1))), nil
}

// extreme is the greatest of the values for sign 1, the least for -1.
func extreme(sign int) func(map[string]any) (any, error) {
	return func(input map[string]any) (any, error) {
		list, err := exactList(input["values"])
		if err != nil {
			return nil, err
		}
		best := list[0]
		for _, x := range list[1:] {
			if x.Cmp(best)*sign > 0 {
				best = x
			}
		}
		return number(best), nil
	}
}

// exactList reads at least one number.
func exactList(v any) ([]*big.Rat, error) {
	values, _ := v.([]any)
	list := make([]*big.Rat, len(values))
	for i, v := range values {
		var err error
		if list[i], err = exact(v); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, errors.New("the list of values is empty")
	}
	return list, nil
}

func compare(input map[string]any) (any, error) {
	a, b, err := exactPair(input, "a", "b")
	if err != nil {
		return nil, err
	}
	return inOrder(a.Cmp(b), textOf(input["op"])), nil
}

// inOrder reports whether an order, as Cmp gives it, is the one of a relation.
func inOrder(order int, op string) bool {
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case "=":
		return order == 0
	case "!=":
		return order != 0
	case ">=":
		return order >= 0
	}
	return order > 0
}

func quotient(input map[string]any) (any, error) {
	a, b, err := exactPair(input, "a", "b")
	if err != nil {
		return nil, err
	}
	if b.Sign() != 0 {
		return number(new(big.Rat).Quo(a, b)), nil
	}
	if other, ok := input["otherwise"]; ok {
		return other, nil
	}
	return nil, errors.New(`division by zero: give the value for it as "otherwise"`)
}

// roundEven rounds as Python's round does, but of the exact decimal.
func roundEven(input map[string]any) (any, error) {
	x, p, err := exactPair(input, "x", "places")
	if err != nil {
		return nil, err
	}
	places := int(p.Num().Int64())
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
	if places > 0 {
		unit.Inv(unit)
	}
	scaled := new(big.Rat).Quo(x, unit)
	whole := new(big.Int).Div(scaled.Num(), scaled.Denom()) // floor
	rest := new(big.Rat).Sub(scaled, new(big.Rat).SetInt(whole))
	if order := rest.Cmp(big.NewRat(1, 2)); order > 0 || order == 0 && whole.Bit(0) == 1 {
		whole.Add(whole, big.NewInt(1))
	}
	return number(unit.Mul(unit, new(big.Rat).SetInt(whole))), nil
}

func grade(input map[string]any) (any, error) {
	value, err := exact(input["value"])
	if err != nil {
		return nil, err
	}
	bounds, err := exactList(input["bounds"])
	if err != nil {
		return nil, err
	}
	values, _ := input["values"].([]any)
	if len(values) != len(bounds)+1 {
		return nil, fmt.Errorf("%d values for %d bounds: give one value more than bounds", len(values), len(bounds))
	}
	reached := 0
	for i, b := range bounds {
		if i > 0 && b.Cmp(bounds[i-1]) <= 0 {
			return nil, errors.New("the bounds do not ascend")
		}
		if value.Cmp(b) >= 0 {
			reached++
		}
	}
	return values[reached], nil
}

// exactPair reads two numbers by their names.
func exactPair(input map[string]any, first, second string) (a, b *big.Rat, err error) {
	if a, err = exact(input[first]); err == nil {
		b, err = exact(input[second])
	}
	return a, b, err
}

func exact(v any) (*big.Rat, error) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("%.40q is not a number", textOf(v))
	}
	return decimal.Parse(string(n))
}

func number(r *big.Rat) json.Number {
	text, _ := decimal.Format(r)
	return json.Number(text)
}
