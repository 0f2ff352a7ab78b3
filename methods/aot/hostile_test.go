package aot_test

import (
	"fmt"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
	"noema/methods/methodtest"
)

// chain is a plan of n atoms, each made by of from the number of the one before.
func chain(n int, first string, of func(before int) string) string {
	atoms := []string{fmt.Sprintf(`{"id":1,%s}`, first)}
	for id := 2; id <= n; id++ {
		atoms = append(atoms, fmt.Sprintf(`{"id":%d,%s}`, id, of(id-1)))
	}
	return `{"atoms":[` + strings.Join(atoms, ",") + fmt.Sprintf(`,{"id":%d,"kind":"final","name":"r","input":{"answer":"<result_of_%d>"}}]}`, n+1, n)
}

func decision(name, input string) string {
	return `"kind":"decision","name":"` + name + `","input":` + input
}

// TestHostilePlans: plans that a model in a loop could write end soon, in a small
// memory, and with an outcome that says so.
func TestHostilePlans(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	ref := func(format string) func(int) string {
		return func(before int) string { return strings.ReplaceAll(format, "@", fmt.Sprintf("<result_of_%d>", before)) }
	}
	const n = 500
	many := strings.TrimSuffix(strings.Repeat("7,", 20_000), ",")
	for name, c := range map[string]struct {
		spec    methods.AnswerKind
		plan    string
		outcome methods.Outcome
		reason  string
	}{
		"lists in lists": {methods.Text, chain(n, decision("union", `{"lists":[[1]]}`), ref(decision("union", `{"lists":[["@"]]}`))), methods.Answered, ""},
		"doubling lists": {methods.Text, chain(n, decision("union", `{"lists":[[1]]}`), ref(decision("choose", `{"if":true,"then":["@","@"],"else":0}`))), methods.Failed, "filter more, or plan fewer atoms"},
		"doubling keys":  {methods.Text, chain(n, decision("choose", `{"if":true,"then":{},"else":{}}`), ref(decision("choose", `{"if":true,"then":{"a":"@","b":"@","c":"@"},"else":{"a":"@","b":"@","c":"@"}}`))), methods.Failed, "filter more, or plan fewer atoms"},
		"long numbers":   {methods.Number, chain(n, decision("product", `{"values":[1e150]}`), ref(decision("product", `{"values":["@","@"]}`))), methods.Failed, "want a decimal of at most"},
		"huge product":   {methods.Number, chain(1, decision("product", `{"values":[`+many+`]}`), nil), methods.Failed, "the number gets too long"},
		"huge ranking":   {methods.Ranking, chain(1, decision("rank", `{"lists":[[`+many+`]]}`), nil), methods.Answered, ""},
		"huge sets":      {methods.Set, chain(50, decision("union", `{"lists":[["x"],[`+strings.ReplaceAll(many, "7", `"y"`)+`]]}`), ref(decision("intersect", `{"lists":["@","@"]}`))), methods.Answered, ""},
		"bad pattern":    {methods.Text, chain(1, decision("extract", `{"pattern":"(a*)*b","text":"`+strings.Repeat("a", 50_000)+`"}`), nil), methods.Failed, "nothing in the text matches"},
		"too many texts": {methods.Text, chain(1, decision("read_each", `{"list":[`+strings.TrimSuffix(strings.Repeat(`{"t":"x"},`, 501), ",")+`],"path":"t","question":"?","fields":{"a":[]}}`), nil), methods.Failed, "more than the maximum of 500: filter them first"},
		"one value":      {methods.Text, chain(1, decision("read_each", `{"list":[{"t":"x"}],"path":"t","question":"?","fields":{"a":["b"]}}`), nil), methods.Failed, "give at least two"},
		"no text there":  {methods.Text, chain(1, decision("read_each", `{"list":[{"t":"x"}],"path":"u","question":"?","fields":{"a":[]}}`), nil), methods.Failed, `no text at "u"`},
		"not objects":    {methods.Text, chain(1, decision("read_each", `{"list":[1],"path":"u","question":"?","fields":{"a":[]}}`), nil), methods.Refused, "got number, want object"},
		"too many atoms": {methods.Text, chain(10_001, decision("count", `{"list":[]}`), ref(decision("count", `{"list":["@"]}`))), methods.Refused, "it has 10002 atoms"},
	} {
		p := problem(c.spec, `{"retries":0}`)
		p.Answer.N, p.Answer.K = 7, 3
		a, _ := solve(t, p, methodtest.Reply(c.plan), &desk{})
		if a.Outcome != c.outcome || !strings.Contains(a.Reason, c.reason) {
			t.Errorf("%s: %.100s, %s %.300q", name, a.Value, a.Outcome, a.Reason)
		}
	}
}

// TestManyResultsFitIntoMemory: each atom may keep as much as all together can.
func TestManyResultsFitIntoMemory(t *testing.T) {
	big := `"` + strings.Repeat("x", 200<<10) + `"`
	copies := chain(3000, decision("choose", `{"if":true,"then":`+big+`,"else":0}`), func(int) string { return decision("choose", `{"if":true,"then":"<result_of_1>","else":0}`) })
	if _, err := run(t, copies, &desk{}, aot.Options{}); err == nil || !strings.Contains(err.Error(), "the final atom does not need it") {
		t.Fatalf("%.200v", err)
	}
	linked := chain(3000, decision("choose", `{"if":true,"then":`+big+`,"else":0}`), func(before int) string {
		return decision("choose", fmt.Sprintf(`{"if":true,"then":"<result_of_%d>","else":0}`, before))
	})
	if _, err := run(t, linked, &desk{}, aot.Options{}); err == nil || !strings.Contains(err.Error(), "filter more, or plan fewer atoms") {
		t.Errorf("%.200v", err)
	}
}
