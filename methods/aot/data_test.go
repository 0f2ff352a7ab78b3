package aot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/aot"
	"noema/methods/methodtest"
)

// planPromptOf is the prompt that a problem gives.
func planPromptOf(t *testing.T, p methods.Problem) string {
	t.Helper()
	_, log := solve(t, p, methodtest.Reply("x"), &desk{})
	return log.Calls[0].Request.Messages[0].Content
}

// TestOutline: data that tools can look into is shown as what is where.
func TestOutline(t *testing.T) {
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf(`{"name":"Cafe %d","attributes":{"WiFi":%q,"quiet":%v},"reviews":[{"stars":%d,"text":%q}],"x":null,"y":[]}`,
			i, []string{"free", "no"}[i%2], i%3 == 0, i%5, strings.Repeat("long ", 40)))
	}
	p := problem(methods.Text, "")
	p.Context = json.RawMessage(`{"friends":{"A":["B"],"B":[],"C":[],"D":[],"E":[],"F":[],"G":["A"]},"items":[` + strings.Join(items, ",") + `]}`)
	want := strings.Join([]string{"<data>",
		`friends: object of 7 keys, "A" | "B" | "C" | "D" | "E" | "F" | …`,
		`friends.*: list`,
		`friends.*[]: text, "B" | "A"`,
		`items: list of 60`,
		`items[].attributes.WiFi: text, "free" | "no"`,
		`items[].attributes.quiet: true or false`,
		`items[].name: text, "Cafe 0" | "Cafe 1" | "Cafe 2" | "Cafe 3" | "Cafe 4" | "Cafe 5" | …`,
		`items[].reviews: list`,
		`items[].reviews[].stars: number, 0 | 1 | 2 | 3 | 4`,
		`items[].reviews[].text: text, "long long long long long long long long …"`,
		`items[].x: null`,
		`items[].y: list`, "</data>"}, "\n")
	if got := planPromptOf(t, p); !strings.Contains(got, want) {
		t.Errorf("no outline:\n%.3000s\nwant\n%s", got, want)
	}
	p.Options = json.RawMessage(`{"data":"full"}`)
	if got := planPromptOf(t, p); !strings.Contains(got, `"name":"Cafe 59"`) {
		t.Error("the data is not shown in full")
	}
	p.Options, p.Tools = nil, nil
	if got := planPromptOf(t, p); !strings.Contains(got, `"name":"Cafe 59"`) {
		t.Error("data that no tool can look into is not shown in full")
	}
	p.Context, p.Options = json.RawMessage(`{"a":{"b":{"c":1}},"e":{}}`), json.RawMessage(`{"data":"outline"}`)
	if got := planPromptOf(t, p); !strings.Contains(got, "<data>\na.b.c: number, 1\ne: object\n</data>") {
		t.Errorf("%.1200s", got)
	}
}

// TestOutlineIsBounded: data with many or with deep paths gives a short outline.
func TestOutlineIsBounded(t *testing.T) {
	fields := map[string]any{}
	for i := range 5000 {
		fields[fmt.Sprint("k", i)] = map[string]any{fmt.Sprint("inner", i): strings.Repeat("x", 100)}
	}
	wide, _ := json.Marshal(fields)
	for name, context := range map[string]string{"wide": string(wide), "deep": `{"a":` + strings.Repeat(`[{"b":`, 400) + "1" + strings.Repeat(`}]`, 400) + `}`} {
		p := problem(methods.Text, `{"data":"outline"}`)
		p.Context = json.RawMessage(context)
		_, data, _ := strings.Cut(planPromptOf(t, p), "<data>\n")
		data, _, _ = strings.Cut(data, "\n</data>")
		if len(data) > 40_000 || strings.Count(data, "\n") > 151 {
			t.Errorf("%s: %d bytes, %d lines", name, len(data), strings.Count(data, "\n"))
		}
	}
}

// TestPromptOfRankings: a prompt for more than numbers offers all decisions, and
// the example for lists is a plan that runs.
func TestPromptOfRankings(t *testing.T) {
	p := problem(methods.Text, "")
	p.Answer = methods.AnswerSpec{Kind: methods.Ranking, N: 3, K: 3}
	prompt := planPromptOf(t, p)
	for _, d := range aot.Decisions() {
		if !strings.Contains(prompt, `{"name":"`+d.Name+`",`) {
			t.Errorf("the prompt lacks %s", d.Name)
		}
	}
	_, example, _ := strings.Cut(prompt, "A plan for \"rank")
	_, example, _ = strings.Cut(example, "\n")
	example, _, _ = strings.Cut(example, "\n")
	s, err := run(t, example, &desk{}, aot.Options{Answer: p.Answer})
	if err != nil || string(s.Answer) != "[[2],[1,3]]" {
		t.Errorf("%s gives %s, %v", example, s.Answer, err)
	}
	p = problem(methods.Number, "")
	p.Tools = p.Tools[:4] // numbers alone
	if prompt := planPromptOf(t, p); strings.Contains(prompt, `"name":"rank"`) || strings.Contains(prompt, "rank three items") {
		t.Error("a prompt about numbers offers more than they need")
	}
}
