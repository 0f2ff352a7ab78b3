package lab_test

import (
	"strings"
	"testing"

	"noema/kernel/lab"
)

// TestWorkersAloneCannotRunAFunction: its trials waited for ever, and with them all others.
func TestWorkersAloneCannotRunAFunction(t *testing.T) {
	tk, err := lab.NewTask("where", lab.Question("Where?", "Halden"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(local int) error {
		l := open(t)
		if err := l.AddMethod("shout", shout, lab.Text); err != nil {
			t.Fatal(err)
		}
		if err := l.AddTask(tk); err != nil {
			t.Fatal(err)
		}
		_, err := l.Run(lab.Experiment{Task: "where", Methods: []string{"shout"}, Listen: "127.0.0.1:0", LocalWorkers: local})
		return err
	}
	if err := run(-1); err == nil || !lab.IsMisuse(err) || !strings.Contains(err.Error(), `method "shout" is a function of this program`) {
		t.Errorf("workers alone: %v", err)
	}
	if err := run(0); err != nil {
		t.Errorf("with this machine: %v", err)
	}
}
