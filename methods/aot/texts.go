package aot

import (
	"errors"
	"fmt"
	"regexp"
)

const (
	extractIn  = `{"type":"object","properties":{"pattern":{"type":"string","minLength":1,"maxLength":2000},"text":{"type":"string"},"otherwise":{"type":"string"}},"required":["pattern","text"],"additionalProperties":false}`
	readIn     = `{"type":"object","properties":{"question":{"type":"string","minLength":1},"text":{}},"required":["question","text"],"additionalProperties":false}`
	readEachIn = `{"type":"object","properties":{"list":{"type":"array","items":{"type":"object"}},"path":{"type":"string","minLength":1},"question":{"type":"string","minLength":1},` +
		`"fields":{"type":"object","minProperties":1,"additionalProperties":{"type":"array","items":{"type":"string"}}}},"required":["list","path","question","fields"],"additionalProperties":false}`
	textOut    = `{"type":"string"}`
	objectsOut = `{"type":"array","items":{"type":"object"}}`
)

// patternKey is the input in which references stand for their own letters: what
// they put in is matched as it is written.
const patternKey = "pattern"

func textDecisions() []decision {
	return []decision{
		newDecision("extract", "what the first group of a regular expression (RE2) matches in a text, or all that it matches without a group; the value of otherwise if nothing does; references in the pattern are matched as they are", extractIn, textOut, extract),
		newDecision("read", "a short answer to a question from a text; a model reads it, so prefer other decisions", readIn, textOut, nil),
		newDecision("read_each", "the objects of a list without the text at a path, and with fields that a model reads from it by the question; each field has a list of the values it can take, or an empty list for any text; one call for each object, so filter first", readEachIn, objectsOut, nil).infers(readShape),
	}
}

// extract takes time linear in the text, whatever the pattern.
func extract(input map[string]any) (any, error) {
	p, err := regexp.Compile(textOf(input[patternKey]))
	if err != nil {
		return nil, fmt.Errorf("pattern: %w: write a regular expression of RE2", err)
	}
	m := p.FindStringSubmatch(textOf(input["text"]))
	switch {
	case len(m) > 1:
		return m[1], nil
	case m != nil:
		return m[0], nil
	}
	if other, ok := input["otherwise"]; ok {
		return other, nil
	}
	return nil, errors.New(`nothing in the text matches the pattern: correct it, or give the value for that as "otherwise"`)
}

// readShape is the objects with the fields that are read.
func readShape(input map[string]any, shapeOf func(any) shape) shape {
	out := shape{name: "object", fields: map[string]shape{}}
	path, _ := input["path"].(string)
	for key, s := range shapeOf(input["list"]).item().fields {
		if key != path {
			out.fields[key] = s
		}
	}
	fields, _ := input["fields"].(map[string]any)
	for name := range fields {
		out.fields[name] = shape{name: "string"}
	}
	return listOf(out)
}
