package runner

import (
	"sync/atomic"
	"testing"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/baseline"
)

// counted is an environment that counts for how many trials it was made.
type counted struct {
	task.PerTrial
	made *atomic.Int64
}

func (c counted) Of(p methods.Problem) (task.Environment, error) {
	c.made.Add(1)
	return c.PerTrial.Of(p)
}

// TestSamplesArePresentedOnce: methods that meet the same sample in the same order share
// what it is made of, whatever runs at once. Tools with effects are every trial's own.
func TestSamplesArePresentedOnce(t *testing.T) {
	plain := inProcess(baseline.Direct())
	plain.Label, plain.Shuffle = "direct?shuffle=false", false
	pure := Setup{Task: cafesTask(t, 6), Methods: append(builtins(), plain), Provider: simModel(t, ""), Experiment: Experiment{Epochs: 2}}
	effects := bookingSetup(t, "")
	for _, c := range []struct {
		name  string
		setup Setup
		want  int64
	}{
		{"pure tools", pure, 6 * 2 * 2}, // samples by epochs by with and without a shuffle
		{"tools with effects", effects, int64(len(effects.Methods) * len(effects.Task.Samples))},
	} {
		var root string
		for _, atOnce := range []int{1, 5, 16} {
			made := &atomic.Int64{}
			copied := *c.setup.Task
			copied.Environment = counted{c.setup.Task.Environment.(task.PerTrial), made}
			setup := c.setup
			setup.Task, setup.MaxSamples = &copied, atOnce
			result := mustRun(t, setup, openStore(t, t.TempDir()))
			if made.Load() != c.want {
				t.Errorf("%s, %d at once: made for %d trials, want %d", c.name, atOnce, made.Load(), c.want)
			}
			if root != "" && result.Run.Root != root {
				t.Errorf("%s, %d at once: root %s, want %s", c.name, atOnce, result.Run.Root, root)
			}
			root = result.Run.Root
		}
	}
}
