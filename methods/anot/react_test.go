package anot_test

import (
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/anot"
	"noema/methods/anot/internal/lwt"
	"noema/methods/methodtest"
)

// turns runs phase 2 with the given replies and returns what the model was
// told after each, and the calls of the trial.
func turns(t *testing.T, options string, replies ...string) ([]string, methods.Answer, methodtest.Transcript) {
	t.Helper()
	s := with(script{phase2: "-"})
	for i, r := range replies {
		s["P2/i"+string(rune('1'+i))] = r
	}
	a, log, err := solve(t, problem(options), s)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, c := range log.Calls {
		if strings.HasPrefix(c.Request.Path, "P2/") && c.Request.Path != "P2/i1" {
			told = append(told, c.Request.Messages[len(c.Request.Messages)-1].Content)
		}
	}
	return told, a, log
}

func TestCallsRunInTextualOrder(t *testing.T) {
	told, a, _ := turns(t, "",
		"First a look.\nread(\"items[1].name\")\n"+calls(last)+`lwt_insert(1, "(x)=LLM('y')")`+"\nlwt_list()\nlwt_delete(1)\n"+
			"Action: lwt_set(1, \""+escape.Replace(last)+"\")\nlwt_list()",
		"1. lwt_insert(1, \""+escape.Replace(c1)+"\")\n2. `lwt_insert(2, \""+escape.Replace(c2)+"\")`\n- done()")
	want := `OBSERVATIONS:
1. read("items[1].name"): Ada's
2. lwt_insert(1): ok, steps: 1
3. lwt_insert(1): ok, steps: 2
4. lwt_list(): 
  1: (x)=LLM("y")
  2: (final)=LLM("Rank the items 1 to 3.\n{(query)} {(c1)} {(c2)}")
5. lwt_delete(1): ok, steps: 1
6. lwt_set(1): ok, steps: 1
7. lwt_list(): 
  1: (final)=LLM("Rank the items 1 to 3.\n{(query)} {(c1)} {(c2)}")
`
	if len(told) != 1 || told[0] != want {
		t.Errorf("told %s\nwant %s", told, want)
	}
	if a.Outcome != methods.Answered {
		t.Errorf("answer %+v", a)
	}
}

func TestRefusedCalls(t *testing.T) {
	for name, c := range map[string]struct{ reply, want string }{
		"prose":            {"I would call done() now, or read(\"items\").", "holds no tool call"},
		"empty reply":      {"", "holds no tool call"},
		"done too early":   {"done()", "there is no step (final)"},
		"unknown variable": {calls("(final)=LLM('{(c9)}')") + "done()", "{(c9)} refers to no step"},
		"same id":          {calls(last, last), "step 1 has the id final already"},
		"not a step":       {`lwt_insert(1, "c1: check")`, `want "("`},
		"two steps":        {`lwt_insert(1, "(a)=LLM('x')\n(b)=LLM('y')")`, "want one step"},
		"bare quote":       {`lwt_insert(1, "(a)=LLM("x")")`, "needs a backslash"},
		"no end":           {`lwt_insert(1, "(a)=LLM('x')`, "no closing"},
		"no end at all":    {`lwt_insert(1,`, "the call has no end"},
		"word argument":    {`lwt_insert(one, "(a)=LLM('x')")`, "want a number or a string"},
		"position":         {`lwt_insert(3, "(a)=LLM('x')")`, "position 3 is not within 1..1"},
		"swapped":          {`lwt_insert("(a)=LLM('x')", 1)`, "want the step as a string"},
		"one argument":     {`lwt_insert(1)`, "want a position and a step"},
		"empty delete":     {`lwt_delete(1)`, "the LWT has no steps"},
		"no position":      {`lwt_delete()`, "want a position"},
		"no path":          {`read()`, "want one path"},
		"number as path":   {`read(1)`, "want the path as a string"},
		"bad path":         {`read("items[")`, "cannot read"},
		"no such path":     {`read("items[9].name")`, "nothing at this path"},
		"item 0":           {`read("items[0].name")`, "nothing at this path"},
		"huge position":    {`lwt_delete(99999999999999999999)`, "want a number"},
	} {
		t.Run(name, func(t *testing.T) {
			told, a, log := turns(t, "", c.reply, "lwt_list()\nlwt_delete(1)\nlwt_delete(1)\n"+calls(c1, c2, last)+"done()")
			if len(told) != 1 || !strings.Contains(told[0], c.want) {
				t.Errorf("told %q, want %q", told, c.want)
			}
			if a.Outcome != methods.Answered || len(texts(log, methods.StepError)) == 0 {
				t.Errorf("answer %+v", a)
			}
		})
	}
}

func TestDoneWarnsOnceOfItemsLeftOut(t *testing.T) {
	short := strings.Replace(c1, `\n3: {(context)}[3][attributes][WiFi]`, "", 1)
	told, a, log := turns(t, "", calls(short, c2, last)+"done()", "done()\ndone()\nlwt_delete(1)")
	if len(told) != 1 || !strings.Contains(told[0], "step c1 leaves out the items [3]") {
		t.Errorf("told %q", told)
	}
	if a.Outcome != methods.Answered {
		t.Errorf("answer %+v", a)
	}
	dropped := strings.Join(texts(log, methods.Dropped), "; ")
	if !strings.Contains(dropped, "step c1 leaves out 1 of 3") || !strings.Contains(dropped, "2 calls after done()") {
		t.Errorf("dropped: %s", dropped)
	}
}

func TestReadsAreCutAndSaySo(t *testing.T) {
	told, _, log := turns(t, `{"read_chars":10}`, `read("friends")`, calls(c1, c2, last)+"done()")
	if len(told) != 1 || !strings.Contains(told[0], `{"Kevin":[ (cut: the first 10 of`) {
		t.Errorf("told %q", told)
	}
	if len(texts(log, methods.Truncated)) == 0 {
		t.Error("no event")
	}
}

// TestPromptShowsWhatTheCompilerWrites holds the example of the prompt to the
// form that the deterministic builder writes, so that the two builders differ
// in who writes and not in what is written.
func TestPromptShowsWhatTheCompilerWrites(t *testing.T) {
	const two = `===STRATEGY===
1. [ATTR] attributes.Delivery = True
2. [SOCIAL] reviews by friends(Maria, 1) mention "tapas"
LOGIC: AND(1, NOT(2))
`
	p := problem(`{"builder":"compiled"}`)
	p.Answer.N, p.Answer.K = 2, 2
	p.Context = []byte(`{"items":[{},{}],"friends":{"Maria":["Bo"]}}`)
	model := with(script{phase1: two, "Rank the items 1 to 2.": "[1]"})
	_, log, err := solve(t, p, model)
	if err != nil {
		t.Fatal(err)
	}
	_, program, err := solvePlan(log)
	if err != nil {
		t.Fatal(err)
	}
	p.Options = nil
	_, log, err = solve(t, p, with(script{phase1: two, phase2: "-", "P2/i1": "done()", "Rank the items 1 to 2.": "[1]"}))
	if err == nil {
		t.Fatal("phase 2 has no reply for its second turn, want an error")
	}
	prompt := log.Calls[1].Request.Messages[0].Content
	for _, s := range program.Steps {
		if !strings.Contains(prompt, s.String()) {
			t.Errorf("the prompt does not show %s", s)
		}
	}
}

// solvePlan reads the LWT from the events.
func solvePlan(log methodtest.Transcript) (string, *lwt.Program, error) {
	for _, e := range log.Events {
		if e.Kind == methods.Plan && e.Path == "P2" {
			src := field(e.Data, "lwt")
			p, err := lwt.Parse(src)
			return src, p, err
		}
	}
	return "", nil, errNoPlan
}

func TestCompiledProgramsAreValid(t *testing.T) {
	// Patterns and names that look like the language itself.
	text := `===STRATEGY===
1. [REVIEW_TEXT] reviews mention "so ... {(c2)} \" \\ {(nope)} ]"
2. [SOCIAL] reviews by friends("K, \"[x]\" {(c1)}", 2) mention "…"
3. [ATTR] attributes["a.b [c]"] = "x"
LOGIC: OR(1, 2, 3)
`
	a, log, err := solve(t, problem(`{"builder":"compiled"}`), with(script{phase1: text}))
	if err != nil || a.Outcome != methods.Answered {
		t.Errorf("got %+v, %v", a, err)
	}
	for _, c := range log.Calls {
		if c.Request.Path == "P3/c1" && !strings.Contains(c.Request.Messages[0].Content, `{ (c2)}`) {
			t.Errorf("prompt %s", c.Request.Messages[0].Content)
		}
	}
	if _, err := anot.ParseStrategy(text, 3); err != nil {
		t.Error(err)
	}
}
