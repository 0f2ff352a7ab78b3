// First-comparison puts three methods side by side on thirty requests, looks at
// where one of them went wrong, and proves that the run can be repeated.
package main

import (
	"fmt"
	"log"

	. "noema/kernel"
	"noema/kernel/builtin"
)

func main() {
	lab := builtin.Open()
	defer lab.Close()

	// The comparison, said in the same words as on the command line.
	result, err := lab.Run(Experiment{
		Question: "Does a plan of small steps rank cafes better than one prompt?",
		Task:     "cafes?n=10",
		Methods:  []string{"direct", "cot", "anot"},
		Model:    "sim",
		Limit:    30,
	})
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(result)

	// Which requests did ANoT get wrong that direct got right?
	lost := result.Where(func(t *Trial) bool {
		if t.ID.Method != "anot" || t.Right() {
			return false
		}
		other, err := result.Trial("direct/" + t.ID.Sample)
		return err == nil && other.Right()
	})
	fmt.Printf("\n%d requests that anot lost to direct\n", len(lost))
	lab.Show(lost)

	// What did it do there? Its network of thoughts, with what each step said.
	graph, err := lost[0].Graph()
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(graph)

	// The last call of that trial: what was asked, and what came back.
	calls := lost[0].Calls()
	last := calls[len(calls)-1]
	reply, err := last.Reply()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\n%s, of %d calls, was answered: %s\n\n", last.Path, len(calls), reply)

	// Every trial again, from the store alone.
	replayed, err := result.Replay()
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(replayed)
}
