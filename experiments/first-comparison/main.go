// First-comparison puts three methods side by side on thirty requests, looks at what
// one of them did where another went wrong, and proves that the run can be repeated.
package main

import (
	"fmt"
	"log"

	. "noema/kernel/lab"
	"noema/kernel/session/builtin"
)

func main() {
	lab := builtin.Open()
	defer lab.Close()

	// The comparison, said in the same words as on the command line.
	result, err := lab.Run(Experiment{
		Question: "Does a plan of steps rank cafes better than one prompt?",
		Task:     "cafes?n=10",
		Methods:  []string{"direct", "anot", "aot"},
		Model:    "sim",
		Limit:    30,
	})
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(result)

	// Which requests did direct get wrong that AoT got right?
	won := result.Where(func(t *Trial) bool {
		if t.ID.Method != "aot" || !t.Right() {
			return false
		}
		other, err := result.Trial("direct/" + t.ID.Sample)
		return err == nil && !other.Right()
	})
	fmt.Printf("\n%d requests that direct lost to aot\n", len(won))
	lab.Show(won)

	// What did AoT do there? Its graph of atoms, with what each gave.
	graph, err := won[0].Graph()
	if err != nil {
		log.Fatal(err)
	}
	lab.Show(graph)

	// The last call of that trial: what was asked, and what came back.
	calls := won[0].Calls()
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
