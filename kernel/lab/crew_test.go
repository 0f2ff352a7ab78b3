package lab_test

import (
	"io"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/run/cluster/embedded"
	"noema/kernel/session/builtin"
)

// TestWithoutAServerForWorkers: a program that is built without one says how to build it.
func TestWithoutAServerForWorkers(t *testing.T) {
	_, err := open(t).Run(lab.Experiment{Task: "cafes", Methods: []string{"direct"}, Listen: "127.0.0.1:0"})
	if err == nil || !lab.IsMisuse(err) || !strings.Contains(err.Error(), "go build -tags queue -o noema ./kernel/cmd/noema") {
		t.Error(err)
	}
}

// TestWorkersAloneCannotRunAFunction: its trials waited for ever, and with them all others.
func TestWorkersAloneCannotRunAFunction(t *testing.T) {
	tk, err := lab.NewTask("where", lab.Question("Where?", "Halden"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(local int) error {
		l := lab.Open(lab.Options{Home: t.TempDir(), Catalog: builtin.Catalog{}, Stderr: io.Discard, Queue: embedded.Start})
		t.Cleanup(func() { l.Close() })
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
