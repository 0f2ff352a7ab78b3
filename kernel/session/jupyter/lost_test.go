package jupyter

import (
	"testing"

	"noema/kernel/session/cell"
)

// TestKernelThatDied: the kernel that takes its place says what is lost below its
// first cell, runs it again, and goes on with the numbers.
func TestKernelThatDied(t *testing.T) {
	folder := t.TempDir()
	kernel := func() (*rig, *client) {
		j, err := cell.OpenJournal(folder, "j")
		if err != nil {
			t.Fatal(err)
		}
		r := startWith(t, Options{Journal: j})
		return r, r.client("a")
	}
	r, c := kernel()
	c.run("value 1")
	c.run("print x", map[string]any{"user_expressions": map[string]string{"e": "value 2"}})
	c.run("fail")
	r.stop() // without Clear, as if it had died
	if err := r.end(); err == nil {
		t.Error("it ends by itself")
	}
	_, c = kernel()
	for i, want := range []string{
		"the process of this session died\nwhat its cells had declared is gone; :rerun lost runs these again:\n  1  value 1\n  2  print x\n[execute_result 3]",
		"cell 1 again: value 1\n[display_data 1]cell 2 again: print x\nx",
		"no cell is lost\n",
	} {
		reply, got := c.run([]string{"value 3", ":rerun lost", "%rerun lost"}[i])
		if number := reply["execution_count"]; got != want || number != float64(i+4) {
			t.Errorf("cell %v publishes %q, want %q in cell %d", number, got, want, i+4)
		}
	}
}
