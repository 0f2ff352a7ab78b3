package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"noema/kernel/model/provider"
	"noema/kernel/model/provider/sim"
	"noema/kernel/task/policy"
	"noema/methods"
)

// given are the options of a text such as "error=0.1&error.judge=0".
func given(options string) map[string]string {
	all := map[string]string{}
	for option := range strings.FieldsFuncSeq(options, func(r rune) bool { return r == '&' }) {
		name, value, _ := strings.Cut(option, "=")
		all[name] = value
	}
	return all
}

func model(t testing.TB, options string) sim.Provider {
	t.Helper()
	o, err := sim.ParseOptions(given(options))
	if err != nil {
		t.Fatal(err)
	}
	p, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func say(t testing.TB, p sim.Provider, r methods.Request) methods.Completion {
	t.Helper()
	c, err := p.Complete(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(prompt string, seed uint64) methods.Request {
	return methods.Request{Messages: methods.Ask(prompt), Sampling: methods.Sampling{Seed: seed}}
}

const stepEnd = "Which items satisfy the condition? Reply with a JSON list of item numbers only, [] if none."

func TestConditionSteps(t *testing.T) {
	review := func(author, text string) string {
		raw, err := json.Marshal([]map[string]any{{"author": author, "stars": 4, "text": text}})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	cases := map[string]struct{ check, lines, want string }{
		"true":             {`[ATTR] attributes.GoodForKids = True`, "1: True\n2: False\n3:\n4: true", "[1, 4]"},
		"false or missing": {`[ATTR] attributes.HasTV = False`, "1: True\n2: False\n3:\n4: None", "[2, 3, 4]"},
		"text":             {`[ATTR] attributes.WiFi = "free"`, "1: free\n2: paid\n3:", "[1]"},
		"not text":         {`[ATTR] attributes.WiFi != "free"`, "1: free\n2: paid\n3:", "[2, 3]"},
		"number":           {`[ATTR] attributes.RestaurantsPriceRange2 = 2`, "1: 2\n2: 2.0\n3: 3\n4:", "[1, 2]"},
		"at least":         {`[ATTR] stars >= 4`, "1: 4\n2: 3.5\n3: 4.5\n4: many", "[1, 3]"},
		"below":            {`[ATTR] stars < 4`, "1: 4\n2: 3.5\n3:", "[2]"},
		"contains":         {`[ATTR] categories contains "bakery"`, "1: [\"Cafe\",\"Bakery\"]\n2: [\"Cafe\"]\n3:", "[1]"},
		"nested":           {`[AMBIENCE] attributes.Ambience.hipster = True`, "1:\n2: True", "[2]"},
		"none":             {`[MEAL] attributes.GoodForMeal.brunch = True`, "1: False\n2: False", "[]"},
		"hours": {`[HOURS] hours.Monday covers 7:00-9:00`,
			"1: 7:00-19:00\n2: 7:30-19:00\n3: 6:00-8:59\n4: Closed\n5:\n6: 18:00-9:00\n7: 0:00-0:00", "[1, 7]"},
		"past midnight": {`[HOURS] hours.Friday covers 22:00-1:00`, "1: 18:00-2:00\n2: 18:00-0:30\n3: 8:00-23:00", "[1]"},
		"words": {`[REVIEW_TEXT] reviews mention "latte art"`,
			"1: " + review("Ann", "The LATTE ART is great.") + "\n2: " + review("Ann", "latte artist") + "\n3: " + review("Ann", "platte art") + "\n4: not a list\n5:", "[1]"},
		"hostile words": {`[REVIEW_TEXT] reviews mention "a \"b\\c\" (.*"`,
			"1: " + review("Ann", `so a "b\c" (.* here`) + "\n2: " + review("Ann", "nothing"), "[1]"},
		"friends": {`[SOCIAL] reviews by friends(Kevin, 1) mention "tea"`,
			"Friends of Kevin: [\"Ann\",\"Bob\"]\n1: " + review("Ann", "good tea") + "\n2: " + review("Carl", "good tea") + "\n3: " + review("Bob", "coffee"), "[1]"},
		"friends of friends": {`[SOCIAL] reviews by friends("O, Kay", 2) mention "tea"`,
			"Friends of O, Kay: [\"Ann\"]\nFriends of Ann: [\"O, Kay\",\"Carl\"]\n1: " + review("Carl", "tea!") + "\n2: " + review("O, Kay", "tea!") + "\n3: " + review("Dora", "tea!"), "[1]"},
		"any review by friends": {`[SOCIAL] reviews by friends(Kevin, 1)`, "Friends of Kevin: [\"Ann\"]\n1: " + review("Ann", "x") + "\n2: []", "[1]"},
		"friends unknown":       {`[SOCIAL] reviews by friends(Kevin, 1) mention "tea"`, "Friends of Kevin:\n1: " + review("Ann", "tea"), "[]"},
	}
	p := model(t, "error=0")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			prompt := "Check condition 3: " + c.check + "\n" + c.lines + "\n" + stepEnd
			if got := say(t, p, ask(prompt, 1)).Text; got != c.want {
				t.Errorf("got %s, want %s\n%s", got, c.want, prompt)
			}
		})
	}
}

func finalPrompt(logic string, outputs ...string) string {
	var b strings.Builder
	b.WriteString("Rank the items 1 to 4.\n<request>\nLOGIC: AND(9)\nlist of the best 7 items\n</request>\n")
	for i, o := range outputs {
		fmt.Fprintf(&b, "Condition %d: [ATTR] a.b = True\nSatisfied by: %s\n", i+1, o)
	}
	b.WriteString("LOGIC: " + logic + "\nPut the items that fulfil the logic first, then those that come closest to it. Reply with a JSON list of the best 3 item numbers only, best first.")
	return b.String()
}

func TestFinalStep(t *testing.T) {
	p := model(t, "error=0")
	cases := []struct {
		logic   string
		outputs []string
		want    string
	}{
		{"AND(1, 2)", []string{"[2, 3]", "[3, 4]"}, "[3, 2, 4]"},
		{"AND(1, NOT(2))", []string{"[2, 3]", "[3, 4]"}, "[2, 1, 3]"},
		{"OR(1, 2)", []string{"Items: [4]", "none"}, "[4, 1, 2]"},
		{"AND(1, OR(2, NOT(3)))", []string{"[1, 2]", "[]", "[1]"}, "[2, 1, 3]"},
		{"AND(1)", []string{""}, "[1, 2, 3]"}, // a failed step
		{"AND(1, 99)", []string{"[4]"}, "[4, 1, 2]"},
		{"AND()", []string{"[4]"}, provider.NotUnderstood},
		{"NOT(1, 2)", []string{"[4]"}, provider.NotUnderstood},
		{strings.Repeat("NOT(", 5000) + "1" + strings.Repeat(")", 5000), []string{"[4]"}, "[4, 1, 2]"},
		{strings.Repeat("NOT(", 200_000) + "1" + strings.Repeat(")", 200_000), []string{"[4]"}, provider.NotUnderstood},
	}
	for _, c := range cases {
		if got := say(t, p, ask(finalPrompt(c.logic, c.outputs...), 1)).Text; got != c.want {
			t.Errorf("%.40s of %q: got %s, want %s", c.logic, c.outputs, got, c.want)
		}
	}
}

func TestUnknownPrompts(t *testing.T) {
	p := model(t, "error=1")
	for _, prompt := range []string{
		"", "What is 2+2?", "ANoT phase 1: extract the strategy.", "ANoT phase 2: build the LWT.\n<strategy>\nx\n</strategy>",
		"Check condition 1: nonsense\n1: True", "Check condition x: [ATTR] a = True", "Rank the items 1 to 10.",
		"Rank the items 1 to 99999999999.\nLOGIC: AND(1)\nlist of the best 5 item", "Answer directly (ranking).\n<request>\nxyz\n</request>",
		"Answer directly (number).\n<request>\nkid-friendly\n</request>", "Reason, then answer (number).\n<request>\n\n</request>",
		"Answer directly (fields).\n<request>\nBe kind.\n</request>\n<data>\nreviews: []\n</data>\na value for each of these fields: \"a\".\n",
		"Reason, then answer (fields).", "General ANoT: compile the policy.", "General ANoT: compile the policy.\n<policy>\nBe kind.\n</policy>\n",
		"General ANoT: extract from one review.", "General ANoT: extract from one review.\n<review>\nx\n</review>\n<fields>\nmood: a text\n</fields>\n",
		"AoT: make a plan.", "AoT: make a plan.\n<request>\nxyz\n</request>\n<tools>\nx\n</tools>\nThe final answer is one number.\n", "Reason, then answer (ranking).\n<items>\n</items>\x00\xff",
	} {
		r := ask(prompt, 1)
		if c := say(t, model(t, "error=1&error.format=0"), r); c.Text != provider.NotUnderstood {
			t.Errorf("%q: got %q", prompt, c.Text)
		}
		_ = say(t, p, r)
	}
	if c := say(t, p, methods.Request{}); c.Text != provider.NotUnderstood {
		t.Errorf("no messages: got %q", c.Text)
	}
}

// Errors are a function of content, seed and draw alone, at the asked rate.
func TestErrorsAreSeeded(t *testing.T) {
	var b strings.Builder
	b.WriteString("Check condition 1: [ATTR] a = True\n")
	const items = 1000
	for i := range items {
		fmt.Fprintf(&b, "%d: False\n", i+1)
	}
	b.WriteString(stepEnd)
	wrong := func(c methods.Completion) int { // each listed item is an error
		if c.Text == "[]" {
			return 0
		}
		return strings.Count(c.Text, ",") + 1
	}
	p := model(t, "error=0.9&error.judge=0.05")
	total, answers := 0, map[string]bool{}
	for seed := range uint64(10) {
		for draw := range 5 {
			r := ask(b.String(), seed)
			r.Draw = draw
			c := say(t, p, r)
			r.Path = "elsewhere"
			if again := say(t, p, r); again.Text != c.Text || again.Usage != c.Usage {
				t.Fatal("the same request got two answers")
			}
			total += wrong(c)
			answers[c.Text] = true
		}
	}
	if rate := float64(total) / (50 * items); rate < 0.045 || rate > 0.055 {
		t.Errorf("error rate %.4f, want 0.05", rate)
	}
	if len(answers) != 50 {
		t.Errorf("%d different answers from 50 seeds and draws", len(answers))
	}
	if n := wrong(say(t, model(t, "error=0"), ask(b.String(), 1))); n != 0 {
		t.Errorf("%d errors at rate 0", n)
	}
	if n := wrong(say(t, model(t, "error=1"), ask(b.String(), 1))); n != items {
		t.Errorf("%d errors at rate 1, want %d", n, items)
	}
}

func TestFormatErrors(t *testing.T) {
	p, bad := model(t, "error=0&error.format=0.5"), 0
	for seed := range uint64(400) {
		if c := say(t, p, ask("Check condition 1: [ATTR] a = True\n1: True\n"+stepEnd, seed)); c.Text != "[1]" {
			bad++
			if strings.ContainsAny(c.Text, "[0123456789") {
				t.Fatalf("a malformed reply can be parsed: %q", c.Text)
			}
		}
	}
	if bad < 150 || bad > 250 {
		t.Errorf("%d of 400 malformed at rate 0.5", bad)
	}
}

func TestUsage(t *testing.T) {
	p := model(t, "error=0")
	r := ask("Check condition 1: [ATTR] a = True\n1: True\n"+stepEnd, 3)
	c := say(t, p, r)
	in, out := int64(len(r.Messages[0].Content)+3)/4, int64(1)
	if c.Usage.InputTokens != in || c.Usage.OutputTokens != out || c.Usage.Cost != methods.NanoUSD(100*in+400*out) || c.Usage.Calls != 1 {
		t.Errorf("usage %+v, want %d and %d tokens", c.Usage, in, out)
	}
	base := 200*time.Millisecond + time.Duration(in)*50*time.Microsecond + time.Duration(out)*8*time.Millisecond
	if l := c.Usage.Latency; l < base*8/10 || l > base*12/10 {
		t.Errorf("latency %v is not within a fifth of %v", l, base)
	}
	r.Sampling.MaxTokens = 1
	r.Messages = methods.Ask("hello")
	if c := say(t, p, r); c.Text != "I am" || c.Finish != methods.FinishLength {
		t.Errorf("one token: %q, finish %s", c.Text, c.Finish)
	}
	r.Sampling = methods.Sampling{Stop: []string{" cannot"}}
	if c := say(t, p, r); c.Text != "I am a simulated model and" || c.Finish != methods.FinishStop {
		t.Errorf("stop: %q, finish %s", c.Text, c.Finish)
	}
}

func TestOptions(t *testing.T) {
	for query, want := range map[string]string{
		"":                                "error=0.05&v=2",
		"error=0.2":                       "error=0.2&v=2",
		"v=2&error=0.20":                  "error=0.2&v=2",
		"error.judge=0.1&error.write=0.3": "error=0.05&error.judge=0.1&error.write=0.3&v=2",
		"error.judge=0.05":                "error=0.05&v=2",
		"error.judge=0.2&error.request=0": "error=0.05&error.judge=0.2&error.request=0&v=2",
		"error=0&error.format=1":          "error=0&error.format=1&v=2",
	} {
		p := model(t, query)
		id := p.Info().ID
		if id.Config != want || !p.Info().Simulated || id.String() != "sim?"+want {
			t.Errorf("%q: %+v, want config %q", query, p.Info(), want)
		}
		if again := model(t, want).Info().ID; again != id {
			t.Errorf("%q does not read back: %v", want, again)
		}
	}
	for query, want := range map[string]string{
		"eror=1":           `unknown option "eror", did you mean "error"?: the options are error, error.`,
		"error.all=1":      "unknown option",
		"error=2":          "the maximum is 1",
		"error=NaN":        "is not a number",
		"error.judge=-0.1": "error.judge",
		"error=":           "is not a number",
		"v=1":              "version",
	} {
		if _, err := sim.ParseOptions(given(query)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", query, err, want)
		}
	}
	if _, err := sim.New(sim.Options{Error: 2}); err == nil {
		t.Error("an error rate of 2 passes")
	}
	if n := len(methods.OptionsOf(sim.Options{})); n != 6 {
		t.Errorf("%d options documented, want 6", n)
	}
}

func TestEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model(t, "").Complete(ctx, methods.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func FuzzComplete(f *testing.F) {
	f.Add("Check condition 1: [SOCIAL] reviews by friends(\"a\\\"\", 2) mention \"x\"\nFriends of a: []\n1: [{}]")
	f.Add(finalPrompt("AND(1, NOT(2))", "[1]", "[2]"))
	f.Add("ANoT phase 1: extract the strategy.\n<request>\nkid-friendly, not loud\n</request>\nThe list has 3 items.")
	f.Add("ANoT phase 2: build the LWT.\n<strategy>\nCONDITIONS:\n  1. [ATTR] [\"a.b\"].c = True\n\nLOGIC: 1\n</strategy>\nThe list has 3 items. The final step names the best 2.")
	f.Add("Reason, then answer (ranking).\n<request>\nkid-friendly\n</request>\n<items>\n1: {\"attributes\":{\"GoodForKids\":true}}\n2: {}\n</items>\nname the best 2, best first")
	noise, _ := policy.Find("noise")
	f.Add("General ANoT: compile the policy.\n<policy>\n" + noise.Text() + "\n</policy>\n")
	f.Add(extractPrompt("Deafening. Talking was not possible.", noiseFields))
	f.Add("Reason, then answer (fields).\n<request>\n" + noise.Text() + "\n</request>\n<data>\nreviews: [{\"stars\":1e99,\"date\":\"x\",\"text\":\"\"}, 3\n</data>\na value for each of these fields: \"a\", \"verdict\".\n")
	f.Add(planPrompt(story, calculator, oneNumber))
	f.Add(numberPrompt(cotNumber, "Ana has 12 pencils. How many pencils does Ana have now? 007"))
	p := model(f, "error=0.5")
	f.Fuzz(func(t *testing.T, prompt string) {
		r := ask(prompt, 1)
		if a, b := say(t, p, r), say(t, p, r); a.Text != b.Text {
			t.Errorf("%q: two answers", prompt)
		}
	})
}
