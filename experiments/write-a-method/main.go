// Write-a-method defines a method as a function, compares it, and leaves it
// ready to become a plugin.
package main

import (
	"context"
	"fmt"
	"log"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
)

// Vote asks for three independent chains of thought and takes the answer that
// most of them give: self-consistency in twenty lines. Of equally frequent
// answers the first wins.
func Vote(ctx context.Context, p Problem, h Host) (Answer, error) {
	prompt := p.Query + "\n\nThink step by step. End with a line \"Answer: number\".\n"
	votes := map[float64]int{}
	best, found := 0.0, false
	for draw := range 3 {
		reply, err := h.Complete(ctx, Request{
			Messages: []Message{{Role: User, Content: prompt}},
			Sampling: Sampling{Temperature: 0.7},
			Draw:     draw, // a repeat that must not share the first one's answer
			Path:     fmt.Sprintf("vote/d%d", draw+1),
		})
		if err != nil {
			return Answer{}, err
		}
		x, ok := ParseNumber(reply.Text)
		if !ok {
			h.Emit(Event{Path: "vote", Phase: "vote", Kind: "unparsed", Text: "a chain ended without a number", Level: 1})
			continue
		}
		votes[x]++
		if !found || votes[x] > votes[best] {
			best, found = x, true
		}
	}
	if !found {
		return NoAnswer("no chain ended with a number"), nil
	}
	return NumberAnswer(best), nil
}

func main() {
	lab := builtin.Open()
	defer lab.Close()

	if err := lab.AddMethod("vote", Vote, Number); err != nil {
		log.Fatal(err)
	}
	result, err := lab.Run(Experiment{
		Question: "Do three chains of thought beat one?",
		Task:     "arithmetic",
		Methods:  []string{"direct", "cot", "vote"},
		Model:    "sim?error=0.2",
		Limit:    60,
	})
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(result)
}
