package lwt_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"noema/methods/anot/internal/lwt"
)

const context = `{"items":[
 {"name":"Blue {(c1)} Door","open":true,"shut":false,"none":null,"stars":4.0,"n":-3,"big":12345678901234567890,"f":0.25,"e":1e300,
  "list":["a","b",{"c":1}],"dict":{"b & c":[1.50,true,null],"a":"<x>"},"a.b":"dot","k \"q\" ]":"odd","10":"ten","nl":"x\ny"},
 {"name":"{(query)}","list":[]}
],"friends":{"Ann":["Bob","Cy"],"O'Neil, Jr.":[]},"town":"Aix","not an id":1,"query":"shadowed","input":7}`

func TestFill(t *testing.T) {
	data, err := lwt.NewData("with {(c1)} in it", []byte(context))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := data.Names(), []string{"friends", "town"}; !reflect.DeepEqual(got, want) || data.Items() != 2 {
		t.Fatalf("names %v, %d items", got, data.Items())
	}
	outputs := map[string]string{"c1": "[3, 1]", "py": "{'a': [True, None, 'x'], 1: 2}", "js": ` {"a": {"b": [10, 20]}} `, "prose": "none {(query)}"}
	for _, c := range []struct{ prompt, want, missing string }{
		{"plain {text} (c1) {[x]}", "plain {text} (c1) {[x]}", ""},
		{"{(query)}", "with {(c1)} in it", ""},
		{"{(context)}[1][name]", "Blue {(c1)} Door", ""},
		{"{(context)}[2][name]", "{(query)}", ""},
		{"{(items)}[1][open] {(input)}[1][shut] {(context)}[1][none]", "True False None", ""},
		{"{(context)}[1][stars] {(context)}[1][n] {(context)}[1][big] {(context)}[1][f] {(context)}[1][e]", "4 -3 12345678901234567890 0.25 1e+300", ""},
		{"{(context)}[1][list]", `["a","b",{"c":1}]`, ""},
		{"{(context)}[1][list][0]{(context)}[1][list][2][c]", "a1", ""},
		{"{(context)}[1][list][1:]", `["b",{"c":1}]`, ""},
		{"{(context)}[1][list][ 0 : 1 ][0]", "a", ""},
		{"{(context)}[1][list][5:9]{(context)}[1][list][2:1]", "[][]", ""},
		{"{(context)}[1:2]", "", ""}, // checked below
		{"{(context)}[1][dict]", `{"b & c":[1.50,true,null],"a":"<x>"}`, ""},
		{"{(context)}[1][dict][b & c][0]", "1.5", ""},
		{`{(context)}[1]["a.b"]{(context)}[1]['a.b']`, "dotdot", ""},
		{`{(context)}[1]["k \"q\" ]"]`, "odd", ""},
		{"{(context)}[1][10]{(context)}[1]['10']", "tenten", ""},
		{"{(friends)}[Ann] {(friends)}[\"O'Neil, Jr.\"] {(town)}", `["Bob","Cy"] [] Aix`, ""},
		{"{(friends)}[Ann][0]", "Bob", ""},
		{"{(c1)}", "[3, 1]", ""},
		{"{(c1)}[0] {(c1)}[1:]", "3 [1]", ""},
		{"{(py)}[a][0]{(py)}[a][2]{(py)}[1]", "Truex2", ""},
		{"{(js)}[a][b][1]", "20", ""},
		{"{(prose)}", "none {(query)}", ""},
		{"{(context)}[1][nl]", "x\ny", ""},
		{"a{(context)}[0][name]b", "ab", "{(context)}[0][name]"},
		{"{(context)}[3]", "", "{(context)}[3]"},
		{"{(context)}[1]['1']['x']", "", "{(context)}[1]['1']['x']"},
		{"{(context)}['1']", "", "{(context)}['1']"},
		{"{(context)}[1][nope] {(context)}[1][open][x]", " ", "{(context)}[1][nope] {(context)}[1][open][x]"},
		{"{(context)}[1][dict][0:1]", "", "{(context)}[1][dict][0:1]"},
		{"{(context)}[1][list][-1]", "", "{(context)}[1][list][-1]"},
		{"{(query)}[0]", "", "{(query)}[0]"},
		{"{(prose)}[0]", "", "{(prose)}[0]"},
		{"{(context)}[99999999999999999999]", "", "{(context)}[99999999999999999999]"},
		{"{(town)} [x]", "Aix [x]", ""},
		{"{(town)}[]{(town)}[\nx]", "Aix[]Aix[\nx]", ""},
	} {
		if c.prompt == "{(context)}[1:2]" {
			whole, _ := data.Value(lwt.Reference{Name: "context", Path: []lwt.Accessor{{Key: "1", Index: 1}}})
			c.want = "[" + whole + "]"
		}
		steps := []lwt.Step{{ID: "final", Prompt: c.prompt + "{(c1)}{(py)}{(js)}{(prose)}"}}
		for id := range outputs {
			steps = append(steps, lwt.Step{ID: id, Prompt: "x"})
		}
		plan, err := lwt.Compile(&lwt.Program{Steps: steps}, data.Names())
		if err != nil {
			t.Errorf("%q: %v", c.prompt, err)
			continue
		}
		got, missing := plan.Fill(0, data, func(id string) string { return outputs[id] })
		want := c.want + outputs["c1"] + outputs["py"] + outputs["js"] + outputs["prose"]
		if got != want || strings.Join(missing, " ") != c.missing {
			t.Errorf("%q became\n%q, missing %q, want\n%q, missing %q", c.prompt, got, missing, want, c.missing)
		}
	}
}

func TestNewDataRefuses(t *testing.T) {
	for _, raw := range []string{"{", "[]", `"x"`, `{"items":{}}`, `{} {}`, strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)} {
		if _, err := lwt.NewData("q", json.RawMessage(raw)); err == nil {
			t.Errorf("NewData(%.40q) gives no error", raw)
		}
	}
	for _, raw := range []string{"", " ", "null", "{}", `{"items":[]}`, strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)} {
		if d, err := lwt.NewData("q", json.RawMessage(raw)); err != nil || d.Items() != 0 {
			t.Errorf("NewData(%.40q): %v", raw, err)
		}
	}
}

func TestParsePath(t *testing.T) {
	data, err := lwt.NewData("q", []byte(context))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"items[1].name":               "Blue {(c1)} Door",
		"context[2].name":             "{(query)}",
		" items[1].dict.b & c[0] ":    "1.5",
		`items[1]["a.b"]`:             "dot",
		"{(context)}[1][open]":        "True",
		"friends.Ann":                 `["Bob","Cy"]`,
		"friends[\"O'Neil, Jr.\"]":    "[]",
		"items.1.open":                "True",
		"query":                       "q",
		"items[1].list[0:2]":          `["a","b"]`,
		"items[1].list":               `["a","b",{"c":1}]`,
		"items[1].dict.b & c.1":       "True",
		"items[1][10]":                "ten",
		"{(context)}[1][dict][b & c]": "[1.50,true,null]",
	} {
		ref, err := lwt.ParsePath(path)
		if err != nil {
			t.Errorf("ParsePath(%q): %v", path, err)
			continue
		}
		if got, ok := data.Value(ref); !ok || got != want {
			t.Errorf("read %q = %q, %v, want %q", path, got, ok, want)
		}
	}
	for _, path := range []string{"", ".", "a..b", "a[", "a[]", "a b", "{(a)}x", "{(a", "items[1]name", "items."} {
		if ref, err := lwt.ParsePath(path); err == nil {
			t.Errorf("ParsePath(%q) = %+v, want an error", path, ref)
		}
	}
}

func TestRefIsReadBack(t *testing.T) {
	for _, keys := range [][]string{{"3", "attributes", "WiFi"}, {"a.b", ""}, {`q"'\`, "]", "1:2"}, {" x ", "né\n", "b & c"}} {
		text := lwt.Ref("context", keys...)
		ref, err := lwt.ParsePath(text)
		if err != nil || ref.Text != text || len(ref.Path) != len(keys) {
			t.Errorf("%q is read as %+v, %v", text, ref, err)
			continue
		}
		for i, a := range ref.Path {
			if a.Key != keys[i] || a.Slice {
				t.Errorf("key %q is read as %+v", keys[i], a)
			}
		}
	}
}

// program has a step of n items for each condition, and a final step.
func program(n, conditions int) string {
	var b strings.Builder
	final := "Rank: "
	for c := range conditions {
		fmt.Fprintf(&b, `(c%d)=LLM("Check condition %d\n`, c+1, c+1)
		for i := range n {
			fmt.Fprintf(&b, `%d: {(context)}[%d][attributes][Ambience][hipster]\n`, i+1, i+1)
		}
		b.WriteString("Which?\")\n")
		final += fmt.Sprintf("{(c%d)} ", c+1)
	}
	return b.String() + "(final)=LLM(\"" + final + "\")\n"
}

func items(n int) []byte {
	one := `{"name":"x","attributes":{"Ambience":{"hipster":true},"WiFi":"free"},"reviews":[{"author":"Ann","text":"nice"}]}`
	return []byte(`{"items":[` + strings.Repeat(one+",", n-1) + one + `]}`)
}

// BenchmarkLWT is 50 items × 20 conditions: parse, plan and substitute.
func BenchmarkLWT(b *testing.B) {
	src, raw := program(50, 20), items(50)
	data, err := lwt.NewData("q", raw)
	if err != nil {
		b.Fatal(err)
	}
	run := func(d *lwt.Data) {
		p, err := lwt.Parse(src)
		if err != nil {
			b.Fatal(err)
		}
		plan, err := lwt.Compile(p, d.Names())
		if err != nil {
			b.Fatal(err)
		}
		for i := range plan.Steps {
			if _, missing := plan.Fill(i, d, func(string) string { return "[1, 2, 3]" }); missing != nil {
				b.Fatal(missing)
			}
		}
	}
	b.Run("run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			run(data)
		}
	})
	b.Run("decode+run", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := lwt.NewData("q", raw)
			if err != nil {
				b.Fatal(err)
			}
			run(d)
		}
	})
}
