package lwt_test

import (
	"errors"
	"slices"
	"testing"

	"noema/methods/anot/internal/lwt"
)

func seeds() []string {
	return []string{
		`(c1)=LLM("a {(context)}[1][x]")` + "\n(final)=LLM('{(c1)}[0] {(query)}')",
		"# note\n(a.b)\n=\nLLM(\"x\\n\\\"y\\\"\n\")",
		`(1)=LLM("{(friends)}["O'Neil"][1:2]")`,
		"(a)=LLM('{(a)}')",
		"(a)=LLM(\"\xff\x00\\t\")",
		"(final)=LLM('1={(context)}[1], ... 9={(items)}[9]')",
	}
}

// FuzzParse checks that no text breaks the parser or anything after it, and
// that errors lie within the text.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	data, err := lwt.NewData("q", []byte(context))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src string) {
		p, err := lwt.Parse(src)
		if err != nil {
			var e *lwt.Error
			if !errors.As(err, &e) || e.Pos.Line < 1 || e.Pos.Col < 1 || e.Pos.Line > len(src)+1 || e.Pos.Col > len(src)+1 {
				t.Fatalf("Parse(%q): %v", src, err)
			}
			return
		}
		plan, err := lwt.Compile(p, data.Names())
		if err != nil {
			var fault *lwt.Error
			if !errors.As(err, &fault) {
				t.Fatalf("Compile(%q): %v", src, err)
			}
			return
		}
		for i := range plan.Steps {
			plan.Fill(i, data, func(string) string { return src })
			plan.Unlisted(i, 3)
		}
	})
}

// FuzzRoundTrip checks that printing a program and parsing it again changes
// nothing, from sources and from arbitrary prompts.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		programs := []*lwt.Program{{Steps: []lwt.Step{{ID: "a", Prompt: src}, {ID: "final", Prompt: "{(a)}" + src}}}}
		if p, err := lwt.Parse(src); err == nil {
			programs = append(programs, p)
		}
		for _, p := range programs {
			again, err := lwt.Parse(p.String())
			if err != nil {
				t.Fatalf("%q: %v", p.String(), err)
			}
			same := func(a, b lwt.Step) bool { return a.ID == b.ID && a.Prompt == b.Prompt }
			if !slices.EqualFunc(p.Steps, again.Steps, same) || again.String() != p.String() {
				t.Fatalf("%q became %q", p.String(), again.String())
			}
		}
		ref, err := lwt.ParsePath(lwt.Ref("x", src))
		if len(src) < 400 && (err != nil || len(ref.Path) != 1 || ref.Path[0].Key != src) {
			t.Fatalf("key %q is read as %+v", src, ref)
		}
	})
}
