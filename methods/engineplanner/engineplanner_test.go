package engineplanner

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/methods/workflow"
)

const domain = `{"fallback":"search_logs","severities":["INFO","ERROR"],
"entities":{"cm_mac":{"aliases":["cm","cms"],"column":"cm"}},
"workflows":{
 "count_all":{"description":"all","steps":[{"tool":"search_logs"},{"tool":"get_log_count"}],"template":"Found {count} total logs in the system."},
 "search_logs":{"description":"search","steps":[{"tool":"search_logs","params":{"value":"<search_value>"}}],"template":"{count} of '{search_value}'"},
 "find_relationship":{"description":"related","steps":[{"tool":"search_logs","params":{"value":"<search_value>"}},{"tool":"extract_entities","params":{"entity_types":"<entity_types>"}}],"template":"Found {entity_count} {entity_type} connected to {search_value}: {entity_list}"}}}`

// logs is a toolbox whose log has three records.
type logs struct{ calls []string }

func (l *logs) CallTool(_ context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	l.calls = append(l.calls, c.Name+string(c.Arguments))
	switch c.Name {
	case "extract_entities":
		return methods.ToolResult{Content: `{"count":3,"entities":{"cm_mac":["b","a","X"]}}`}, nil
	case "broken":
		return methods.ToolResult{Content: "the log cannot be read", IsError: true}, nil
	}
	return methods.ToolResult{Content: `{"count":3,"selection":{"values":["X"]}}`}, nil
}

func problem(kind methods.AnswerKind, context string) methods.Problem {
	spec := func(name, properties, required string) methods.ToolSpec {
		return methods.ToolSpec{Name: name, Pure: true, Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `"selection":{"type":"object"}},"required":[` + required + `]}`)}
	}
	return methods.Problem{ID: "1", Query: "find all cms connected to rpd MAWED07T01", Context: json.RawMessage(context), Answer: methods.AnswerSpec{Kind: kind},
		Tools: []methods.ToolSpec{spec("search_logs", `"value":{},`, ""), spec("get_log_count", "", ""), spec("extract_entities", `"entity_types":{},`, `"entity_types"`), spec("broken", "", "")}}
}

func try(t *testing.T, kind methods.AnswerKind, context, reply string) (methods.Answer, *logs, *methodtest.Host) {
	t.Helper()
	box := &logs{}
	host := methodtest.NewHost(methodtest.Reply(reply), methodtest.WithTools(box))
	a, err := New().Solve(t.Context(), problem(kind, context), host)
	if err != nil {
		t.Fatal(err)
	}
	return a, box, host
}

func evaluated(kind, value, entities string, count bool) string {
	return fmt.Sprintf(`{"query_type":%q,"search_value":%q,"entity_types":[%s],"filters":{"severity":[],"time":{"start":"","end":""}},"needs_count":%v,"needs_display":false}`, kind, value, entities, count)
}

func TestOneCallAndAWorkflow(t *testing.T) {
	for name, c := range map[string]struct {
		kind          methods.AnswerKind
		reply         string
		value, worded string
		tools         string
	}{
		"which":    {methods.Set, evaluated("find_relationship", "X", `"cms"`, false), `["a","b"]`, "Found 2 cm_mac connected to X: a, b", `search_logs{"value":"X"} extract_entities{"entity_types":["cm_mac"],"selection":{"values":["X"]}}`},
		"how many": {methods.Number, evaluated("find_relationship", "X", `"cm_mac"`, true), "2", "", ""},
		"count":    {methods.Number, evaluated("count_all", "", "", true), "3", "Found 3 total logs in the system.", `search_logs{} get_log_count{"selection":{"values":["X"]}}`},
		"worded":   {methods.Text, evaluated("search_logs", "X", "", false), `"3 of 'X'"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, box, host := try(t, c.kind, domain, c.reply)
			if a.Outcome != methods.Answered || string(a.Value) != c.value {
				t.Errorf("answer %s %s (%s), want %s", a.Outcome, a.Value, a.Reason, c.value)
			}
			if words, _ := a.InWords(); c.worded != "" && words != c.worded {
				t.Errorf("worded %q, want %q", words, c.worded)
			}
			if got := strings.Join(box.calls, " "); c.tools != "" && got != c.tools {
				t.Errorf("tools %s, want %s", got, c.tools)
			}
			if n := len(host.Transcript().Calls); n != 1 {
				t.Errorf("%d model calls", n)
			}
		})
	}
}

func TestWhatGoesWrongIsFlagged(t *testing.T) {
	broken := strings.Replace(domain, `{"tool":"extract_entities","params":{"entity_types":"<entity_types>"}}`, `{"tool":"broken"}`, 1)
	for name, c := range map[string]struct {
		context, reply string
		outcome        methods.Outcome
		value, reason  string
	}{
		"no evaluation":          {domain, "I cannot say.", methods.Defaulted, "3", "basic search"},
		"an unknown type":        {domain, evaluated("guess", "X", "", true), methods.Defaulted, "3", "is not one of"},
		"an unknown entity":      {domain, evaluated("find_relationship", "X", `"toaster"`, true), methods.Defaulted, "3", "toaster"},
		"a fact that is missing": {domain, evaluated("find_relationship", "X", "", true), methods.Defaulted, "3", "needs entity types"},
		"a tool that fails":      {broken, evaluated("find_relationship", "X", `"cm"`, true), methods.Failed, "", "the log cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, _ := try(t, methods.Number, c.context, c.reply)
			if a.Outcome != c.outcome || string(a.Value) != c.value || !strings.Contains(a.Reason, c.reason) {
				t.Errorf("answer %s %s (%s), want %s %s (…%s…)", a.Outcome, a.Value, a.Reason, c.outcome, c.value, c.reason)
			}
		})
	}
}

// TestAFailedStepClaimsNothing holds the words of a workflow that failed to what its
// steps have done.
func TestAFailedStepClaimsNothing(t *testing.T) {
	const filter = `{"tool":"extract_entities","params":{"entity_types":"<entity_types>"}}`
	const claim = "Found {entity_count} {entity_type} connected to {search_value}: {entity_list}"
	broken := strings.Replace(strings.Replace(domain, filter, `{"tool":"broken"}`, 1), claim, "Found {count} INFO logs matching '{search_value}'", 1)
	want := "3 records match 'X'; then the workflow failed at step 2 (broken): the log cannot be read"
	a, _, _ := try(t, methods.Number, broken, evaluated("find_relationship", "X", "", true))
	if words, _ := a.InWords(); words != want || a.Value != nil || a.Outcome != methods.Failed {
		t.Errorf("a number: %q, value %s, outcome %s", words, a.Value, a.Outcome)
	}
	if a, _, _ = try(t, methods.Text, broken, evaluated("find_relationship", "X", "", true)); string(a.Value) != strconv.Quote(want) {
		t.Errorf("a text: %s", a.Value)
	}
	shows := []workflow.Step{{Tool: displayTool}}
	if !computed(shows) || computed(append(shows, workflow.Step{Tool: "broken"})) {
		t.Error("only the records to show may be missing from a value")
	}
}

// TestWords holds the answer in words to what the query wants to see.
func TestWords(t *testing.T) {
	three := int64(3)
	all := found{Count: &three, Logs: []string{"l1", "l2"}, Entities: map[string][]string{"cm_mac": {"a"}}}
	for name, c := range map[string]struct {
		template       string
		display, count bool
		have           found
		want           string
	}{
		"shown":               {"Found {count} logs of '{search_value}':\n{log_samples}", true, false, all, "Found 3 logs of 'X':\nl1\nl2\n… 1 more"},
		"not shown":           {"Found {count} logs of '{search_value}':\n{logs}", false, false, all, "Found 3 logs of 'X'."},
		"shown at the end":    {"Found {entity_count}: {entity_list}", true, false, all, "Found 1: a\nl1\nl2\n… 1 more"},
		"counted":             {"They are {entity_list}.", false, true, all, "They are a.\nCount: 1"},
		"nothing is left out": {"{severities} from {start} to {end}, {filter_type}", false, false, all, "any severity from the beginning to the end, any severity"},
		"unknown is not 0":    {"{count} logs, {entity_count}: {entity_list}", false, false, found{}, "unknown logs, unknown: unknown"},
		"no second filling":   {"{entity_list}", false, false, found{Entities: map[string][]string{"cm_mac": {"{count}"}}}, "{count}"},
	} {
		t.Run(name, func(t *testing.T) {
			e := evaluation{SearchValue: "X", EntityTypes: []string{"cm_mac"}, NeedsDisplay: c.display, NeedsCount: c.count}
			if got := worded(workflow.Workflow{Template: c.template}, e, c.have, wanted(e, c.have)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestWordsAreBounded fills a template of a stranger's with a stranger's log.
func TestWordsAreBounded(t *testing.T) {
	var have found
	for range 2000 {
		have.Logs = append(have.Logs, strings.Repeat("x\x00", 5000))
	}
	have.Entities = map[string][]string{"cm_mac": have.Logs}
	e := evaluation{SearchValue: have.Logs[0], EntityTypes: []string{"cm_mac"}, NeedsDisplay: true}
	got := worded(workflow.Workflow{Template: strings.Repeat("{logs}", 600)}, e, have, wanted(e, have))
	if len([]rune(got)) > maxWorded+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
	d := workflow.Domain{Fallback: "a", Workflows: map[string]workflow.Workflow{"a": {Template: strings.Repeat("{logs}", 700), Steps: []workflow.Step{{Tool: "x"}}}}}
	if faults := fmt.Sprint(d.Faults([]methods.ToolSpec{{Name: "x"}})); !strings.Contains(faults, "template: it has 4200 bytes") {
		t.Error(faults)
	}
}

// TestRecordsAreBroughtIfWanted adds the step that brings records to a workflow
// without it.
func TestRecordsAreBroughtIfWanted(t *testing.T) {
	s := &solver{}
	s.Tools = []methods.ToolSpec{{Name: displayTool}}
	w := workflow.Workflow{Steps: []workflow.Step{{Tool: "extract_entities"}}}
	if got := s.displaying(w, evaluation{NeedsDisplay: true}); len(got.Steps) != 2 || got.Steps[1].Tool != displayTool || len(w.Steps) != 1 {
		t.Errorf("steps %v of %v", got.Steps, w.Steps)
	}
	if got := s.displaying(w, evaluation{}); len(got.Steps) != 1 {
		t.Errorf("steps %v though nothing is to be shown", got.Steps)
	}
	s.Tools = nil
	if got := s.displaying(w, evaluation{NeedsDisplay: true}); len(got.Steps) != 1 {
		t.Errorf("steps %v without the tool", got.Steps)
	}
}

// TestATypeOfQueryIsDataAlone adds seed 004's timeline without touching code.
func TestATypeOfQueryIsDataAlone(t *testing.T) {
	with := strings.Replace(domain, `"workflows":{`, `"workflows":{"timeline":{"description":"between times","steps":[{"tool":"search_logs","params":{"value":"<search_value>"}},{"tool":"get_log_count"}],"template":"Timeline of {count} logs from {start} to {end}"},`, 1)
	reply := strings.Replace(evaluated("timeline", "X", "", true), `"start":"","end":""`, `"start":"2024","end":"2025"`, 1)
	a, _, _ := try(t, methods.Text, with, reply)
	if string(a.Value) != `"Timeline of 3 logs from 2024 to 2025"` {
		t.Errorf("answer %s (%s)", a.Value, a.Reason)
	}
}

func TestWorkflowsWithFaultsAreRefused(t *testing.T) {
	for _, bad := range []string{"{}", strings.Replace(domain, `"tool":"get_log_count"`, `"tool":"fly"`, 1), strings.Replace(domain, "{entity_list}", "{nothing}", 1),
		strings.Replace(domain, `"value":"<search_value>"`, `"colour":"<search_value>"`, 1), strings.Replace(domain, "<entity_types>", "<what>", 1), strings.Replace(domain, `"fallback":"search_logs"`, `"fallback":"x"`, 1)} {
		if _, err := New().Solve(t.Context(), problem(methods.Number, bad), methodtest.NewHost(methodtest.Reply("{}"))); err == nil || !strings.Contains(err.Error(), "read workflows") {
			t.Errorf("%.60s gives %v", bad, err)
		}
	}
}

// TestMostFrequent answers with one result of a workflow instead of its words, and
// leaves out a step whose fact the query does not name.
func TestMostFrequent(t *testing.T) {
	tools := []methods.ToolSpec{{Name: "filter", Parameters: json.RawMessage(`{"properties":{"severities":{}},"required":["severities"]}`)}, {Name: "aggregate"}}
	w := workflow.Workflow{
		Steps: []workflow.Step{{Tool: "filter", Params: map[string]any{"severities": "<severities>"}, Optional: true}, {Tool: "aggregate"}},
		Value: "top_entity", Template: "{top_entity} is in {top_count} records",
	}
	have := found{Entities: map[string][]string{"host": {"a", "b", "c"}}, Counts: map[string]map[string]int64{"host": {"a": 2, "b": 5, "c": 5}}}
	e := evaluation{EntityTypes: []string{"host"}}
	s := &solver{}
	s.Tools = tools
	if got := s.needed(w, e); len(got.Steps) != 1 || len(w.Steps) != 2 {
		t.Errorf("without a severity: steps %v", got.Steps)
	}
	e.Filters.Severity = []string{"ERROR"}
	if got := s.needed(w, e); len(got.Steps) != 2 {
		t.Errorf("with a severity: steps %v", got.Steps)
	}
	for kind, want := range map[methods.AnswerKind]string{methods.Text: `"b, c"`, methods.Set: `["b","c"]`} {
		s.Answer.Kind = kind
		a := s.answer(w, e, have, "")
		if string(a.Value) != want || a.Evidence[0].Text != "b, c is in 5 records" {
			t.Errorf("%s: %s with %v", kind, a.Value, a.Evidence)
		}
	}
}
