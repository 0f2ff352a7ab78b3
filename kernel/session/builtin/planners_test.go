package builtin_test

import (
	"bytes"
	"strings"
	"testing"

	"noema/kernel/session/builtin"
	"noema/methods/plans"
)

// read is a plan as the first method reads it that knows its form, and that form; nil if
// there is none.
func read(t *testing.T, raw []byte) (plans.File, string) {
	t.Helper()
	for _, m := range builtin.Planners() {
		p, err := m.ReadPlan(raw)
		if err != nil {
			t.Fatalf("%s: %v", m.PlanForm(), err)
		}
		if p != nil {
			return p, m.PlanForm()
		}
	}
	return nil, ""
}

// TestPlansAreTold: each form of a plan is read by its method, and what is written of it
// is read as the same.
func TestPlansAreTold(t *testing.T) {
	const atoms, lwt, seed = `the key "atoms"`, "an LWT", "a Formula Seed"
	for text, want := range map[string]string{
		`{"atoms": [{"id": 1, "kind": "final", "name": "answer", "input": {"answer": "<result_of_1>"}}]}`:                                                                        atoms,
		`{"from": {"run": "r", "task": "cafes", "sample": "R00", "seed": 18446744073709551615}, "atoms": [{"id": 1, "kind": "final", "name": "a", "input": {}}], "kind": "lwt"}`: atoms,
		`{"kind": "lwt", "version": 1, "lwt": ["(final)=LLM(\"a < b\")"]}`:                                                                                                       lwt,
		"# a comment\n(final)=LLM(\"x\")": lwt,
		`{"task_name": "t", "filter_keywords": ["k"], "extraction_fields": [], "compute_dag": [{"name": "n", "formula": "1 < 2"}], "output_fields": ["n"]}`: seed,
		`{}`: "", `[]`: "", `"hello"`: "", `hello`: "", ``: "",
	} {
		p, form := read(t, []byte(text))
		if !strings.HasPrefix(form, want) || (want == "") != (p == nil) {
			t.Errorf("%s: read as %q, want %q", text, form, want)
		}
		if p == nil {
			continue
		}
		once, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		p, _ = read(t, once)
		again, err := p.Encode()
		if err != nil || !bytes.Equal(once, again) {
			t.Errorf("%s is written as\n%s\nand then, %v, as\n%s", text, once, err, again)
		}
	}
}
