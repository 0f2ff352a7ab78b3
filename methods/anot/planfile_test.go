package anot_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"noema/methods/anot"
	"noema/methods/methodtest"
)

// requests are the calls of phase 3.
func requests(log methodtest.Transcript) map[string]string {
	sent := map[string]string{}
	for _, c := range log.Calls {
		if strings.HasPrefix(c.Request.Path, "P3/") {
			sent[c.Request.Path] = c.Request.Messages[0].Content
		}
	}
	return sent
}

// A plan that is exported and read back sends what its trial sent, and no more.
func TestPlanRoundTrip(t *testing.T) {
	a, log, err := solve(t, problem(""), working())
	if err != nil {
		t.Fatal(err)
	}
	p, err := anot.Method{}.PlanOf(log.Events)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if p, err = anot.ReadPlan(raw); err != nil {
		t.Fatal(err)
	}
	pr := problem("")
	if faults, notes := p.Check(&pr); faults != nil || notes != nil {
		t.Errorf("%v %v", faults, notes)
	}
	h := methodtest.NewHost(working())
	b, err := p.Run(t.Context(), pr, h, nil)
	if err != nil || string(a.Value) != string(b.Value) || !reflect.DeepEqual(requests(log), requests(h.Transcript())) || len(h.Transcript().Calls) != 3 {
		t.Errorf("%s %s %v: %+v", a.Value, b.Value, err, h.Transcript().Calls)
	}
	g := p.Graph()
	if len(g.Nodes) != 3 || len(g.Edges) != 2 || g.Nodes[0].State != "" {
		t.Errorf("%+v", g)
	}
}

// A strategy alone is compiled.
func TestStrategyAlone(t *testing.T) {
	raw, _ := json.Marshal(map[string]any{"kind": "lwt", "version": 1, "strategy": strings.Split(strategyReply, "\n")})
	options, _ := json.Marshal(map[string]string{"lwt": string(raw)})
	a, log, err := solve(t, problem(string(options)), working())
	if err != nil || string(a.Value) != "[2,1]" || len(log.Calls) != 3 {
		t.Errorf("%s %v after %d calls", a.Value, err, len(log.Calls))
	}
}

func TestPlanFaults(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"text":     {"(a)=LLM(\"x\"\n(b)=LLM(\"é {(c)} {(\")\n(b)=LLM('y')\n\n (d)=LLM(z)\n", `2:1: step a: want ")"|3:1: step b: the id is taken|5:10: step d: want a prompt`},
		"compiled": {"# two\n(a)=LLM('{(friends)} {(nobody)}')\n(final)=LLM('x')", `2:1: step a: {(nobody)} refers to|2:1: step a: no step uses its output`},
		"json":     {"{\"kind\":\"lwt\",\"version\":1,\n \"lwt\":[\"(a)=LLM(\\\"x\",\n \"é\\u00e9\\\" oops)\",\"(final)=LLM(q)\"],\n \"strategy\":[\"===STRATEGY===\",\"1. [ATR] x = 1\",\n\"LOGIC: 2)\"]}", `3:13: step a: want ")"|3:33: step final: want a prompt|4:32: strategy: condition 1: unknown type|5:2: strategy: LOGIC:`},
	} {
		p, err := anot.ReadPlan([]byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		pr := problem("")
		faults, _ := p.Check(&pr)
		want := strings.Split(c.want, "|")
		if len(faults) != len(want) {
			t.Errorf("%s: %v", name, faults)
			continue
		}
		for i, f := range faults {
			if !strings.HasPrefix(f.Error(), want[i]) {
				t.Errorf("%s: %q, want %q", name, f, want[i])
			}
		}
	}
	for file, want := range map[string]string{
		`{"kind":"lwt","version":1}`:          "neither",
		`{"kind":"lwt","version":2,"lwt":[]}`: "version 2",
		"{\n \"kind\":\"lwt\",\n  oops":       "3:3",
		"{\"kind\":\"lwt\",\n \"steps\":[]}":  "2:2",
		`{"kind":"dag"}`:                      `"dag"`,
		`{"lwt":7}`:                           "1:",
	} {
		if _, err := anot.ReadPlan([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", file, err, want)
		}
	}
	if p, err := (anot.Method{}).PlanOf(nil); p != nil || err != nil {
		t.Error(p, err)
	}
}

// A plan with faults is not run.
func TestFaultyPlanAsksNothing(t *testing.T) {
	options, _ := json.Marshal(map[string]string{"lwt": "(a)=LLM('{(nobody)}')"})
	h := methodtest.NewHost(script{})
	_, err := anot.New().Solve(t.Context(), problem(string(options)), h)
	if err == nil || !strings.Contains(err.Error(), "nobody") || !strings.Contains(err.Error(), "no step (final)") || len(h.Transcript().Calls) > 0 {
		t.Errorf("%v", err)
	}
}

func FuzzReadPlan(f *testing.F) {
	f.Add([]byte(`{"kind":"lwt","version":1,"lwt":["(a)=LLM(\"x"]}`))
	f.Add([]byte("(final)=LLM('{(a)}')\n(a)=LLM(\"é\\\"\")"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := anot.ReadPlan(raw)
		if err != nil {
			return
		}
		pr := problem("")
		p.Check(&pr)
		p.Check(nil)
		p.Graph()
	})
}
