package reply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"noema/methods"
)

// Validator checks JSON values against one schema. It is safe for concurrent
// use.
type Validator struct{ schema *jsonschema.Schema }

// NewValidator reads a JSON Schema, draft 2020-12 unless it says otherwise. A
// schema that refers to anything outside of itself is an error.
func NewValidator(schema json.RawMessage) (*Validator, error) {
	compiled, err := compile(schema)
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
// texts go into prompts. The error says that raw is no JSON.
func (v *Validator) Faults(raw json.RawMessage) ([]SchemaFault, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if err := v.schema.Validate(value); err != nil {
		return faults(err)
	}
	return nil, nil
}

// SchemaFault is one way in which a value departs from its schema.
type SchemaFault struct {
	Place []string // keys and indices from the root to the value at fault
	Rule  string   // the schema's keyword that is not met, such as "required"
	Text  string   // such as "got string, want number"
}

// String is the fault on one line, with its place.
func (f SchemaFault) String() string {
	if len(f.Place) == 0 {
		return f.Text
	}
	return "at /" + strings.Join(f.Place, "/") + ": " + f.Text
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

func compile(raw json.RawMessage) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	const name = "schema.json"
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

// Load implements jsonschema.URLLoader.
func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("schema refers to %q, outside of itself", url)
}

// faults flattens the tree of a validation error into its leaves, sorted.
func faults(err error) ([]SchemaFault, error) {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return nil, err
	}
	var list []SchemaFault
	printer := message.NewPrinter(language.English)
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(extra.Properties)
		}
		rule := ""
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			rule = path[0]
		}
		list = append(list, SchemaFault{e.InstanceLocation, rule, e.ErrorKind.LocalizedString(printer)})
	}
	walk(ve)
	slices.SortFunc(list, func(a, b SchemaFault) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(list, func(a, b SchemaFault) bool { return a.String() == b.String() }), nil
}
