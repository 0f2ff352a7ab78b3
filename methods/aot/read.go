package aot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"noema/methods"
	"noema/methods/internal/trial"
	"noema/methods/reply"
)

// What reading costs at most. The limits are of one atom, because which atom
// met a limit of all would depend on which was faster.
const (
	MaxReads = 500    // texts that one read_each reads, each with one call
	maxText  = 20_000 // bytes of a text that a call shows, from its start
)

// asker asks the model one question and returns the object that it replies.
type asker func(ctx context.Context, path, prompt string, schema methods.Schema) (json.RawMessage, error)

// ask is the asker of a trial.
func (t *solver) ask(ctx context.Context, path, prompt string, schema methods.Schema) (json.RawMessage, error) {
	req := t.Request(path, methods.Ask(prompt)...)
	req.Schema = &schema
	raw, _, err := reply.JSON(ctx, t.Host, req, nil, reply.Options{Retries: t.opts.Retries})
	return raw, err
}

// read runs a decision that asks the model.
func (x *execution) read(ctx context.Context, name string, input map[string]any, path string) (any, error) {
	if x.opts.ask == nil {
		return nil, fmt.Errorf("%s asks a model, which a plan that is run by hand does not have: put what it gave in its place", name)
	}
	if name == "read" {
		var r struct{ Answer string }
		raw, err := x.opts.ask(ctx, path, readPrompt(textOf(input["question"]), x.shown(path, textOf(input["text"]))), methods.Schema{Name: "reading", JSON: json.RawMessage(readingSchema)})
		if err == nil {
			err = decode(raw, &r)
		}
		return r.Answer, err
	}
	return x.readEach(ctx, input, path)
}

// readEach reads all texts, whatever fails: the set of calls must not depend on
// which was faster.
func (x *execution) readEach(ctx context.Context, input map[string]any, path string) (any, error) {
	list, at := values(input["list"]), textOf(input["path"])
	if len(list) > MaxReads {
		return nil, fmt.Errorf("%d texts to read, more than the maximum of %d: filter them first", len(list), MaxReads)
	}
	fields, schema, err := readFields(input["fields"])
	if err != nil {
		return nil, err
	}
	out, failed := make([]any, len(list)), make([]error, len(list))
	trial.Steps(make([][]int, len(list)), func(i int) {
		out[i], failed[i] = x.readOne(ctx, list[i], at, textOf(input["question"]), fields, schema, path+"/"+strconv.Itoa(i+1))
	})
	for i, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("text %d of %d: %w", i+1, len(list), err)
		}
	}
	return out, nil
}

// readOne reads one object's text.
func (x *execution) readOne(ctx context.Context, v any, at, question string, fields []string, schema methods.Schema, path string) (any, error) {
	text, ok := valueAt(v, at)
	if !ok {
		return nil, fmt.Errorf("the object has no text at %.60q", at)
	}
	raw, err := x.opts.ask(ctx, path, readFieldsPrompt(question, x.shown(path, textOf(text)), fields), schema)
	if err != nil {
		return nil, err
	}
	var found map[string]any
	if err := decode(raw, &found); err != nil {
		return nil, err
	}
	object := maps.Clone(v.(map[string]any)) // the schema has seen to it
	delete(object, at)
	maps.Copy(object, found)
	return object, nil
}

// shown is a text as a prompt shows it: cut if it is too long, and unable to end
// its own section.
func (x *execution) shown(path, text string) string {
	short, cut := reply.Head(text, maxText)
	if cut {
		x.emit(path, methods.Truncated, 1, nil, "text: %d of %d bytes shown (head)", len(short), len(text))
	}
	return closing.ReplaceAllString(short, "< /text")
}

// readFields are the fields as lines of the prompt, and the schema of the reply.
func readFields(v any) (lines []string, s methods.Schema, err error) {
	fields, _ := v.(map[string]any)
	properties := map[string]any{}
	names := slices.Sorted(maps.Keys(fields))
	for _, name := range names {
		allowed := values(fields[name])
		properties[name] = map[string]any{"type": "string"}
		line := name + ": a short text"
		if len(allowed) == 1 {
			return nil, s, errors.New("a field has only one value: give at least two, or none for any text")
		}
		if len(allowed) > 0 {
			texts := make([]string, len(allowed))
			for i, a := range allowed {
				texts[i] = textOf(a)
			}
			properties[name] = map[string]any{"enum": texts}
			line = name + ": one of " + reply.Quoted(texts)
		}
		lines = append(lines, line)
	}
	schema := map[string]any{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
	return lines, methods.Schema{Name: "reading", JSON: encode(schema)}, nil
}
