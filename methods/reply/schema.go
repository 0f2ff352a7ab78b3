package reply

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/reply/internal/jsonschema"
)

// Validator checks JSON values against one schema. It is safe for concurrent
// use.
type Validator struct{ schema *jsonschema.Schema }

// SchemaFault is one way in which a value departs from its schema.
type SchemaFault struct {
	Place []string // keys and indices from the root to the value at fault
	Rule  string   // the schema's keyword that is not met, such as "required"
	Text  string   // such as "got string, want number"
}

// String is the fault on one line, with its place.
func (f SchemaFault) String() string { return jsonschema.Fault(f).String() }

// NewValidator reads a JSON Schema of draft 2020-12. A schema that refers to
// anything outside of itself is an error, and so is one with a keyword that would
// be ignored.
func NewValidator(schema json.RawMessage) (*Validator, error) {
	compiled, err := jsonschema.Compile(schema)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return &Validator{compiled}, nil
}

// Check returns nil if raw is a JSON value of the schema, and otherwise an
// error that lists all that is wrong with it.
func (v *Validator) Check(raw json.RawMessage) error {
	list, err := v.Faults(raw)
	if err != nil || len(list) == 0 {
		return err
	}
	lines := make([]string, len(list))
	for i, f := range list {
		lines[i] = f.String()
	}
	return errors.New(strings.Join(lines, "; "))
}

// Faults lists how raw departs from the schema, in a fixed order, since the
// texts go into prompts. The error says that raw is not JSON, or that the check
// was given up.
func (v *Validator) Faults(raw json.RawMessage) ([]SchemaFault, error) {
	value, err := jsonschema.Parse(raw)
	if err != nil {
		return nil, err
	}
	found, err := v.schema.Faults(value)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	list := make([]SchemaFault, len(found))
	for i, f := range found {
		list[i] = SchemaFault(f)
	}
	return list, nil
}

// validator joins the schema and the method's own check.
func validator(schema *methods.Schema, check func(json.RawMessage) error) (func(json.RawMessage) error, error) {
	var v *Validator
	if schema != nil {
		var err error
		if v, err = NewValidator(schema.JSON); err != nil {
			return nil, fmt.Errorf("schema %q: %w", schema.Name, err)
		}
	}
	return func(raw json.RawMessage) error {
		if v != nil {
			if err := v.Check(raw); err != nil {
				return err
			}
		}
		if check != nil {
			return check(raw)
		}
		return nil
	}, nil
}
