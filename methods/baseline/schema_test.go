package baseline

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// TestCallsAreHeldToTheirTools judges turns and plans by the schemas that they are
// asked for under.
func TestCallsAreHeldToTheirTools(t *testing.T) {
	tools := []methods.ToolSpec{
		{Name: "add", Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number","multipleOf":1}},"required":["a"],"additionalProperties":false}`)},
		{Name: "find", Parameters: json.RawMessage(`not JSON`)},
	}
	number := methods.AnswerSpec{Kind: methods.Number}
	turn, calls := turnSchema(number, tools), callsSchema(tools)
	for _, c := range []struct {
		schema      *methods.Schema
		said, fault string
	}{
		{turn, `{"thought":"","action":{"tool":"add","args":{"a":1}}}`, ""},
		{turn, `{"thought":"","action":{"tool":"find","args":{"x":[1]}}}`, ""},
		{turn, `{"thought":"","action":{"answer":1}}`, ""},
		{turn, `{"thought":""}`, "missing"},
		{turn, `{"thought":"","action":{"tool":"add","args":{"a":"one number"}}}`, "got string, want number"},
		{turn, `{"thought":"","action":{"tool":"add","args":{"a":"$1"}}}`, "got string, want number"},
		{calls, `{"calls":[{"id":1,"tool":"add","args":{"a":1}},{"id":2,"tool":"add","args":{"a":"$1"}}]}`, ""},
		{calls, `{"calls":[{"id":1,"tool":"add","args":{"a":"one number"}}]}`, "got string, want number"},
		{calls, `{"calls":[{"id":1,"tool":"fly","args":{}}]}`, "'find'"},
		{joinSchema(number, true), `{"answer":1,"replan":null}`, ""},
		{joinSchema(number, true), `{}`, "missing"},
	} {
		v, err := reply.NewValidator(c.schema.JSON)
		if err != nil {
			t.Fatal(err)
		}
		err = v.Check(json.RawMessage(c.said))
		if (err == nil) != (c.fault == "") || err != nil && (!strings.Contains(err.Error(), c.fault) || strings.Contains(err.Error(), "'find'") != (c.fault == "'find'")) {
			t.Errorf("%s: %v, want %q", c.said, err, c.fault)
		}
	}
}
