package aot

import (
	"encoding/json"
	"fmt"
	"math/big"

	"noema/methods"
	"noema/methods/decimal"
)

// numbersIn and the other schemas are those of the decisions.
const (
	numbersIn = `{"type":"object","properties":{"values":{"type":"array","items":{"type":"number"},"minItems":1}},"required":["values"],"additionalProperties":false}`
	compareIn = `{"type":"object","properties":{"a":{"type":"number"},"op":{"enum":["<","<=","=","!=",">=",">"]},"b":{"type":"number"}},"required":["a","op","b"],"additionalProperties":false}`
	chooseIn  = `{"type":"object","properties":{"if":{"type":"boolean"},"then":{},"else":{}},"required":["if","then","else"],"additionalProperties":false}`
	numberOut = `{"type":"number"}`
	boolOut   = `{"type":"boolean"}`
)

// Decisions describes the operations of decision atoms. They are computed
// here, over exact decimals, without a model: the same input gives the same
// result for ever. An average without a finite decimal form is rounded to
// [decimal.Digits] significant digits.
func Decisions() []methods.ToolSpec {
	of := func(name, doc, in, out string) methods.ToolSpec {
		return methods.ToolSpec{Name: name, Description: doc, Parameters: json.RawMessage(in), Result: json.RawMessage(out), Pure: true}
	}
	return []methods.ToolSpec{
		of("average", "the mean of the values", numbersIn, numberOut),
		of("sum", "the sum of the values", numbersIn, numberOut),
		of("min", "the least of the values", numbersIn, numberOut),
		of("max", "the greatest of the values", numbersIn, numberOut),
		of("compare", "whether a stands in the relation op to b", compareIn, boolOut),
		of("choose", "the value of then if the condition is true, that of else if it is not", chooseIn, ""),
	}
}

// decide computes a decision whose input was checked against its schema.
func decide(name string, input map[string]any) (any, error) {
	switch name {
	case "choose":
		if input["if"] == true {
			return input["then"], nil
		}
		return input["else"], nil
	case "compare":
		return compare(input)
	}
	list, _ := input["values"].([]any)
	total := new(big.Rat)
	least, greatest := new(big.Rat), new(big.Rat)
	for i, v := range list {
		x, err := exact(v)
		if err != nil {
			return nil, err
		}
		total.Add(total, x)
		if i == 0 || x.Cmp(least) < 0 {
			least = x
		}
		if i == 0 || x.Cmp(greatest) > 0 {
			greatest = x
		}
	}
	switch name {
	case "sum":
		return number(total), nil
	case "min":
		return number(least), nil
	case "max":
		return number(greatest), nil
	case "average":
		return number(total.Quo(total, big.NewRat(int64(max(1, len(list))), 1))), nil
	}
	return nil, fmt.Errorf("unknown decision %q", name)
}

func compare(input map[string]any) (any, error) {
	a, err := exact(input["a"])
	if err != nil {
		return nil, err
	}
	b, err := exact(input["b"])
	if err != nil {
		return nil, err
	}
	order := a.Cmp(b)
	switch input["op"] {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case "=":
		return order == 0, nil
	case "!=":
		return order != 0, nil
	case ">=":
		return order >= 0, nil
	}
	return order > 0, nil
}

func exact(v any) (*big.Rat, error) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, fmt.Errorf("%.40q is no number", textOf(v))
	}
	return decimal.Parse(string(n))
}

func number(r *big.Rat) json.Number {
	text, _ := decimal.Format(r)
	return json.Number(text)
}
