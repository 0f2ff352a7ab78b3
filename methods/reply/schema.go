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

// validator joins the schema and the method's own check.
func validator(schema *methods.Schema, check func(json.RawMessage) error) (func(json.RawMessage) error, error) {
	var compiled *jsonschema.Schema
	if schema != nil {
		var err error
		if compiled, err = compile(schema.JSON); err != nil {
			return nil, fmt.Errorf("read schema %q: %w", schema.Name, err)
		}
	}
	return func(raw json.RawMessage) error {
		if compiled != nil {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
			if err != nil {
				return err
			}
			if err := compiled.Validate(v); err != nil {
				return faults(err)
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

// faults lists all that is wrong, sorted: the text goes into a prompt, so it
// must not depend on the order of a map.
func faults(err error) error {
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	var lines []string
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
		place := ""
		if len(e.InstanceLocation) > 0 {
			place = "at /" + strings.Join(e.InstanceLocation, "/") + ": "
		}
		lines = append(lines, place+e.ErrorKind.LocalizedString(printer))
	}
	walk(ve)
	slices.Sort(lines)
	return errors.New(strings.Join(slices.Compact(lines), "; "))
}
