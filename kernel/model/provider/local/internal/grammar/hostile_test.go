package grammar_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/model/provider/local/internal/grammar"
	"noema/methods/methodtest"
)

// hostileLimit is the processor time that a compilation may take at most; it is far above
// what was measured, for slow machines.
const hostileLimit = time.Minute

// long joins n parts with commas.
func long(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

// hostile are schemas that ask for too much, or for nothing that ends, each
// with what the error says; none where the schema is to be compiled all the same.
var hostile = []struct{ name, schema, want string }{
	{"deep schema", strings.Repeat(`{"items":`, 5000) + `{}` + strings.Repeat(`}`, 5000), "deeper"},
	{"deep text", `{"const":` + strings.Repeat(`[`, 400) + strings.Repeat(`]`, 400) + `}`, ""},
	{"must nest too deep", strings.Repeat(`{"type":"array","minItems":1,"items":`, 100) + `{}` + strings.Repeat(`}`, 100), "up to 64 levels"},
	{"huge enum", `{"enum":[` + long(300_000, func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("v", i)) }) + `]}`, "the limit is"},
	{"large enum", `{"enum":[` + long(50_000, func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("v", i)) }) + `]}`, ""},
	{"many properties", `{"type":"object","properties":{` + long(20_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"null"}`, i) }) + `}}`, ""},
	{"no base case", `{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`, "recurses without end"},
	{"no base case in arrays", `{"type":"array","items":{"$ref":"#"},"minItems":1}`, "recurses without end"},
	{"contradiction", `{"type":"string","enum":[1,2]}`, "contradicts itself"},
	{"contradicting bounds", `{"type":"integer","minimum":3,"maximum":2}`, "contradicts itself"},
	{"contradicting lengths", `{"type":"string","minLength":3,"maxLength":2}`, "contradicts itself"},
	{"false", `false`, "contradicts itself"},
	{"empty enum", `{"enum":[]}`, "at least one"},
	{"refers to itself", `{"$ref":"#"}`, "contradicts itself"},
	{"refers in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`, ""},
	{"a billion items", `{"type":"array","minItems":1000000000}`, "shortest text"},
	{"a billion items inside", `{"type":"object","properties":{"a":{"type":"array","minItems":1e9}}}`, "shortest text"},
	{"a billion characters", `{"type":"string","minLength":1000000000}`, "shortest text"},
	{"at most a billion", `{"type":"array","maxItems":1000000000,"items":{"type":"string","maxLength":1000000000}}`, ""},
	{"many combinations", `{"type":"object","properties":{` + long(9_000, func(i int) string {
		return fmt.Sprintf(`"p%d":{"anyOf":[{"$ref":"#/$defs/all"},{"const":%d}]}`, i, i)
	}) + `},"$defs":{"all":{"anyOf":[` + long(9_000, func(i int) string { return fmt.Sprintf(`{"maxLength":%d}`, i) }) + `]}}}`, "too large"},
	{"doubling references", `{"$ref":"#/$defs/d0","$defs":{` + long(60, func(i int) string {
		return fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}) + `,"d60":{"type":"null"}}}`, ""},
	{"doubling structure", `{"$ref":"#/$defs/d0","$defs":{` + long(60, func(i int) string {
		return fmt.Sprintf(`"d%d":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/d%d"}}`, i, i+1)
	}) + `,"d60":{"type":"null"}}}`, "shortest text"},
	{"huge exponent", `{"type":"number","minimum":1e999999999}`, "digits"},
	{"huger exponent", `{"type":"number","maximum":1e99999999999999999999}`, "digits"},
}

func TestHostile(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			var err error
			if took := methodtest.CPU(func() { _, err = grammar.Compile(json.RawMessage(test.schema)) }); took > hostileLimit {
				t.Errorf("took %v", took)
			}
			checkError(t, err, test.want)
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("error %v, want one with %q", err, want)
	}
}

// refusals are schemas with keywords that are not supported or malformed, each
// with what the error says; none where nothing is wrong.
var refusals = []struct{ schema, want string }{
	{`{"not":{"type":"null"}}`, `#/not: keyword "not" is not supported: the supported ones are $ref, additionalProperties, anyOf, const, enum, items, maxItems`},
	{`{"properties":{"a/b":{"type":"object","patternProperties":{"^x":{}}}}}`, `#/properties/a~1b/patternProperties: keyword "patternProperties" is not supported`},
	{`{"items":{"type":"array","items":{"anyOf":[{"type":"null"},{"pattern":"a"}]}}}`, "#/items/items/anyOf/1/pattern:"},
	{`{"$ref":"#/$defs/a","$defs":{"a":{"oneOf":[]}}}`, "#/$defs/a/oneOf:"},
	{`{"requred":["a"]}`, "#/requred:"},
	{`{"$ref":"#/$defs/a","type":"null","$defs":{"a":{}}}`, "#/type: not supported beside $ref: move it into the schema that is referred to"},
	{`{"type":"object","anyOf":[{"required":["a"]}]}`, "#/type: not supported beside anyOf: move it into each branch"},
	{`{"type":"string","enum":["a"],"maxLength":1}`, "#/maxLength: not supported beside enum"},
	{`{"description":"x","anyOf":[{"type":"null"}],"title":"y","default":null}`, ""},
	{`{"type":"array","items":[{"type":"string"}]}`, "#/items: a schema must be an object"},
	{`{"$ref":"other.json"}`, "not a JSON pointer"},
	{`{"$ref":"#/$defs/x"}`, "#/$ref: \"#/$defs/x\" names nothing"},
	{`{"$ref":"#/%zz"}`, "invalid URL escape"},
	{`{"$ref":3}`, "#/$ref: want a reference"},
	{`{"type":"text"}`, `#/type: "text" is not a JSON type`},
	{`{"type":[]}`, "#/type: want"},
	{`{"minItems":-1}`, "#/minItems: want a whole number"},
	{`{"minLength":1.5}`, "#/minLength: want a whole number"},
	{`{"minLength":2.0}`, ""},
	{`{"maximum":"3"}`, "#/maximum: want a number"},
	{`{"anyOf":[]}`, "#/anyOf: want a list"},
	{`{"properties":[]}`, "#/properties: want an object"},
	{`{"required":"a"}`, "#/required: want a list"},
	{`{"required":[1]}`, "#/required: want a list"},
	{`{"enum":3}`, "#/enum: want a list"},
	{`{"items":3}`, "#/items: a schema must be"},
	{`{"type":"null","type":"null"}`, "appears twice"},
	{`{"type":"null"} x`, "not valid JSON"},
	{`{"type":`, "not valid JSON"},
	{``, "not valid JSON"},
	{`[]`, "#: a schema must be an object"},
	{`{"$defs":{"unused":{"not":{}}},"type":"null"}`, ""},
}

func TestRefused(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.schema, func(t *testing.T) {
			_, err := grammar.Compile(json.RawMessage(test.schema))
			checkError(t, err, test.want)
		})
	}
}
