package lab_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"noema/kernel/lab"
)

// TestCreditTellsChance: a method that does not repeat itself is told, before its
// calls are changed and with the effects; one that does is not.
func TestCreditTellsChance(t *testing.T) {
	l := open(t)
	tk, err := lab.NewTask("parity", lab.Pick("2?", "even", "even", "odd"), lab.Pick("3?", "odd", "even", "odd"))
	if err == nil {
		err = l.AddTask(tk)
	}
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	chance := func(ctx context.Context, p lab.Problem, h lab.Host) (lab.Answer, error) {
		p.Query = fmt.Sprint(n.Add(1), p.Query)
		return parity(ctx, p, h)
	}
	for name, solve := range map[string]lab.Solve{"parity": parity, "chance": chance} {
		if err := l.AddMethod(name, solve, lab.Choice); err != nil {
			t.Fatal(err)
		}
		run, err := l.Run(lab.Experiment{Task: "parity", Methods: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		o := lab.Crediting{With: []string{"drop", "truth"}}
		_, notes, err := run.CreditEstimate(name, o, lab.Experiment{})
		if err != nil {
			t.Fatal(err)
		}
		credit, err := run.Credit(name, o, lab.Experiment{})
		if err != nil {
			t.Fatal(err)
		}
		for _, said := range []string{strings.Join(notes, "\n"), text(credit)} {
			if told := strings.Contains(strings.Join(strings.Fields(said), " "), "is not deterministic, or has changed: repeated from the store, 2 of 2 trials"); told != (name == "chance") {
				t.Errorf("%s: said is\n%s", name, said)
			}
			if !strings.Contains(said, "truth of ask is left out") {
				t.Errorf("%s: the task does not know the truth, and that is not said:\n%s", name, said)
			}
		}
		if again, err := credit.Result.Effects(o); err != nil || again.Of != run.ID() || again.Places[0].At != "ask" {
			t.Errorf("%s: the effects of the stored run: %+v, %v", name, again, err)
		}
		graph := string(lab.Displayer(credit.Graph()).Display()["text/plain"])
		if !strings.Contains(graph, "ask") || !strings.Contains(graph, "drop") {
			t.Errorf("graph:\n%s", graph)
		}
	}
}
