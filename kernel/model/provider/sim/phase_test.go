package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"noema/kernel/model/provider/sim"
	"noema/methods"
)

func phase1(query string) string {
	return "ANoT phase 1: extract the strategy.\n<request>\n" + query + "\n</request>\n\nThe list has 10 items. Reply in exactly this form:\n===STRATEGY===\n"
}

func ExampleProvider() {
	p, err := sim.New(sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := p.Complete(context.Background(), methods.Request{
		Messages: methods.Ask(phase1("I want a kid-friendly cafe without TVs.")),
	})
	fmt.Print(c.Text, err)
	// Output:
	// ===STRATEGY===
	// CONDITIONS:
	//   1. [ATTR] attributes.GoodForKids = True
	//   2. [ATTR] attributes.HasTV = False
	//
	// LOGIC: AND(1, 2)
	// TOTAL_ITEMS: 10
	//
	// ===MESSAGE===
	// <nil>
}

// At rate 1 every condition is misread, yet a strategy is left.
func TestExtractionErrors(t *testing.T) {
	p, lost := model(t, "error.request=1"), 0
	for seed := range uint64(50) {
		text := say(t, p, ask(phase1("I want a kid-friendly cafe without TVs."), seed)).Text
		if strings.Contains(text, "GoodForKids = True") || strings.Contains(text, "HasTV = False") {
			t.Fatalf("seed %d: a condition is right at rate 1:\n%s", seed, text)
		}
		n := strings.Count(text, "[ATTR]")
		if n == 0 || n == 1 && !strings.Contains(text, "LOGIC: AND(1)\n") {
			t.Fatalf("seed %d: no usable strategy:\n%s", seed, text)
		}
		if n == 1 {
			lost++
		}
	}
	if lost == 0 || lost == 50 {
		t.Errorf("a condition was lost in %d of 50, want some of each error", lost)
	}
}

const phase2 = `ANoT phase 2: build the LWT.
<request>
whatever
</request>
<strategy>
CONDITIONS:
  1. [SOCIAL] reviews by friends("O, Kay", 2) mention "{(c1)}"
  2. [ATTR] attributes["a.b"].c = True

LOGIC: AND(1, NOT(2))
TOTAL_ITEMS: 2
</strategy>

The list has 2 items. The final step names the best 1.
`

func TestPhase2Turns(t *testing.T) {
	p, talk := model(t, "error=0"), methods.Ask(phase2)
	turn := func(observations string) string {
		t.Helper()
		text := say(t, p, methods.Request{Messages: talk}).Text
		talk = append(talk, methods.Message{Role: methods.Assistant, Content: text}, methods.Message{Role: methods.User, Content: observations})
		return text
	}
	steps := []string{
		`"(c1)=LLM(\"Check condition 1: [SOCIAL] reviews by friends(\\\"O, Kay\\\", 2) mention \\\"{ (c1)}\\\"\\nFriends of O, Kay: {(friends)}[\\\"O, Kay\\\"]\\nFriends of Ann: {(friends)}[Ann]\\n1: {(context)}[1][reviews]\\n2: {(context)}[2][reviews]\\nWhich items satisfy the condition? Reply with a JSON list of item numbers only, [] if none.\")"`,
		`"(c2)=LLM(\"Check condition 2: [ATTR] attributes[\\\"a.b\\\"].c = True\\n1: {(context)}[1][attributes][\\\"a.b\\\"][c]\\n2: {(context)}[2][attributes][\\\"a.b\\\"][c]\\nWhich items satisfy the condition? Reply with a JSON list of item numbers only, [] if none.\")"`,
		`"(final)=LLM(\"Rank the items 1 to 2.\\n<request>\\n{(query)}\\n</request>\\nCondition 1: [SOCIAL] reviews by friends(\\\"O, Kay\\\", 2) mention \\\"{ (c1)}\\\"\\nSatisfied by: {(c1)}\\nCondition 2: [ATTR] attributes[\\\"a.b\\\"].c = True\\nSatisfied by: {(c2)}\\nLOGIC: AND(1, NOT(2))\\nPut the items that fulfil the logic first, then those that come closest to it. Reply with a JSON list of the best 1 item numbers only, best first.\")"`,
	}
	want := []string{
		`read("friends[\"O, Kay\"]")`,
		"read(\"friends.Ann\")\nread(\"friends.Zoe\")",
		"lwt_insert(1, " + steps[0] + ")\nlwt_insert(2, " + steps[1] + ")\nlwt_insert(3, " + steps[2] + ")\ndone()",
		"lwt_delete(4)\nlwt_set(1, " + steps[0] + ")\nlwt_set(2, " + steps[1] + ")\nlwt_set(3, " + steps[2] + ")\ndone()",
	}
	observations := []string{
		"OBSERVATIONS:\n1. read(\"friends[\\\"O, Kay\\\"]\"): [\"Ann\",\"Zoe\"]\n",
		"OBSERVATIONS:\n1. read(\"friends.Ann\"): []\n2. read(\"friends.Zoe\"): refused: there is nothing at this path\n",
		"OBSERVATIONS:\n3. lwt_insert(3): ok, steps: 4\n4. done(): refused: too many\n",
		"",
	}
	for i, o := range observations {
		if got := turn(o); got != want[i] {
			t.Errorf("turn %d:\n%s\nwant\n%s", i+1, got, want[i])
		}
	}
}

// At rate 1 each step leaves out an item or names another field; the final
// step stays as it is.
func TestBuildingErrors(t *testing.T) {
	prompt := strings.Replace(phase2, `  1. [SOCIAL] reviews by friends("O, Kay", 2) mention "{(c1)}"`, `  1. [HOURS] hours.Monday covers 7:00-9:00`, 1)
	p, left, wrong := model(t, "error.write=1"), 0, 0
	for seed := range uint64(50) {
		text := say(t, p, ask(prompt, seed)).Text
		c1, _, _ := strings.Cut(text, "\n")
		switch {
		case strings.Contains(c1, "[hours][Tuesday]"):
			wrong++
		case strings.Count(c1, "{(context)}") == 1:
			left++
		default:
			t.Fatalf("seed %d: no error at rate 1: %s", seed, c1)
		}
		if !strings.Contains(text, "Satisfied by: {(c2)}") {
			t.Fatalf("seed %d: the final step is incomplete", seed)
		}
	}
	if left == 0 || wrong == 0 {
		t.Errorf("%d steps leave out an item and %d name a wrong field, want some of each", left, wrong)
	}
}
