package local_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"noema/kernel/internal/test/localtest"
	"noema/kernel/model/provider/local"
	"noema/kernel/model/provider/local/internal/grammar"
	"noema/kernel/model/provider/local/internal/tokenizer"
	"noema/methods"
)

// schemas are like those of methods: rankings, plans, fields, numbers, tables.
var schemas = []string{
	`{"type":"array","items":{"type":"integer","minimum":1,"maximum":10},"minItems":1,"maxItems":10}`,
	`{"type":"object","properties":{"answer":{"type":"number"},"reason":{"type":"string"}},"required":["answer","reason"]}`,
	`{"type":"object","properties":{"steps":{"type":"array","items":{"type":"object","properties":{"op":{"enum":["add","sub","mul"]},"args":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}},"required":["op","args"]}}},"required":["steps"]}`,
	`{"enum":["true","false","unknown"]}`,
	`{"type":"boolean"}`,
	`{"anyOf":[{"type":"string","maxLength":12},{"type":"null"}]}`,
	`{"$defs":{"tree":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["value","children"]}},"$ref":"#/$defs/tree"}`,
	`{"type":"object","properties":{"name":{"type":"string","minLength":2,"maxLength":5},"input":{"type":"object"},"share":{"type":["number","null"],"minimum":-0.5,"maximum":1}},"required":["input","share"]}`,
}

func compiled(t *testing.T, source string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shortest is how many tokens a model needs for the shortest value of each
// schema.
func shortest(t *testing.T, dir string) []int {
	t.Helper()
	tok, err := tokenizer.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	spelled := make([][]byte, tok.Size())
	for id := range spelled {
		spelled[id] = tok.Bytes(id)
	}
	vocab := grammar.NewVocab(spelled)
	var all []int
	for _, s := range schemas {
		g, err := grammar.Compile(json.RawMessage(s))
		if err != nil {
			t.Fatal(err)
		}
		tokens, ok := vocab.Fewest(g.Start().Shortest())
		if !ok {
			t.Fatalf("no tokens for %s", s)
		}
		all = append(all, len(tokens))
	}
	return all
}

// TestSchemas has models of noise write 1,000 values, hot and cold, with room
// and with none to spare: every one must be complete and valid.
func TestSchemas(t *testing.T) {
	var judges []*jsonschema.Schema
	for _, s := range schemas {
		judges = append(judges, compiled(t, s))
	}
	archs := []string{"llama", "mistral", "qwen2", "gpt2"}
	total, tight := 0, 0
	for a, arch := range archs {
		dir := t.TempDir()
		if err := localtest.Write(dir, localtest.Spec{Arch: arch, Seed: uint64(a), Hidden: 16, Heads: 2, KVHeads: 1, Layers: 1, Context: 1024}); err != nil {
			t.Fatal(err)
		}
		p, err := local.New(dir, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		least := shortest(t, dir)
		for i := range 1000 / len(archs) {
			which := (i + a) % len(schemas)
			r := ask("Which are true?", methods.Sampling{
				Temperature: []float64{0, 0.7, 1, 3}[i%4], TopP: []float64{0, 0.9}[i/4%2], Seed: uint64(i),
				MaxTokens: least[which] + []int{0, 1, 2, 7, 23, 90}[i/len(schemas)%6],
			})
			r.Schema = &methods.Schema{Name: fmt.Sprintf("s%d", which), JSON: json.RawMessage(schemas[which])}
			reply := generate(t, p, r)
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(reply.Text))
			if err == nil {
				err = judges[which].Validate(value)
			}
			if err != nil || reply.Finish != methods.FinishStop || int(reply.Usage.OutputTokens) > r.Sampling.MaxTokens {
				t.Fatalf("%s, request %d, schema %d: finish %q after %d of %d tokens, %v:\n%s",
					arch, i, which, reply.Finish, reply.Usage.OutputTokens, r.Sampling.MaxTokens, err, reply.Text)
			}
			if total++; int(reply.Usage.OutputTokens) == r.Sampling.MaxTokens {
				tight++
			}
		}
	}
	if total != 1000 || tight < 300 {
		t.Errorf("%d values were written, %d of them to their limit", total, tight)
	}
}

// TestSchemaCut: a limit below the shortest value cuts, and says so.
func TestSchemaCut(t *testing.T) {
	p := model(t, localtest.Spec{Arch: "gpt2", Seed: 1}, local.Options{})
	r := ask("x", methods.Sampling{MaxTokens: 2})
	r.Schema = &methods.Schema{Name: "s", JSON: json.RawMessage(`{"type":"object","properties":{"a_long_name":{"type":"boolean"}},"required":["a_long_name"]}`)}
	if reply := generate(t, p, r); reply.Finish != methods.FinishLength || reply.Usage.OutputTokens != 2 {
		t.Errorf("finish %q after %d tokens: %q", reply.Finish, reply.Usage.OutputTokens, reply.Text)
	}
}
