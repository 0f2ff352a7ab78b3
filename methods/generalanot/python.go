package generalanot

import (
	"encoding/json"
	"errors"
	"fmt"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// isData reports whether a step may have the value. What is walked once would
// be empty for the second step that reads it, in CPython too; functions and
// classes are not results.
func isData(v pyexpr.Value) error {
	switch v.(type) {
	case *pyexpr.Iter:
		return errors.New("its value is a generator or another iterator, which can be read only once: wrap it in list(...)")
	case *pyexpr.Func, *pyexpr.Module, *pyexpr.Type:
		return errors.New("its value is a function or a class, not data")
	}
	return nil
}

// toJSON is a value as JSON. Infinities and functions have no such form.
func toJSON(v pyexpr.Value) (json.RawMessage, error) {
	x, err := pyexpr.ToGo(v)
	if err != nil {
		return nil, err
	}
	return methods.EncodeJSON(x)
}

// environment is what formulas read before the first step has run.
type environment struct {
	values  map[string]pyexpr.Value
	rows    []pyexpr.Value // of extractions
	numbers []int          // the reviews of the rows
}

// environment makes Python values of the inputs and the lookups, and notes in
// r which lookups took their default.
func (p *Program) environment(c *Context, rows []map[string]any, numbers []int, r *Result) (*environment, error) {
	e := &environment{values: map[string]pyexpr.Value{}, numbers: numbers}
	for i, row := range rows {
		v, err := pyexpr.FromGo(row)
		if err != nil {
			return nil, fmt.Errorf("extraction of review %d: %w", numbers[i], err)
		}
		e.rows = append(e.rows, v)
	}
	all := make([]pyexpr.Value, len(c.Reviews))
	for i, review := range c.Reviews {
		v, err := pyexpr.FromGo(review.values())
		if err != nil {
			return nil, fmt.Errorf("review %d: %w", review.N, err)
		}
		all[i] = v
	}
	e.values[extractionsInput], e.values[reviewsInput] = list(e.rows), list(all)
	for name, x := range c.inputs {
		v, err := pyexpr.FromGo(x)
		if err != nil {
			return nil, fmt.Errorf("input %s: %w", name, err)
		}
		e.values[name] = v
	}
	for _, l := range p.Seed.Lookups {
		found, ok := l.find(c)
		if !ok {
			r.Missed = append(r.Missed, l.Name)
		}
		v, err := pyexpr.FromGo(found)
		if err != nil {
			return nil, fmt.Errorf("lookup %s: %w", l.Name, err)
		}
		e.values[l.Name] = v
	}
	return e, nil
}

func list(items []pyexpr.Value) pyexpr.Value {
	return methods.Must(pyexpr.FromGo(items)) // a list of values is always one
}
