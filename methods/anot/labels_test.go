package anot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/anot"
	"noema/methods/methodtest"
)

const labelStrategy = "===STRATEGY===\nCONDITIONS:\n  1. [LABEL] \"the data speaks for it\"\n  2. [LABEL] \"the data contradicts it\"\n\nLOGIC: AND(1, NOT(2))\nTOTAL_ITEMS: 3\n\n===MESSAGE===\n"

// labelProblem asks about labels beside a list "items" and a key that no reference
// can hold.
func labelProblem(spec methods.AnswerSpec, options string) methods.Problem {
	return methods.Problem{
		ID: "L1", Query: "how is it?", Seed: 7, Answer: spec, Options: json.RawMessage(options),
		Context: json.RawMessage(`{"items":["x"],"the review":"cold soup"}`),
	}
}

func labelled(final string) script {
	return script{phase1: labelStrategy, "P3/c1": "[2, 3]", "P3/c2": "[3]", "P3/final": final}
}

func TestLabelsAreItems(t *testing.T) {
	labels := []string{"good", "bad", "ugly"}
	choice := methods.AnswerSpec{Kind: methods.Choice, Labels: labels}
	set := methods.AnswerSpec{Kind: methods.Set, Labels: labels}
	verdict := methods.AnswerSpec{Kind: methods.Fields, Labels: labels, Names: []string{"n", methods.Verdict}}
	for _, c := range []struct {
		spec    methods.AnswerSpec
		final   string
		want    string
		outcome methods.Outcome
	}{
		{choice, "[2, 1, 3]", `"bad"`, methods.Answered},
		{choice, "Label 2 fits, I think.", ``, methods.Unparsed},
		{choice, "best:\n2", `"bad"`, methods.Answered},
		{set, "[3, 2]", `["bad","ugly"]`, methods.Answered},
		{set, "None of them: [ ]", `[]`, methods.Answered},
		{set, "none", ``, methods.Unparsed},
		{verdict, "[2, 1]", `{"verdict":"bad"}`, methods.Answered},
	} {
		a, log, err := solve(t, labelProblem(c.spec, `{"builder":"compiled","retries":0}`), labelled(c.final))
		if err != nil || string(a.Value) != c.want || a.Outcome != c.outcome {
			t.Errorf("%s of %q: %s %s %s, %v", c.spec.Kind, c.final, a.Value, a.Outcome, a.Reason, err)
		}
		prompts := map[string]string{}
		for _, call := range log.Calls {
			prompts[call.Request.Path] = call.Request.Messages[0].Content
		}
		for _, shown := range []string{"the_review: cold soup", "listed_items: [\"x\"]", "1: good\n2: bad\n3: ugly"} {
			if !strings.Contains(prompts["P3/c1"], shown) {
				t.Errorf("%s: the step does not show %q:\n%s", c.spec.Kind, shown, prompts["P3/c1"])
			}
		}
		leaves := slices.ContainsFunc(log.Events, func(e methods.Event) bool { return strings.Contains(e.Text, "count as wrong: n") })
		if leaves != (c.spec.Kind == methods.Fields) {
			t.Errorf("%s: events %+v", c.spec.Kind, log.Events)
		}
	}
}

// Phase 2 with a model: what its prompt shows as an example is itself an LWT.
func TestLabelsByReAct(t *testing.T) {
	model := labelled("[1]")
	model[phase2] = calls(
		`(c1)=LLM('{(query)} {(the_review)}\n1: {(context)}[1]\n2: {(context)}[2]\n3: {(context)}[3]')`,
		`(final)=LLM('{(c1)}')`) + "done()"
	a, log, err := solve(t, labelProblem(methods.AnswerSpec{Kind: methods.Choice, Labels: []string{"a", "b", "c"}}, ""), model)
	if err != nil || string(a.Value) != `"a"` {
		t.Fatalf("%s %s %v", a.Value, a.Reason, err)
	}
	prompt := log.Calls[1].Request.Messages[0].Content
	_, example, _ := strings.Cut(prompt, "the steps would be:\n")
	example, _, _ = strings.Cut(example, "\n\nTools")
	p, err := anot.ReadPlan([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if faults, _ := p.Check(nil); len(faults) > 0 {
		t.Errorf("the example has faults: %v\n%s", faults, example)
	}
}

func TestWithoutLabelsIsRefused(t *testing.T) {
	d := anot.Method{}.Describe()
	for _, spec := range []methods.AnswerSpec{{Kind: methods.Number}, {Kind: methods.Text}, {Kind: methods.Set}, {Kind: methods.Fields, Names: []string{"a"}}, {Kind: methods.Choice}} {
		if d.CanAnswer(spec) && spec.Kind != methods.Choice {
			t.Errorf("Describe says that it answers %+v", spec)
		}
		h := methodtest.NewHost(script{})
		if _, err := anot.New().Solve(t.Context(), labelProblem(spec, ""), h); err == nil || len(h.Transcript().Calls) > 0 {
			t.Errorf("%s: %v", spec.Kind, err)
		}
	}
}
