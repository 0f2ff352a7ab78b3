package kernel_test

import (
	"strings"
	"testing"

	"noema/kernel"
)

// TestWorkersAloneCannotRunAFunction: its trials waited for ever, and with them all others.
func TestWorkersAloneCannotRunAFunction(t *testing.T) {
	tk, err := kernel.NewTask("where", kernel.Question("Where?", "Halden"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(local int) error {
		lab := open(t)
		if err := lab.AddMethod("shout", shout, kernel.Text); err != nil {
			t.Fatal(err)
		}
		if err := lab.AddTask(tk); err != nil {
			t.Fatal(err)
		}
		_, err := lab.Run(kernel.Experiment{Task: "where", Methods: []string{"shout"}, Listen: "127.0.0.1:0", LocalWorkers: local})
		return err
	}
	if err := run(-1); err == nil || !kernel.IsMisuse(err) || !strings.Contains(err.Error(), `method "shout" is a function of this program`) {
		t.Errorf("workers alone: %v", err)
	}
	if err := run(0); err != nil {
		t.Errorf("with this machine: %v", err)
	}
}
