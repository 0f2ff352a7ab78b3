package reply

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

func faults(t *testing.T, schema, value string) string {
	t.Helper()
	s, err := NewValidator([]byte(schema))
	if err != nil {
		t.Fatalf("schema %s: %v", schema, err)
	}
	list, err := s.Faults([]byte(value))
	if err != nil {
		t.Fatalf("value %s: %v", value, err)
	}
	lines := make([]string, len(list))
	for i, f := range list {
		lines[i] = f.Rule + ": " + f.String()
	}
	return strings.Join(lines, "; ")
}

// The words are part of keys: a change of one asks models again.
func TestWords(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `1.5`, `type: got number, want integer`},
		{`{"type":["string","null"]}`, `[]`, `type: got array, want null or string`},
		{`{"properties":{"a":{"items":{"enum":["x",1,null]}}}}`, `{"a":["x",1.0,"it's"]}`, `enum: at /a/2: value must be one of 'x', 1, null`},
		{`{"enum":[[1]]}`, `[2]`, `enum: 'enum' failed`},
		{`{"const":"x"}`, `"y"`, `const: value must be 'x'`},
		{`{"required":["a","b"],"additionalProperties":false}`, `{"z":1,"y":2}`,
			`additionalProperties: additional properties 'y', 'z' not allowed; required: missing properties 'a', 'b'`},
		{`{"minLength":1000}`, `""`, `minLength: minLength: got 0, want 1000`},
		{`{"minimum":1000,"multipleOf":0.5}`, `0.3`, `minimum: minimum: got 0.3, want 1000; multipleOf: multipleOf: got 0.3, want 0.5`},
		{`{"uniqueItems":true,"maxItems":2}`, `[1,{"a":1,"b":2},{"b":2.0,"a":1}]`, `uniqueItems: items at 1 and 2 are equal; maxItems: maxItems: got 3, want 2`},
		{`{"pattern":"^a"}`, `"b"`, `pattern: 'b' does not match pattern '^a'`},
		{`{"not":{"type":"string"}}`, `""`, `not: 'not' failed`},
		{`{"oneOf":[true,{"type":"null"}]}`, `null`, `oneOf: 'oneOf' failed, subschemas 0, 1 matched`},
		{`{"anyOf":[{"type":"null"},{"minLength":2}]}`, `"é"`, `type: got string, want null; minLength: minLength: got 1, want 2`},
		{`{"properties":{"a":false}}`, `{"a":1}`, `: at /a: false schema`},
		{`{"$defs":{"t~/":{"properties":{"next":{"$ref":"#/$defs/t~0~1"}},"required":["x"]}},"$ref":"#/$defs/t~0~1"}`, `{"x":1,"next":{"next":{"x":2}}}`,
			`required: at /next: missing property 'x'`},
	} {
		if got := faults(t, c.schema, c.value); got != c.want {
			t.Errorf("schema %s, value %s:\ngot  %s\nwant %s", c.schema, c.value, got, c.want)
		}
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for schema, want := range map[string]string{
		`x`:                               "invalid character",
		`{} {}`:                           "more text",
		`[]`:                              "got array, want boolean or object",
		`{"properties":{"a":{"type":7}}}`: "at /properties/a/type: got number, want array",
		`{"type":"strin"}`:                "at /type: value must be one of 'array', 'boolean'",
		`{"minItems":-1}`:                 "at /minItems: minimum: got -1, want 0",
		`{"required":["a","a"]}`:          "items at 0 and 1 are equal",
		`{"anyOf":[]}`:                    "minItems: got 0, want 1",
		`{"items":[{}]}`:                  "at /items: got array, want boolean or object",
		`{"pattern":"("}`:                 "missing closing",
		`{"enum":[1e99999]}`:              "out of range",
		`{"multipleOf":0}`:                "exclusiveMinimum: got 0, want 0",
		`{"$ref":"file:///etc/passwd"}`:   "places in it alone",
		`{"$ref":"#/$defs/a"}`:            "not found",
		`{"$schema":"http://x.org/x"}`:    "places in it alone",
	} {
		if _, err := NewValidator([]byte(schema)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schema %s: %v, want %q", schema, err, want)
		}
	}
}

// Values that are made to take long or much do not.
func TestHostile(t *testing.T) {
	tree := `{"$defs":{"t":{"type":["array","null"],"items":{"$ref":"#/$defs/t"}}},"$ref":"#/$defs/t"}`
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	if got := faults(t, tree, deep); got != "" {
		t.Errorf("a deep value: %.200s", got)
	}
	if got := faults(t, `{"items":{"minimum":0}}`, `[1e999999999]`); got != ": at /0: the number is out of range" {
		t.Errorf("a large number: %s", got)
	}
	if got := faults(t, `{"allOf":[{"$ref":"#"}]}`, `1`); !strings.Contains(got, "reference cycle") {
		t.Errorf("a schema that refers to itself for the same value: %s", got)
	}
	if got := faults(t, `{"items":{"type":"null"}}`, "["+strings.Repeat("1,", 100_000)+"1]"); strings.Count(got, "want null") != maxFaults {
		t.Errorf("many faults: %d", strings.Count(got, "want null"))
	}
	if got := faults(t, `{"uniqueItems":true}`, distinct(50_000)); got != "" {
		t.Errorf("many items: %s", got)
	}
}

func distinct(n int) string {
	var b strings.Builder
	b.WriteString("[0")
	for i := range n {
		fmt.Fprintf(&b, ",%d", i+1)
	}
	return b.String() + "]"
}

// TestASchemaIsReadOnce: many at once that check against more schemas than are kept get
// the verdict of their own, and what is kept is bounded; a faulty schema stays an error.
func TestASchemaIsReadOnce(t *testing.T) {
	schema := func(n int) []byte { return fmt.Appendf(nil, `{"type":"integer","minimum":%d}`, n) }
	var checks sync.WaitGroup
	for range 4 {
		checks.Go(func() {
			for n := range 2*maxCompiled + 3 {
				v, err := NewValidator(schema(n))
				if err != nil {
					t.Errorf("schema %d: %v", n, err)
					return
				}
				if v.Check(fmt.Append(nil, n)) != nil || v.Check(fmt.Append(nil, n-1)) == nil {
					t.Errorf("schema %d has the verdict of another", n)
				}
			}
		})
	}
	checks.Wait()
	if n := len(compiled.of); n == 0 || n > maxCompiled {
		t.Errorf("%d validators are kept, want 1 to %d", n, maxCompiled)
	}
	text := schema(7)
	first, _ := NewValidator(text)
	text[len(text)-2] = '8' // the caller may go on with its bytes
	if again, _ := NewValidator(schema(7)); first == nil || again != first {
		t.Error("the same schema was read twice")
	}
	if other, _ := NewValidator(text); other == first {
		t.Error("another schema has the same validator")
	}
	for range 2 {
		if _, err := NewValidator([]byte(`{"type":"nothing"}`)); err == nil {
			t.Error("a faulty schema was read")
		}
	}
}
