package generalanot_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/generalanot"
)

// merged is a small valid seed with keys of another in their place.
func merged(t *testing.T, example string) []byte {
	t.Helper()
	whole := map[string]any{
		"task_name": "t", "filter_keywords": []string{}, "extraction_prompt": "Read: {review_text}", "output_fields": []string{"n"},
		"extraction_fields": []any{map[string]any{"name": "level", "type": "string"}},
		"compute_dag":       []any{map[string]any{"name": "n", "formula": "len(extractions)"}},
	}
	var keys map[string]any
	if err := json.Unmarshal([]byte(example), &keys); err != nil {
		t.Fatal(err)
	}
	maps.Copy(whole, keys)
	raw, _ := json.Marshal(whole)
	return raw
}

// TestExamplesOfTheSeed reads every JSON example of seed 001. The first is not JSON, and
// without its dots lacks the steps that the seed leaves out, which validation names.
func TestExamplesOfTheSeed(t *testing.T) {
	raw, err := os.ReadFile("testdata/seed001.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(raw), "```json\n")[1:]
	for i, e := range examples {
		examples[i], _, _ = strings.Cut(e, "```")
	}
	if _, err := generalanot.Parse([]byte(examples[0])); err == nil || !strings.Contains(err.Error(), "line 4") {
		t.Errorf("the first example: %v", err)
	}
	s, err := generalanot.Parse([]byte(strings.Replace(examples[0], ", ...]", "]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	said := fmt.Sprint(generalanot.Validate(s, methods.AnswerSpec{Kind: methods.Fields}))
	for _, missing := range []string{"n_moderate", "raw_risk", "n_total_incidents"} {
		if !strings.Contains(said, missing) {
			t.Errorf("faults do not name %s: %s", missing, said)
		}
	}
	for _, e := range examples[1:] {
		s, err := generalanot.Parse(merged(t, e))
		if err != nil {
			t.Fatal(err)
		}
		if faults := generalanot.Validate(s, methods.AnswerSpec{Kind: methods.Fields}); len(faults) > 0 {
			t.Errorf("%s: %v", e, faults)
		}
	}
}

// TestFieldsWithoutAType leaves the type and the labels out of fields: what remains says
// what the field is, or is refused.
func TestFieldsWithoutAType(t *testing.T) {
	for _, kind := range []string{"", "enum", "boolean", "integer", "number", "string"} {
		for _, labels := range []string{"", `["a", "b"]`} {
			field := `"name": "level"`
			want := kind
			if kind != "" {
				field += fmt.Sprintf(`, "type": %q`, kind)
			}
			if labels != "" {
				field += `, "values": ` + labels
			}
			if kind == "" {
				want = map[bool]string{true: "enum", false: "string"}[labels != ""]
			}
			s, err := generalanot.Parse(merged(t, `{"extraction_fields": [{`+field+`}]}`))
			if err != nil {
				t.Fatal(err)
			}
			valid := (want == "enum") == (labels != "")
			if faults := generalanot.Validate(s, methods.AnswerSpec{Kind: methods.Fields}); s.ExtractionFields[0].Type != want || (len(faults) == 0) != valid {
				t.Errorf("{%s} is of type %s, want %s: %v", field, s.ExtractionFields[0].Type, want, faults)
			}
		}
	}
}
