package lwt_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"noema/methods/anot/internal/lwt"
	"noema/methods/methodtest"
)

func Example() {
	program, err := lwt.Parse(`
# which items have free WiFi, and are they open late?
(c1)=LLM("WiFi: 1={(context)}[1][wifi], 2={(context)}[2][wifi]. Which are free?")
(final)=LLM('Rank for "{(query)}": {(c1)}')
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	data, _ := lwt.NewData("a cafe to work in", []byte(`{"items":[{"wifi":"free"},{"wifi":null}]}`))
	plan, err := lwt.Compile(program, data.Names())
	if err != nil {
		fmt.Println(err)
		return
	}
	outputs := map[string]string{"c1": "[1]"}
	for _, layer := range plan.Layers {
		for _, i := range layer {
			prompt, _ := plan.Fill(i, data, func(id string) string { return outputs[id] })
			fmt.Println(prompt)
		}
	}
	// Output:
	// WiFi: 1=free, 2=None. Which are free?
	// Rank for "a cafe to work in": [1]
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      []lwt.Step
	}{
		{"empty", "", nil},
		{"comments and blanks", "\n # (a)=LLM(\"x\")\r\n\n#", nil},
		{"double quotes", `(a)=LLM("it's")`, []lwt.Step{{ID: "a", Prompt: "it's", Pos: lwt.Pos{Line: 1, Col: 1}}}},
		{"single quotes", `(2)=LLM('say "x"')`, []lwt.Step{{ID: "2", Prompt: `say "x"`, Pos: lwt.Pos{Line: 1, Col: 1}}}},
		{"a quote and a parenthesis inside", `(a)=LLM("f(\"x\") and ') #")`, []lwt.Step{{ID: "a", Prompt: `f("x") and ') #`, Pos: lwt.Pos{Line: 1, Col: 1}}}},
		{"escapes", `(a)=LLM("\"\'\\\n\t")`, []lwt.Step{{ID: "a", Prompt: "\"'\\\n\t", Pos: lwt.Pos{Line: 1, Col: 1}}}},
		{"spanning lines", "(c.1)\n =\tLLM (\n\"a\n# b\"\n) \r\n  (_x) = LLM('')", []lwt.Step{
			{ID: "c.1", Prompt: "a\n# b", Pos: lwt.Pos{Line: 1, Col: 1}},
			{ID: "_x", Prompt: "", Pos: lwt.Pos{Line: 6, Col: 3}},
		}},
		{"odd bytes", "(a)=LLM(\"\x00\xff é\")", []lwt.Step{{ID: "a", Prompt: "\x00\xff é", Pos: lwt.Pos{Line: 1, Col: 1}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := lwt.Parse(c.src)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(p.Steps, c.want) {
				t.Errorf("got  %#v\nwant %#v", p.Steps, c.want)
			}
		})
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ src, at, want string }{
		{`c1=LLM("x")`, "1:1", `want "("`},
		{`()=LLM("x")`, "1:2", "want an id"},
		{`(1a)=LLM("x")`, "1:2", "want an id"},
		{`(a b)=LLM("x")`, "1:4", `want ")"`},
		{"(a)=LLM(x)", "1:9", "prompt in quotes"},
		{"(a)=llm('x')", "1:5", `want "LLM"`},
		{"é(a)", "1:1", `want "("`},
		{"(a)=LLM('é', 1)", "1:12", `want ")"`},
		{"(a)=LLM(\"x\ny", "1:9", "no closing"},
		{"(a)=LLM('x\")", "1:9", "no closing"},
		{`(a)=LLM("\d")`, "1:10", `unknown escape \d`},
		{`(a)=LLM("\`, "1:10", "after a backslash"},
		{`(a)=LLM("x") (b)=LLM("y")`, "1:14", "end of the line"},
		{`(a)=LLM("x") # note`, "1:14", "end of the line"},
		{"(a)=LLM('x')\n\n (a)=LLM('y')", "3:2", "taken by the step at 1:1"},
		{"(a)=LLM('x'", "1:12", "the end of the text"},
	} {
		_, err := lwt.Parse(c.src)
		var e *lwt.Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v, want an *Error", c.src, err)
			continue
		}
		if e.Pos.String() != c.at || !strings.Contains(e.Msg, c.want) {
			t.Errorf("Parse(%q) = %v, want %s … %s", c.src, err, c.at, c.want)
		}
	}
}

func TestParseStepWantsOne(t *testing.T) {
	if s, err := lwt.ParseStep(` (a)=LLM("x") `); err != nil || s.ID != "a" {
		t.Errorf("got %v, %v", s, err)
	}
	for _, src := range []string{"", "# nothing", "(a)=LLM('x')\n(b)=LLM('y')"} {
		if s, err := lwt.ParseStep(src); err == nil {
			t.Errorf("ParseStep(%q) = %v, want an error", src, s)
		}
	}
}

func TestCompileFaults(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"no steps", "", "no step (final)"},
		{"no final", "(a)=LLM('x')", "no step (final)"},
		{"unused step", "(a)=LLM('x')\n(final)=LLM('y')", "2:1: step final"},
		{"unknown reference", "(final)=LLM('{(nope)}')", "refers to no step"},
		{"malformed", "(final)=LLM('{(a b)}')", "begins no reference"},
		{"unclosed", "(final)=LLM('{(')", "begins no reference"},
		{"self", "(a)=LLM('{(a)}')\n(final)=LLM('{(a)}')", "a needs a"},
		{"cycle", "(a)=LLM('{(b)}')\n(b)=LLM('{(a)}')\n(final)=LLM('{(a)}')", "a needs b needs a"},
		{"behind a cycle", "(x)=LLM('{(a)}')\n(a)=LLM('{(b)}')\n(b)=LLM('{(a)}')\n(final)=LLM('{(x)}')", "a needs b needs a"},
		{"final used", "(final)=LLM('x')\n(a)=LLM('{(final)}')", "must come last"},
		{"variable as id", "(friends)=LLM('x')\n(final)=LLM('{(friends)}')", "name of a variable"},
		{"reserved id", "(query)=LLM('x')\n(final)=LLM('{(query)}')", "name of a variable"},
		{"dots", "(final)=LLM('1={(context)}[1], ... 9={(items)}[9]')", "dots stand in place"},
		{"dots on a line", "(final)=LLM('1: {(context)}[1]\n…\n9: {(items)}[9]')", "dots stand in place"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := lwt.Parse(c.src)
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "unused step" {
				c.want = "1:1: step a: no step uses its output"
			}
			_, err = lwt.Compile(p, []string{"friends"})
			var one *lwt.Error
			if !errors.As(err, &one) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCompileTakesDotsThatAreText(t *testing.T) {
	for _, prompt := range []string{
		`Which mention "wow..."? 1={(context)}[1], 2={(context)}[2]`,
		`Find " ... ". 1={(context)}[1]`,
		`1={(context)}[1]. Reply as [3, 1, ...]`,
	} {
		p := &lwt.Program{Steps: []lwt.Step{{ID: "final", Prompt: prompt}}}
		if _, err := lwt.Compile(p, nil); err != nil {
			t.Errorf("%q: %v", prompt, err)
		}
	}
}

func TestPlanIsTheGraph(t *testing.T) {
	p, err := lwt.Parse(`(final)=LLM("{(m)}{(c1)}{(m)}")
(c1)=LLM("1")
(m)=LLM("{(c2)} {(c1)}")
(c2)=LLM("2")`)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := lwt.Compile(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]int{{1, 3}, {2}, {0}}; !reflect.DeepEqual(plan.Layers, want) {
		t.Errorf("layers %v, want %v", plan.Layers, want)
	}
	if got := plan.Steps[0]; plan.Sink() != 0 || got.Layer != 2 || !reflect.DeepEqual(got.Needs, []int{1, 2}) {
		t.Errorf("sink %d, final %+v", plan.Sink(), got)
	}
	if got := plan.Steps[1].UsedBy; !reflect.DeepEqual(got, []int{0, 2}) {
		t.Errorf("c1 is used by %v", got)
	}
}

func TestUnlisted(t *testing.T) {
	for prompt, want := range map[string][]int{
		"nothing":         nil,
		"{(query)}":       nil,
		"{(context)}":     nil,
		"{(items)}[0][a]": {1, 2, 3, 4},
		"{(context)}[2] {(input)}[4] {(items)}[4] {(context)}[9]": {1, 3},
		"{(context)}[1:3]":                    {3, 4},
		"{(context)}[3:]":                     {1, 2},
		"{(context)}[:2] {(context)}['x']":    {2, 3, 4},
		"{(context)}[1:99999999999999999999]": nil,
	} {
		plan, err := lwt.Compile(&lwt.Program{Steps: []lwt.Step{{ID: "final", Prompt: prompt}}}, nil)
		if err != nil {
			t.Errorf("%q: %v", prompt, err)
			continue
		}
		if got := plan.Unlisted(0, 4); !reflect.DeepEqual(got, want) {
			t.Errorf("%q leaves out %v, want %v", prompt, got, want)
		}
	}
}

// TestHostileProgramsAreCheap feeds what would be quadratic to a careless
// parser.
func TestHostileProgramsAreCheap(t *testing.T) {
	for _, src := range []string{
		`(final)=LLM("` + strings.Repeat(`{(query)}['`, 10_000) + `")`,
		`(final)=LLM("` + strings.Repeat(`{(`, 30_000) + `")`,
		strings.Repeat("(", 1_000_000),
		strings.Repeat("#\n", 500_000),
		`(final)=LLM("` + strings.Repeat(`{(context)}[1] ... `, 20_000) + `")`,
	} {
		took := methodtest.CPU(func() {
			if p, err := lwt.Parse(src); err == nil {
				_, _ = lwt.Compile(p, nil) // faults are expected, slowness is not
			}
		})
		if took > 5*time.Second {
			t.Errorf("%.40q: took %v", src, took)
		}
	}
}
