package generalanot_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"noema/methods"
	"noema/methods/generalanot"
)

func TestValidSeed(t *testing.T) {
	if faults := generalanot.Validate(seed(t), spec()); len(faults) > 0 {
		t.Error(faults)
	}
}

type formulaSeed = generalanot.FormulaSeed

// edits break the seed in one way each, by the fault they lead to.
type edits map[string]func(*formulaSeed)

func extractionEdits() edits {
	field := func(f generalanot.ExtractionField) func(*formulaSeed) {
		return func(s *formulaSeed) { s.ExtractionFields = append(s.ExtractionFields, f) }
	}
	return edits{
		"task_name: is missing":                        func(s *formulaSeed) { s.TaskName = "" },
		"filter_keywords: is missing":                  func(s *formulaSeed) { s.FilterKeywords = nil },
		"filter_keywords[0]: is blank":                 func(s *formulaSeed) { s.FilterKeywords[0] = " " },
		"extraction_fields: is missing":                func(s *formulaSeed) { s.ExtractionFields = nil },
		"extraction_prompt: is missing":                func(s *formulaSeed) { s.ExtractionPrompt = "" },
		"add {review_text}":                            func(s *formulaSeed) { s.ExtractionPrompt = "Well? {review_date}" },
		"unknown placeholder {text}":                   func(s *formulaSeed) { s.ExtractionPrompt += `{text} {"json": 1} {}` },
		`"a b" is not an identifier`:                   field(generalanot.ExtractionField{Name: "a b", Type: "string"}),
		`formulas read "stars" from the review itself`: field(generalanot.ExtractionField{Name: "stars", Type: "integer"}),
		`"account_type" is a repetition`:               field(generalanot.ExtractionField{Name: "account_type", Type: "string"}),
		`"list" is not among enum`:                     field(generalanot.ExtractionField{Name: "x", Type: "list"}),
		"only an enum has values":                      field(generalanot.ExtractionField{Name: "x", Type: "string", Values: []string{"a"}}),
		"extraction_fields[3].values: is missing":      field(generalanot.ExtractionField{Name: "x", Type: "enum"}),
		`values[1]: "a" is empty or a repetition`:      field(generalanot.ExtractionField{Name: "x", Type: "enum", Values: []string{"a", "a"}}),
	}
}

func stepEdits() edits {
	step := func(name, formula string) func(*formulaSeed) {
		return func(s *formulaSeed) {
			s.ComputeDAG = append(s.ComputeDAG, generalanot.ComputeStep{Name: name, Formula: formula})
		}
	}
	return edits{
		"compute_dag: is missing":                             func(s *formulaSeed) { s.ComputeDAG = nil },
		"compute_dag[14].formula: is missing":                 step("x", " "),
		"compute_dag[14].formula: x:":                         step("x", "1 +"),
		`"n_mild" is a repetition`:                            step("n_mild", "1"),
		`"lambda" is a keyword or builtin`:                    step("lambda", "1"),
		`"sum" is a keyword or builtin`:                       step("sum", "1"),
		`"extractions" is an input`:                           step("extractions", "1"),
		`"é" is not an identifier`:                            step("é", "1"),
		`x uses "y", which is not an input`:                   step("x", "y + n_mild"),
		`x reads in column 3 the field "mood" of extractions`: step("x", "[e['mood'] for e in extractions]"),
		`the field "account_type" of reviews`:                 step("x", "sum(1 for r in reviews if r['account_type'] == 'none')"),
		"in a circle: x -> x":                                 step("x", "x + 1"),
		"in a circle: p -> q -> p": func(s *formulaSeed) {
			step("r", "p")(s)
			step("p", "q")(s)
			step("q", "n_mild + p")(s)
		},
	}
}

func otherEdits() edits {
	lookup := func(l generalanot.Lookup) func(*formulaSeed) {
		return func(s *formulaSeed) { s.Lookups = append(s.Lookups, l) }
	}
	table := []generalanot.LookupEntry{{Key: "thai", Value: json.Number("2")}}
	return edits{
		"output_fields: is missing":                     func(s *formulaSeed) { s.OutputFields = nil },
		`no step of compute_dag computes "x"`:           func(s *formulaSeed) { s.OutputFields = append(s.OutputFields, "x") },
		`output_fields[5]: "verdict" is a repetition`:   func(s *formulaSeed) { s.OutputFields = append(s.OutputFields, "verdict") },
		`"verdict" is asked for`:                        func(s *formulaSeed) { s.OutputFields = s.OutputFields[:4] },
		`compute_dag[0].name: "n_mild" is a repetition`: lookup(generalanot.Lookup{Name: "n_mild", Field: "x", Table: table, Default: "x"}), // the lookup came first
		`"restaurant." is not a path`:                   lookup(generalanot.Lookup{Name: "l", Field: "restaurant.", Table: table, Default: "x"}),
		"lookups[0].default: want":                      lookup(generalanot.Lookup{Name: "l", Field: "x", Table: table}),
		"lookups[0].table[1]: \"thai\"":                 lookup(generalanot.Lookup{Name: "l", Field: "x", Default: "x", Table: append(table, generalanot.LookupEntry{Key: "Thai", Value: true})}),
		"lookups[0].table[1].value: want":               lookup(generalanot.Lookup{Name: "l", Field: "x", Default: "x", Table: append(table, generalanot.LookupEntry{Key: "x"})}),
		"review_handling.max_length: want 1":            func(s *formulaSeed) { s.ReviewHandling = &generalanot.ReviewHandling{Strategy: "head"} },
		`review_handling.strategy: "middle"`:            func(s *formulaSeed) { s.ReviewHandling = &generalanot.ReviewHandling{MaxLength: 9, Strategy: "middle"} },
		`"spam" is not an enum`: func(s *formulaSeed) {
			s.ReviewValidity = &generalanot.ReviewValidity{Field: "spam", Keep: []string{"no"}}
		},
		"review_validity.keep: is missing": func(s *formulaSeed) { s.ReviewValidity = &generalanot.ReviewValidity{Field: "account_type"} },
		`review_validity.keep[0]: "x" is no`: func(s *formulaSeed) {
			s.ReviewValidity = &generalanot.ReviewValidity{Field: "account_type", Keep: []string{"x"}}
		},
	}
}

func TestValidateNamesTheFault(t *testing.T) {
	for _, all := range []edits{extractionEdits(), stepEdits(), otherEdits()} {
		for want, edit := range all {
			s := seed(t)
			edit(s)
			if got := faultText(generalanot.Validate(s, spec())); !strings.Contains(got, want) {
				t.Errorf("want a fault %q, got %q", want, got)
			}
		}
	}
}

func faultText(faults []generalanot.Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

func TestValidateListsAllFaultsAtOnce(t *testing.T) {
	s, err := generalanot.Parse([]byte(`{"filter_keywords": [""], "extraction_fields": [{"name": "1", "type": "x"}],
		"extraction_prompt": "{a} {b} {a}", "compute_dag": [{"name": "x", "formula": "y"}, {"name": "for", "formula": ")"}], "output_fields": ["z"]}`))
	if err != nil {
		t.Fatal(err)
	}
	faults := generalanot.Validate(s, methods.AnswerSpec{Names: []string{"verdict"}})
	var where []string
	for _, f := range faults {
		where = append(where, f.Path)
	}
	want := []string{"task_name", "filter_keywords[0]", "extraction_fields[0].name", "extraction_fields[0].type", "extraction_prompt", "extraction_prompt",
		"extraction_prompt", "compute_dag[1].name", "compute_dag[1].formula", "compute_dag[0].formula", "output_fields[0]", "output_fields"}
	if !slices.Equal(where, want) {
		t.Errorf("faults at %v, want %v\n%s", where, want, faultText(faults))
	}
}

func TestStepsOutOfOrderAreMoved(t *testing.T) {
	s := seed(t)
	s.ComputeDAG[3], s.ComputeDAG[0] = s.ComputeDAG[0], s.ComputeDAG[3]
	slices.Reverse(s.ComputeDAG[4:7])
	p, faults := generalanot.NewProgram(s, spec())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if want := []string{"n_total_incidents", "recency_decay"}; !slices.Equal(p.Moved, want) {
		t.Errorf("moved %v, want %v", p.Moved, want)
	}
	m := working(t)
	raw, err := generalanot.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	s.Lookups, s.ReviewHandling, s.ReviewValidity = nil, nil, nil
	full := strings.Replace(string(raw), "{", `{"lookups":null,"review_handling":null,"review_validity":null,`, 1)
	m.compile = []string{full}
	a, log := solve(t, problem(""), m)
	if !strings.Contains(string(a.Value), `"final_risk_score":8,`) || a.Outcome != methods.Answered {
		t.Errorf("answer %s %s", a.Value, a.Reason)
	}
	if got := events(log, methods.Repair); !strings.Contains(got, "step recency_decay runs after") {
		t.Errorf("repair events: %s", got)
	}
}

func TestMarshalIsStable(t *testing.T) {
	first, err := generalanot.Marshal(seed(t))
	if err != nil {
		t.Fatal(err)
	}
	again, err := generalanot.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	second, err := generalanot.Marshal(again)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v: written twice:\n%s\n%s", err, first, second)
	}
	if !bytes.Contains(first, []byte("final_risk_score < 4")) || !bytes.HasSuffix(first, []byte("}\n")) {
		t.Errorf("not fit for a person:\n%s", first)
	}
}

func TestParseErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                           "EOF",
		"null":                       "the value is null",
		"{} {}":                      "more text after",
		"{\n\"task_name\": 1}":       "line 2",
		"{\n\n\"task_name\": x}":     "line 3",
		`{"taskname": ""}`:           `unknown field "taskname"`,
		`{"compute_dag": [{"x":1}]}`: `unknown field "x"`,
	} {
		if _, err := generalanot.Parse([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", raw, err, want)
		}
	}
}

// compileSchema reads a schema for validation.
func compileSchema(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("s.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchema(t *testing.T) {
	_, log := solve(t, problem(""), working(t))
	strict := compileSchema(t, log.Calls[len(log.Calls)-1].Request.Schema.JSON)
	short := `{"task_name":"","filter_keywords":[],"extraction_fields":[{"name":"a","type":"number","values":null}],"extraction_prompt":"","compute_dag":[],"output_fields":[]`
	whole := short + `,"lookups":null,"review_handling":null,"review_validity":null}`
	for _, c := range []struct {
		name, json string
		valid      bool
	}{
		{"the test's seed", seedJSON(t), true},
		{"without what may be null", whole, true},
		{"without the optional keys", short + "}", false},
		{"with lookups", strings.Replace(whole, `"lookups":null`, `"lookups":[{"name":"l","field":"x","table":[{"key":"a","value":1.5}],"default":"x"}]`, 1), true},
		{"with handling", strings.Replace(whole, `"review_handling":null`, `"review_handling":{"max_length":10,"strategy":"truncate_head"}`, 1), true},
		{"with validity", strings.Replace(whole, `"review_validity":null`, `"review_validity":{"field":"a","keep":["x"]}`, 1), true},
		{"a lookup of lists", strings.Replace(whole, `"lookups":null`, `"lookups":[{"name":"l","field":"x","table":[],"default":[]}]`, 1), false},
		{"an unknown key", strings.Replace(whole, `"lookups"`, `"more":1,"lookups"`, 1), false},
		{"a missing key", strings.Replace(whole, `"task_name":"",`, "", 1), false},
		{"an unknown type", strings.Replace(whole, `"number"`, `"float"`, 1), false},
		{"half a step", strings.Replace(whole, `"compute_dag":[]`, `"compute_dag":[{"name":"x"}]`, 1), false},
	} {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(c.json))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if err := strict.Validate(v); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Whatever a model or a person writes, the validator ends without a panic, and
// what it accepts can be written and read back.
func FuzzParse(f *testing.F) {
	f.Add([]byte(seedJSON(f)))
	f.Add([]byte(`{"task_name":"x","filter_keywords":[],"extraction_fields":[],"compute_dag":[{"name":"a","formula":"b"},{"name":"b","formula":"a"}],"output_fields":["a"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := generalanot.Parse(raw)
		if err != nil {
			return
		}
		if p, faults := generalanot.NewProgram(s, methods.AnswerSpec{}); (p == nil) != (len(faults) > 0) {
			t.Fatalf("program %v with faults %v", p, faults)
		}
		written, err := generalanot.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := generalanot.Parse(written)
		if err != nil {
			t.Fatalf("%v:\n%s", err, written)
		}
		if twice, err := generalanot.Marshal(again); err != nil || !bytes.Equal(written, twice) {
			t.Fatalf("%v: %s\n%s", err, written, twice)
		}
	})
}

// Names that the formula language gained later stay free for steps, and what
// Python has and formulas have not is named with what there is.
func TestNamesOfTheLanguage(t *testing.T) {
	s := tiny(t, "time: 3", "format: time + 1", "total: format * 2")
	if faults := generalanot.Validate(s, methods.AnswerSpec{}); len(faults) > 0 {
		t.Error(faults)
	}
	s = tiny(t, "n: np.mean([1])", "Counter: 1")
	faults := generalanot.Validate(s, methods.AnswerSpec{})
	if len(faults) != 2 || !strings.Contains(faults[0].Text, "keyword or builtin") || !strings.Contains(faults[1].Text, "use sum, statistics and comprehensions") {
		t.Error(faults)
	}
}
