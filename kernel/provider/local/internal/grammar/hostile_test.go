package grammar_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/provider/local/internal/grammar"
)

// hostileLimit is how long a compilation may take at most; it is far above
// what was measured, for machines under load.
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
	{"huge enum", `{"enum":[` + long(300_000, func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("v", i)) }) + `]}`, "too large"},
	{"large enum", `{"enum":[` + long(50_000, func(i int) string { return fmt.Sprintf("%q", fmt.Sprint("v", i)) }) + `]}`, ""},
	{"two large enums", `{"enum":[` + long(20_000, func(i int) string { return fmt.Sprint(i) }) + `],"allOf":[{"enum":[` + long(20_000, func(i int) string { return fmt.Sprint(-i) }) + `]}]}`, ""},
	{"many properties", `{"type":"object","properties":{` + long(20_000, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"null"}`, i) }) + `}}`, ""},
	{"no base case", `{"type":"object","properties":{"next":{"$ref":"#"}},"required":["next"]}`, "recurs without an end"},
	{"no base case in arrays", `{"type":"array","items":{"$ref":"#"},"minItems":1}`, "recurs without an end"},
	{"contradiction", `{"allOf":[{"type":"string"},{"type":"integer"}]}`, "contradicts itself"},
	{"contradicting bounds", `{"type":"integer","minimum":3,"maximum":2}`, "contradicts itself"},
	{"no whole number between", `{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`, "contradicts itself"},
	{"contradicting lengths", `{"type":"string","minLength":3,"maxLength":2}`, "contradicts itself"},
	{"pattern never", `{"type":"string","pattern":"a^"}`, "contradicts itself"},
	{"false", `false`, "contradicts itself"},
	{"empty enum", `{"enum":[]}`, "contradicts itself"},
	{"too few distinct", `{"type":"array","items":{"enum":[1,1.0,"a"]},"uniqueItems":true,"minItems":3}`, "contradicts itself"},
	{"refers to itself", `{"$ref":"#"}`, "refers to itself"},
	{"refers in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "refers to itself"},
	{"literals in a circle", `{"enum":[1],"anyOf":[{"$ref":"#"}]}`, "itself too deeply"},
	{"a billion items", `{"type":"array","minItems":1000000000}`, "shortest text"},
	{"a billion items inside", `{"type":"object","properties":{"a":{"type":"array","minItems":1e9}}}`, "shortest text"},
	{"a billion characters", `{"type":"string","minLength":1000000000}`, "shortest text"},
	{"at most a billion", `{"type":"array","maxItems":1000000000,"items":{"type":"string","maxLength":1000000000}}`, ""},
	{"a billion characters of a pattern", `{"type":"string","pattern":"^a*$","maxLength":1000000000}`, "too large"},
	{"exponential pattern", `{"type":"string","pattern":"(a|b)*a(a|b){40}$"}`, "too large"},
	{"big pattern", `{"type":"string","pattern":"^\\p{L}{900}$"}`, "too large"},
	{"bigger pattern", `{"type":"string","pattern":"^((a{30}){30}){30}$"}`, "RE2"},
	{"exponential choices", `{"allOf":[` + long(60, func(i int) string {
		return fmt.Sprintf(`{"anyOf":[{"minimum":%d},{"maximum":%d}]}`, i, -i)
	}) + `]}`, "too large"},
	{"doubling references", `{"$ref":"#/$defs/d0","$defs":{` + long(60, func(i int) string {
		return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}) + `,"d60":{"type":"null"}}}`, ""},
	{"doubling structure", `{"$ref":"#/$defs/d0","$defs":{` + long(60, func(i int) string {
		return fmt.Sprintf(`"d%d":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/d%d"}}`, i, i+1)
	}) + `,"d60":{"type":"null"}}}`, "shortest text"},
	{"huge exponent", `{"type":"number","minimum":1e999999999}`, "digits"},
	{"huger exponent", `{"type":"number","maximum":1e99999999999999999999}`, "exponent"},
	{"wide automaton", `{"type":"integer","minimum":1e399,"maximum":2e399,"multipleOf":997}`, "too large"},
}

func TestHostile(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			began := time.Now()
			_, err := grammar.Compile(json.RawMessage(test.schema))
			if took := time.Since(began); took > hostileLimit {
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
// with what the error says of its place; none where nothing is wrong.
var refusals = []struct{ schema, want string }{
	{`{"not":{"type":"null"}}`, "#/not: this keyword is not supported"},
	{`{"if":{},"then":{}}`, "#/if:"},
	{`{"$dynamicRef":"#a"}`, "#/$dynamicRef:"},
	{`{"properties":{"a/b":{"type":"object","patternProperties":{"^x":{}}}}}`, "#/properties/a~1b/patternProperties:"},
	{`{"items":{"contains":{}}}`, "#/items/contains:"},
	{`{"type":"string","format":"email"}`, "#/format:"},
	{`{"type":"integer","format":"int64"}`, ""},
	{`{"type":"object","propertyNames":{"pattern":"a"}}`, "#/propertyNames:"},
	{`{"type":"object","propertyNames":true,"patternProperties":{},"unevaluatedProperties":{}}`, ""},
	{`{"type":"object","unevaluatedProperties":false}`, "#/unevaluatedProperties:"},
	{`{"type":"object","dependentRequired":{"a":["b"]}}`, "#/dependentRequired:"},
	{`{"type":"object","minProperties":2,"required":["a"]}`, "#/minProperties:"},
	{`{"type":"object","minProperties":1,"required":["a"]}`, ""},
	{`{"type":"object","maxProperties":1}`, "#/maxProperties:"},
	{`{"type":"object","maxProperties":1,"properties":{"a":{}},"additionalProperties":false}`, ""},
	{`{"type":"array","items":{"type":"string"},"uniqueItems":true}`, "uniqueItems: only supported"},
	{`{"type":"array","items":{"type":"string"},"uniqueItems":true,"maxItems":1}`, ""},
	{`{"type":"array","items":{"type":"string"},"uniqueItems":false}`, ""},
	{`{"type":"array","items":[{"type":"string"}]}`, "prefixItems"},
	{`{"type":"number","multipleOf":0.1}`, "#/multipleOf:"},
	{`{"type":"integer","multipleOf":2,"allOf":[{"multipleOf":3}]}`, "second multipleOf"},
	{`{"type":"integer","multipleOf":0}`, "above 0"},
	{`{"oneOf":[{"type":"integer"},{"type":"number"}]}`, "#/oneOf/0 and #/oneOf/1"},
	{`{"oneOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}}}]}`, "may both hold"},
	{`{"enum":["a"],"oneOf":[{"type":"string"},{"minLength":2}]}`, ""},
	{`{"$ref":"other.json"}`, "not a JSON pointer"},
	{`{"$ref":"#/$defs/x"}`, "names nothing"},
	{`{"$ref":"#/%zz"}`, "invalid URL escape"},
	{`{"$id":"http://example.com/s","type":"null"}`, ""},
	{`{"items":{"$id":"http://example.com/s"}}`, "#/items/$id:"},
	{`{"type":"string","pattern":"(?=a)"}`, "#/pattern: error parsing"},
	{`{"type":"string","pattern":"\\bword"}`, "#/pattern:"},
	{`{"type":"text"}`, `"text" is not a JSON type`},
	{`{"type":[]}`, "#/type:"},
	{`{"minItems":-1}`, "#/minItems: wants a whole number"},
	{`{"minLength":1.5}`, "#/minLength: wants a whole number"},
	{`{"minLength":2.0}`, ""},
	{`{"maximum":"3"}`, "#/maximum: wants a number"},
	{`{"anyOf":[]}`, "#/anyOf: wants a list"},
	{`{"properties":[]}`, "#/properties: wants an object"},
	{`{"required":"a"}`, "#/required: wants a list"},
	{`{"enum":3}`, "#/enum: wants a list"},
	{`{"items":3}`, "#/items: a schema is"},
	{`{"type":"null","type":"null"}`, "appears twice"},
	{`{"type":"null"} x`, "not valid JSON"},
	{`{"type":`, "not valid JSON"},
	{``, "not valid JSON"},
	{`[]`, "a schema is an object"},
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
