package anot_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/anot"
)

// TestConditionsWithoutAStep builds LWTs from which steps of a strategy's conditions are
// missing, and holds that done() is refused once for exactly these, that an event and the
// check of the exported plan name them, and nothing else.
func TestConditionsWithoutAStep(t *testing.T) {
	pool := []struct{ text, path, says string }{
		{`[ATTR] attributes.WiFi = "free"`, "[attributes][WiFi]", "free"}, {`[ATTR] attributes.WiFi = "paid"`, "[attributes][WiFi]", "paid"},
		{`[ATTR] attributes.GoodForKids = True`, "[attributes][GoodForKids]", "True"}, {`[HOURS] hours.Monday covers 9:00-11:00`, "[hours][Monday]", "9:00-11:00"},
		{`[REVIEW_TEXT] reviews mention "latte art"`, "[reviews]", "latte art"}, {`[REVIEW_TEXT] reviews mention "more"`, "[reviews][0]", "more"},
		{`[SOCIAL] reviews by friends(Kevin, 2)`, "[reviews]", "Kevin"},
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		n := 1 + rng.IntN(len(pool))
		var conditions, steps []string
		var missing, numbers []int
		outputs := ""
		for i, at := range rng.Perm(len(pool))[:n] {
			c := pool[at]
			conditions = append(conditions, fmt.Sprintf("  %d. %s", i+1, c.text))
			numbers = append(numbers, i+1)
			if rng.IntN(3) == 0 {
				missing = append(missing, i+1)
				continue
			}
			id, says := fmt.Sprintf("c%d", i+1), "x"
			if rng.IntN(2) == 0 { // a name of the model's own, but then it reads and says what is wanted
				id, says = fmt.Sprintf("look_%c", 'a'+i), c.says
			}
			lines := ""
			for item := range 3 {
				lines += fmt.Sprintf(`\n%d: {(context)}[%d]%s`, item+1, item+1, c.path)
			}
			steps = append(steps, fmt.Sprintf(`(%s)=LLM('Check condition: %s%s\nWhich?')`, id, says, lines))
			outputs += "{(" + id + ")} "
		}
		steps = append(steps, `(final)=LLM('Rank the items 1 to 3.\n{(query)} `+outputs+`')`)
		strategy := "===STRATEGY===\nCONDITIONS:\n" + strings.Join(conditions, "\n") + "\n\nLOGIC: AND(" + strings.Trim(strings.Join(strings.Fields(fmt.Sprint(numbers)), ", "), "[]") + ")\nTOTAL_ITEMS: 3\n\n===MESSAGE===\n"
		p := problem("")
		a, log, err := solve(t, p, script{phase1: strategy, "P2/i1": calls(steps...) + "done()", "P2/i2": "done()", final: "[2, 1]"})
		if err != nil || a.Outcome != methods.Answered {
			t.Fatalf("%v, %+v\n%s\n%s", err, a, strategy, strings.Join(steps, "\n"))
		}
		told, event := []int{}, []int{}
		for _, c := range log.Calls {
			if c.Request.Path == "P2/i2" {
				told = named(c.Request.Messages[len(c.Request.Messages)-1].Content)
			}
		}
		for _, e := range log.Events {
			var data struct{ Condition int }
			if e.Kind == methods.Dropped && json.Unmarshal(e.Data, &data) == nil && data.Condition > 0 {
				event = append(event, data.Condition)
			}
		}
		plan, err := anot.Method{}.PlanOf(log.Events)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := json.Marshal(plan)
		if plan, err = anot.ReadPlan(raw); err != nil {
			t.Fatal(err)
		}
		for _, about := range []*methods.Problem{nil, &p} {
			faults, notes := plan.Check(about)
			if noted := named(strings.Join(notes, "\n")); len(faults) > 0 || !slices.Equal(noted, missing) {
				t.Errorf("check: %v, conditions %v, want %v", faults, noted, missing)
			}
		}
		if !slices.Equal(told, missing) || !slices.Equal(event, missing) {
			t.Errorf("without steps are %v: told %v, events %v\n%s\n%s", missing, told, event, strategy, strings.Join(steps, "\n"))
		}
	}
}

// named are the conditions that a text says to have no step.
func named(text string) (numbers []int) {
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "condition ")
		if !ok {
			return numbers
		}
		var n int
		fmt.Sscan(after, &n)
		numbers, rest = append(numbers, n), after
	}
}
