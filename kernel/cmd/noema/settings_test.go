package main

import (
	"testing"
)

// TestMisspeltVariables: a limit whose variable is misspelt is not dropped in
// silence; variables that are none of ours are.
func TestMisspeltVariables(t *testing.T) {
	t.Parallel()
	c := newCLI(t, "NOEMA_RUN_COST_LIMT=2.50")
	want(t, c.run(2, "task", "list").stderr, `unknown variable NOEMA_RUN_COST_LIMT, did you mean "NOEMA_RUN_COST_LIMIT"?`)
	for _, name := range []string{"NOEMA_BENCH", "NOEMA_PLUGIN", "NOEMA_TEST_PYTHON", "NOEMA_BENCH_MB", "NOEMA_PICTURES", "NOEMA_INSPECT_PYTHON"} {
		newCLI(t, name+"=1").run(0, "task", "list")
	}
}
