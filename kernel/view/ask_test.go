package view

import (
	"net/url"
	"strings"
	"testing"

	"noema/kernel/lab"
)

// TestAskedPages shows a question without a known answer on every page of its run:
// the words, not the value alone; no target, and nothing right or wrong.
func TestAskedPages(t *testing.T) {
	l := newLab(t)
	r, err := l.Ask(lab.Asking{
		Query: "find all cms connected to rpd MAWED07T01", About: lab.About{Answer: "set"},
		Experiment: lab.Experiment{Task: "logs", Methods: []string{"engine-planner"}, Model: "sim?error=0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	base, p := serve(t, l)
	get := visitor(t, base, p)
	run := "/run/" + url.PathEscape(r.ID())
	words := "Found 2 cm_mac connected to MAWED07T01: 1c:93:7c:2a:72:c3, 28:7a:ee:c9:66:4a"
	for path, wants := range map[string][]string{
		"/":                        {"find all cms connected"},
		run:                        {words, "search_logs → extract_entities", "find all cms connected"},
		run + "/rows":              {"Found 2 cm_mac connected", "engine-planner: unscored", `<td class="a "`},
		run + "/sample?s=question": {words, "target <b>none</b>", "value <code>[&#34;1c:93:7c:2a:72:c3"},
		run + "/trial?m=engine-planner&s=question": {words, "<dd>none</dd>", "<summary>evidence</summary>"},
		"/compare?run=" + r.ID():                   {"No sample has a target: answers are shown and not judged"},
	} {
		code, body := get(path)
		for _, want := range wants {
			if code != 200 || !strings.Contains(body, want) {
				t.Errorf("%s (%d) lacks %q", path, code, want)
			}
		}
		if strings.Contains(body, `class="bad"`) {
			t.Errorf("%s calls an answer wrong that nobody knows", path)
		}
	}
}
