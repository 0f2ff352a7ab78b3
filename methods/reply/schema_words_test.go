package reply

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// other is the verdict of the library on a schema and a value: whether it takes
// the schema, and the faults in its words and in our order.
func other(schema, value any) (takes bool, faults []string) {
	c := oracle.NewCompiler()
	if err := c.AddResource("noema:schema", schema); err != nil {
		return false, nil
	}
	s, err := c.Compile("noema:schema")
	if err != nil {
		return false, nil
	}
	var invalid *oracle.ValidationError
	if !errors.As(s.Validate(value), &invalid) {
		return true, nil
	}
	printer := message.NewPrinter(language.English)
	var walk func(*oracle.ValidationError)
	walk = func(e *oracle.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
			slices.Sort(extra.Properties)
		}
		if len(e.Causes) == 0 {
			faults = append(faults, SchemaFault{Place: e.InstanceLocation, Text: e.ErrorKind.LocalizedString(printer)}.String())
		}
	}
	walk(invalid)
	slices.Sort(faults)
	return true, slices.Compact(faults)
}

// maker makes schemas and values that often meet.
type maker struct{ *rand.Rand }

func (m maker) one(list ...any) any { return list[m.IntN(len(list))] }

func (m maker) number() any {
	return json.Number(m.one("0", "1", "2", "3", "-1", "1.0", "1.5", "0.25", "7", "1e2", "12", "999").(string))
}

func (m maker) value(depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 7
	}
	switch m.IntN(kinds) {
	case 0:
		return m.number()
	case 1:
		return m.one("", "a", "ab", "abc", "it's", `q"q`, "é\n")
	case 2:
		return m.one(true, false)
	case 3:
		return m.one("a", "b", m.number(), nil)
	case 4:
		list := []any{}
		for range m.IntN(4) {
			list = append(list, m.value(depth-1))
		}
		return list
	}
	obj := map[string]any{}
	for range m.IntN(4) {
		obj[m.name()] = m.value(depth - 1)
	}
	return obj
}

func (m maker) name() string { return m.one("a", "b", "c", "d").(string) }

// schema makes a schema, sometimes one that is not valid.
func (m maker) schema(depth int) any {
	if m.IntN(25) == 0 {
		return m.one(true, false)
	}
	s := map[string]any{}
	if m.IntN(3) > 0 {
		s["type"] = m.one("object", "array", "string", "number", "integer", "boolean", "null", []any{"string", "null"}, []any{"number", "array", "object"})
	}
	for range m.IntN(4) {
		m.keyword(s, depth)
	}
	if m.IntN(60) == 0 {
		s[m.one("type", "required", "enum", "minItems", "properties", "items", "anyOf", "pattern", "title", "uniqueItems", "multipleOf", "$ref").(string)] =
			m.one("x", json.Number("-1"), []any{}, []any{"a", "a"}, map[string]any{"a": json.Number("1")}, nil, "(", json.Number("1.5"))
	}
	return s
}

func (m maker) keyword(s map[string]any, depth int) {
	switch m.IntN(8) {
	case 0:
		s[m.one("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum").(string)] = m.number()
	case 1:
		s[m.one("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties").(string)] = json.Number(m.one("0", "1", "2", "3.0").(string))
	case 2:
		s["enum"] = []any{m.value(0), m.value(0), m.value(1)}
	case 3:
		s[m.one("const", "default", "x-other").(string)] = m.value(1)
	case 4:
		s[m.one("uniqueItems", "deprecated").(string)] = true
		s["pattern"] = m.one("^a", "b$", "'")
	case 5:
		s["multipleOf"] = m.one(json.Number("0.5"), json.Number("2"))
	case 6:
		s["required"] = []any{"a", m.one("b", "c")}
	}
	if depth == 0 {
		return
	}
	switch m.IntN(8) {
	case 0, 1:
		s["properties"] = map[string]any{m.name(): m.schema(depth - 1), m.name(): m.schema(depth - 1)}
	case 2:
		s["additionalProperties"] = m.one(true, false, m.schema(depth-1))
	case 3:
		s["items"] = m.schema(depth - 1)
	case 4:
		s["prefixItems"] = []any{m.schema(depth - 1), m.schema(depth - 1)}
	case 5:
		s["not"] = m.schema(depth - 1)
	case 6:
		s[m.one("anyOf", "oneOf", "allOf").(string)] = []any{m.schema(depth - 1), m.schema(depth - 1)}
	case 7:
		s["$ref"] = m.one("#/$defs/a", "#/$defs/b", "#/$defs/none", "#")
	}
}

// The words of the faults are the library's at the time of writing: another
// version of it must not change them.
func TestAgreesWithTheLibrary(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(1, 2))}
	counts := map[string]int{}
	for range 400 {
		root := m.schema(3)
		if s, ok := root.(map[string]any); ok && m.IntN(2) == 0 {
			s["$defs"] = map[string]any{"a": m.schema(2), "b": m.schema(1)}
		}
		raw, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewValidator(raw)
		for range 5 {
			value := m.value(3)
			takes, want := other(root, value)
			if takes != (err == nil) {
				t.Fatalf("schema %s: %v, the library takes it: %t", raw, err, takes)
			}
			if err != nil {
				counts["schemas refused"]++
				break
			}
			compare(t, s, raw, value, want, counts)
		}
	}
	if counts["taken"] < 200 || counts["refused"] < 400 || counts["schemas refused"] < 100 {
		t.Errorf("one-sided: %v", counts)
	}
	t.Log(counts)
}

func compare(t *testing.T, s *Validator, schema []byte, value any, want []string, counts map[string]int) {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.Faults(text)
	if err != nil {
		t.Fatalf("schema %s, value %s: %v", schema, text, err)
	}
	got := make([]string, len(list))
	for i, f := range list {
		got[i] = f.String()
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "<nil>", "null")
	}
	slices.Sort(want)
	if !slices.Equal(got, slices.Compact(want)) {
		t.Fatalf("schema %s\nvalue %s\ngot  %q\nwant %q", schema, text, got, want)
	}
	if len(got) == 0 {
		counts["taken"]++
	} else {
		counts["refused"]++
	}
}
