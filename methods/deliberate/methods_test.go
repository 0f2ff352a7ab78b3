package deliberate_test

import (
	"errors"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/deliberate"
	"noema/methods/methodtest"
)

func paths(log methodtest.Transcript) string {
	var all []string
	for _, c := range log.Calls {
		all = append(all, c.Request.Path)
	}
	return strings.Join(all, " ")
}

// TestTreeOfThoughts: the states with the largest values are kept, of equal ones the
// first; a state with an answer stays without being judged again; the best answers.
func TestTreeOfThoughts(t *testing.T) {
	s := &script{other: `{"value": "likely"}`, replies: map[string]string{
		"depth/1/s1": `{"next": ["a", "b", "c"]}`, "depth/1/judge/v2": `{"value": "impossible"}`, "depth/1/judge/v3": `{"value": "sure"}`,
		"depth/2/s1": `{"next": ["Answer: 3"]}`, "depth/2/s2": `{"next": ["a2", "a3"]}`, "depth/2/judge/v2": `{"value": "impossible"}`,
		"depth/3/s2": `{"next": ["Answer: 4"]}`, "depth/3/judge/v1": `{"value": "sure"}`,
	}}
	a, log := solve(t, deliberate.TreeOfThoughts(), `{"breadth":2,"width":3,"depth":3}`, s)
	if string(a.Value) != "4" {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
	if p := s.asked["depth/2/s1"]; !strings.Contains(p, "<steps>\nc\n</steps>") {
		t.Errorf("the best state is not the first: %s", p)
	}
	if p := s.asked["depth/2/s2"]; !strings.Contains(p, "<steps>\na\n</steps>") {
		t.Errorf("the state likely right is not the second: %s", p)
	}
	if _, again := s.asked["depth/3/judge/v2"]; again {
		t.Error("a state with a value is judged again")
	}
}

// TestTreeByVotes: the state with most votes is pursued, and continued where no step is
// left.
func TestTreeByVotes(t *testing.T) {
	s := &script{other: `{"best": 2}`, replies: map[string]string{"depth/1/s1": `{"next": ["a", "b"]}`, "finish": "Answer: 7", "depth/1/judge/n1": `{"best": 1}`}}
	a, _ := solve(t, deliberate.TreeOfThoughts(), `{"judge":"vote","votes":3,"depth":1}`, s)
	if string(a.Value) != "7" || !strings.Contains(s.asked["finish"], "<steps>\nb\n</steps>") {
		t.Errorf("got %s from %s", a.Value, s.asked["finish"])
	}
	h := methodtest.NewHost(s)
	p := methods.Problem{Query: "?", Answer: methods.AnswerSpec{Kind: methods.Number}, Options: []byte(`{"judge":"vote","search":"depth"}`)}
	if _, err := deliberate.TreeOfThoughts().Solve(t.Context(), p, h); err == nil || len(h.Transcript().Calls) > 0 {
		t.Errorf("votes depth first: %v", err)
	}
}

// TestTreeDepthFirst: the search leaves a branch whose states are impossible and goes on
// with the next best.
func TestTreeDepthFirst(t *testing.T) {
	s := &script{other: `{"value": "likely"}`, replies: map[string]string{
		"visit/1": `{"next": ["a", "b"]}`, "visit/1/judge/v2": `{"value": "sure"}`,
		"visit/2": `{"next": ["b1", "b2"]}`, "visit/2/judge/v1": `{"value": "impossible"}`, "visit/2/judge/v2": `{"value": "impossible"}`,
		"visit/3": `{"next": ["Answer: 9"]}`,
	}}
	a, log := solve(t, deliberate.TreeOfThoughts(), `{"search":"depth"}`, s)
	if string(a.Value) != "9" || !strings.Contains(s.asked["visit/3"], "<steps>\na\n</steps>") {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
}

// TestGraphOfThoughts: the best thought on each part is merged, the better merger kept
// and refined.
func TestGraphOfThoughts(t *testing.T) {
	s := &script{other: `{"value": "likely"}`, replies: map[string]string{
		"split": `{"parts": ["pens", "books"]}`, "part/1/b1": "2 pens", "part/1/b2": "3 pens", "part/1/judge/v2": `{"value": "sure"}`,
		"part/2/b1": "4 books", "part/2/b2": "5 books", "part/2/judge/v2": `{"value": "impossible"}`,
		"merge/b1": "Answer: 6", "merge/b2": "Answer: 8", "merge/judge/v2": `{"value": "sure"}`,
		"round/1/check": `{"faults": ["3 and 4 are 7"]}`, "round/1/refine": "Answer: 7",
	}}
	a, log := solve(t, deliberate.GraphOfThoughts(), "", s)
	if string(a.Value) != "7" || !strings.Contains(s.asked["merge/b1"], "<parts>\n[1]\npens\n3 pens\n[2]\nbooks\n4 books\n</parts>") || !strings.Contains(s.asked["round/1/check"], "Answer: 8") {
		t.Errorf("got %s after %s: %s", a.Value, paths(log), s.asked["merge/b1"])
	}
	whole := &script{other: `{"faults": []}`, replies: map[string]string{"split": `{"parts": []}`, "merge/b1": "Answer: 1"}}
	if a, log := solve(t, deliberate.GraphOfThoughts(), `{"branch":1}`, whole); string(a.Value) != "1" || paths(log) != "merge/b1 round/1/check split" {
		t.Errorf("a question that has no parts: %s after %s", a.Value, paths(log))
	}
}

// TestMonteCarlo: a branch that is rewarded is visited again, and the answer with the
// largest sum of rewards wins.
func TestMonteCarlo(t *testing.T) {
	s := &script{other: `{"value": "impossible"}`, replies: map[string]string{
		"simulation/1/expand": `{"next": ["a", "b"]}`, "simulation/1/g1": "Answer: 1", "simulation/1/g2": "Answer: 2", "simulation/1/g2/judge": `{"value": "sure"}`,
		"simulation/2/expand": `{"next": ["Answer: 2", "b2"]}`, "simulation/2/g1/judge": `{"value": "likely"}`, "simulation/2/g2": "Answer: 1",
		"simulation/3/expand": `{"next": ["a1"]}`, "simulation/3/g1": "Answer: 1",
	}}
	a, log := solve(t, deliberate.MonteCarlo(), `{"simulations":2}`, s)
	if string(a.Value) != "2" || !strings.Contains(s.asked["simulation/2/expand"], "<steps>\nb\n</steps>") {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
	if _, log = solve(t, deliberate.MonteCarlo(), `{"simulations":3,"explore":100}`, s); !strings.Contains(s.asked["simulation/3/expand"], "<steps>\na\n</steps>") {
		t.Errorf("what was seldom visited is not explored: %s", paths(log))
	}
	if a, log := solve(t, deliberate.MonteCarlo(), `{"simulations":2,"trust":0}`, s); string(a.Value) != "1" && string(a.Value) != "2" || strings.Contains(paths(log), "judge") {
		t.Errorf("agreement alone: %s after %s", a.Value, paths(log))
	}
	one := &script{replies: map[string]string{"simulation/1/expand": `{"next": ["Answer: 3"]}`, "simulation/1/g1/judge": `{"value": "sure"}`}}
	if a, log := solve(t, deliberate.MonteCarlo(), `{"simulations":50}`, one); string(a.Value) != "3" || len(log.Calls) != 2 {
		t.Errorf("a tree without open leaves: %s after %s", a.Value, paths(log))
	}
}

func TestSelfRefine(t *testing.T) {
	s := &script{replies: map[string]string{
		"draft": "Answer: 1", "round/1/check": `{"faults": ["too small"]}`, "round/1/refine": "Answer: 2",
		"round/2/check": `{"faults": ["too small yet"]}`, "round/2/refine": "Answer: 3", "round/3/check": `{"faults": []}`,
	}}
	if a, _ := solve(t, deliberate.SelfRefine(), "", s); string(a.Value) != "3" {
		t.Errorf("got %s", a.Value)
	}
	if p := s.asked["round/2/refine"]; !strings.Contains(p, "<solution>\nAnswer: 2\n</solution>\n<faults>\ntoo small yet\n</faults>") {
		t.Errorf("refined by %s", p)
	}
	if a, log := solve(t, deliberate.SelfRefine(), `{"rounds":1}`, s); string(a.Value) != "2" || len(log.Calls) != 3 {
		t.Errorf("one round: %s after %s", a.Value, paths(log))
	}
	if a, log := solve(t, deliberate.SelfRefine(), `{"rounds":0}`, s); string(a.Value) != "1" || len(log.Calls) != 1 {
		t.Errorf("no round: %s after %s", a.Value, paths(log))
	}
	s.replies["round/1/refine"] = "I cannot."
	if a, log := solve(t, deliberate.SelfRefine(), `{"retries":0}`, s); string(a.Value) != "1" || a.Outcome != methods.Answered {
		t.Errorf("a refinement that cannot be read: %s after %s", a.Value, paths(log))
	}
}

func TestReflexion(t *testing.T) {
	s := &script{other: "Answer: 5", replies: map[string]string{}}
	for n, lesson := range map[string]string{"1": "count the pens", "2": "count the books", "3": "add both"} {
		s.replies["attempt/"+n+"/check"] = `{"faults": ["wrong"]}`
		s.replies["attempt/"+n+"/reflect"] = `{"lessons": ["` + lesson + `"]}`
	}
	s.replies["attempt/4"], s.replies["attempt/4/check"] = "Answer: 9", `{"faults": []}`
	a, log := solve(t, deliberate.Reflexion(), `{"trials":10,"memory":2}`, s)
	if string(a.Value) != "9" || len(log.Calls) != 3*3+2 || !strings.Contains(s.asked["attempt/4"], "<lessons>\n[1]\ncount the books\n[2]\nadd both\n</lessons>") {
		t.Errorf("got %s after %s: %s", a.Value, paths(log), s.asked["attempt/4"])
	}
	if a, log := solve(t, deliberate.Reflexion(), `{"trials":2}`, s); string(a.Value) != "5" || len(log.Calls) != 4 {
		t.Errorf("two attempts: %s after %s", a.Value, paths(log))
	}
}

// TestDebate: each agent sees its own reply apart from the others', and the majority of
// the last round answers.
func TestDebate(t *testing.T) {
	s := &script{replies: map[string]string{
		"answer/d1": "Answer: 1", "answer/d2": "Answer: 2", "answer/d3": "Answer: 3",
		"round/1/a1": "Answer: 2", "round/1/a2": "Answer: 2", "round/1/a3": "hm",
	}}
	a, log := solve(t, deliberate.Debate(), `{"rounds":1,"retries":0}`, s)
	if string(a.Value) != "2" || len(log.Calls) != 6 || !strings.Contains(s.asked["round/1/a2"], "<solution>\nAnswer: 2\n</solution>\n<solutions>\n[1]\nAnswer: 1\n[2]\nAnswer: 3\n</solutions>") {
		t.Errorf("got %s after %s: %s", a.Value, paths(log), s.asked["round/1/a2"])
	}
}

func TestMixtureOfAgents(t *testing.T) {
	s := &script{replies: map[string]string{
		"answer/d1": "Answer: 1", "answer/d2": "Answer: 2", "layer/2/a1": "Answer: 3", "layer/2/a2": "Answer: 4", "join": "Answer: 5",
	}}
	a, log := solve(t, deliberate.MixtureOfAgents(), `{"agents":2}`, s)
	if string(a.Value) != "5" || len(log.Calls) != 5 ||
		!strings.Contains(s.asked["layer/2/a2"], "[1]\nAnswer: 1\n[2]\nAnswer: 2\n") || !strings.Contains(s.asked["join"], "[1]\nAnswer: 3\n[2]\nAnswer: 4\n") {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
}

// TestBestOfN: by values, votes add up; by pairs, the one with most wins answers.
func TestBestOfN(t *testing.T) {
	s := &script{other: `{"value": "likely"}`, replies: map[string]string{
		"answer/d1": "Answer: 1", "answer/d2": "Answer: 2", "answer/d3": "hm", "answer/d4": "Answer: 4", "judge/v2/n2": `{"value": "sure"}`, "judge/v3/n1": `{"value": "impossible"}`,
	}}
	if a, log := solve(t, deliberate.BestOfN(), `{"draws":4,"votes":2}`, s); string(a.Value) != "2" || len(log.Calls) != 4+2*3 {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
	s.other, s.replies["pair/1-3"], s.replies["pair/2-3"] = `{"best": 1}`, `{"best": 2}`, `{"best": 2}`
	if a, log := solve(t, deliberate.BestOfN(), `{"draws":4,"judge":"pairs"}`, s); string(a.Value) != "4" || len(log.Calls) != 4+6 {
		t.Errorf("by pairs: %s after %s", a.Value, paths(log))
	}
}

func TestEscalate(t *testing.T) {
	s := &script{other: `{"faults": ["wrong"]}`, replies: map[string]string{
		"attempt/1": `{"answer": 1}`, "attempt/2": "Answer: 2", "answer/d1": "Answer: 3", "answer/d2": "Answer: 4", "answer/d3": "Answer: 4",
	}}
	if a, log := solve(t, deliberate.Escalate(), `{"draws":3}`, s); string(a.Value) != "4" || len(log.Calls) != 7 {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
	s.replies["attempt/1/check"] = `{"faults": []}`
	if a, log := solve(t, deliberate.Escalate(), "", s); string(a.Value) != "1" || len(log.Calls) != 2 {
		t.Errorf("a bare answer that passes: %s after %s", a.Value, paths(log))
	}
	s.replies["attempt/1/check"], s.replies["attempt/1"], s.replies["attempt/3"] = s.other, "Answer: 1", "Answer: 2"
	a, log := solve(t, deliberate.Escalate(), `{"by":"warming","tries":3,"temperature":0.5}`, s)
	var temperatures []float64
	for _, c := range log.Calls {
		if !strings.HasSuffix(c.Request.Path, "check") {
			temperatures = append(temperatures, c.Request.Sampling.Temperature)
		}
	}
	if string(a.Value) != "2" || len(temperatures) != 3 || temperatures[0] != 0 || temperatures[1] != 0.25 || temperatures[2] != 0.5 {
		t.Errorf("warming: %s at %v after %s", a.Value, temperatures, paths(log))
	}
}

// TestBudgetForcing: the model waits as often as it is told to, and no longer than its
// tokens last.
func TestBudgetForcing(t *testing.T) {
	s := &script{other: "Hm.", replies: map[string]string{"answer": "Answer: 6"}}
	a, log := solve(t, deliberate.BudgetForcing(), `{"waits":3}`, s)
	if string(a.Value) != "6" || paths(log) != "answer think/1 think/2 think/3 think/4" || !strings.HasPrefix(s.asked["think/4"], "Wait.") {
		t.Errorf("got %s after %s", a.Value, paths(log))
	}
	_, log = solve(t, deliberate.BudgetForcing(), `{"waits":3,"think":15,"max_tokens":100}`, s) // a thought takes 10
	if paths(log) != "answer think/1 think/2" || log.Calls[1].Request.Sampling.MaxTokens != 15 || log.Calls[2].Request.Sampling.MaxTokens != 5 || log.Calls[0].Request.Sampling.MaxTokens != 100 {
		t.Errorf("15 tokens of thought: %s, %+v", paths(log), log.Calls[1].Request.Sampling)
	}
}

// TestProgramAided: a program that fails goes back with its error, as does one that prints
// no answer; of several programs the majority answers.
func TestProgramAided(t *testing.T) {
	s := &script{replies: map[string]string{
		"program/1": "Here:\n```python\nboom\n```", "program/1/r1": "```\nprint(1)\n```", "program/1/r2": "```python\nprint('x')\n```\nor\n```python\nAnswer: 8\n```",
	}}
	run := func(options string) (methods.Answer, methodtest.Transcript) {
		h := methodtest.NewHost(s, methodtest.WithTools(player{}))
		p := methods.Problem{Query: "?", Answer: methods.AnswerSpec{Kind: methods.Number}, Options: []byte(options)}
		a, err := deliberate.ProgramAided().Solve(t.Context(), p, h)
		if err != nil {
			t.Fatal(err)
		}
		return a, h.Transcript()
	}
	a, log := run("")
	if string(a.Value) != "8" || len(log.Tools) != 3 || string(log.Tools[2].Call.Arguments) != `{"program":"Answer: 8"}` || !strings.Contains(s.asked["program/1/r1"], "the program failed: NameError") {
		t.Errorf("got %s after %s, %+v", a.Value, paths(log), log.Tools)
	}
	if a, _ := run(`{"retries":1}`); a.Outcome != methods.Refused || !strings.HasPrefix(a.Reason, "no valid plan") {
		t.Errorf("no program that runs: %+v", a)
	}
	s.replies = map[string]string{"program/1": "Answer: 1", "program/2": "Answer: 2", "program/3": "Answer: 2", "program/4": "no"}
	if a, log := run(`{"draws":4,"retries":0}`); string(a.Value) != "2" || log.Calls[1].Request.Sampling.Temperature != 0.7 {
		t.Errorf("of four programs: %s after %s", a.Value, paths(log))
	}
	h := methodtest.NewHost(s) // without the tool
	p := methods.Problem{Query: "?", Answer: methods.AnswerSpec{Kind: methods.Number}}
	if _, err := deliberate.ProgramAided().Solve(t.Context(), p, h); !errors.Is(err, methods.ErrUnknownTool) {
		t.Errorf("without Python: %v", err)
	}
}
