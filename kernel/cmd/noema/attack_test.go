package main

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/kernel/result/compare"
)

// TestCompareUnderAttack: the clean and the attacked run have the same seeds, each
// method is compared with itself, and the stored runs give the same without force.
func TestCompareUnderAttack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	c := newCLI(t)
	var live, stored struct {
		compare.Comparison
		Runs  []string
		Roots []string `json:"root_hashes"`
	}
	read := func(into any, args ...string) {
		t.Helper()
		if err := json.Unmarshal([]byte(c.run(0, append(args, "--json")...).stdout), into); err != nil {
			t.Fatal(err)
		}
	}
	read(&live, "compare", "--task", "cafes", "--methods", "direct,anot", "--limit", "6", "--attack", "typo:0.5")
	if len(live.Roots) != 2 || live.Roots[0] == live.Roots[1] || len(live.Roots[0]) != 64 {
		t.Errorf("root hashes %q", live.Roots)
	}
	if len(live.Runs) != 2 || len(live.Pairs) != 2 || live.Pairs[0].A != "direct under typo:0.5" || live.Pairs[0].B != "direct" {
		t.Fatalf("runs %v, pairs %+v", live.Runs, live.Pairs)
	}
	if live.Pairs[1].B != "anot" || !strings.HasPrefix(live.Verdict, "each pair on hits@1: ") {
		t.Errorf("verdict %q, pairs %+v", live.Verdict, live.Pairs)
	}
	if notes := strings.Join(live.Notes, "\n"); !strings.Contains(notes, "attack typo:0.5: changed ") || !strings.Contains(notes, "the same seeds") {
		t.Errorf("notes %s", notes)
	}
	read(&stored, "compare", live.Runs[0], live.Runs[1])
	if stored.Verdict != live.Verdict || len(stored.Pairs) != 2 {
		t.Errorf("stored: %q, %d pairs", stored.Verdict, len(stored.Pairs))
	}
	seed := func(run string) (s string) {
		for line := range strings.Lines(c.run(0, "runs", "show", run, "--trial", "direct/R01", "--json").stdout) {
			var out struct{ Seed json.Number }
			if err := json.Unmarshal([]byte(line), &out); err != nil {
				t.Fatal(err)
			}
			s = out.Seed.String()
		}
		return s
	}
	if a, b := seed(live.Runs[0]), seed(live.Runs[1]); a == "" || a != b {
		t.Errorf("the seeds are %q and %q", a, b)
	}
	var estimates []map[string]any
	read(&estimates, "compare", "--task", "cafes", "--methods", "direct", "--limit", "2", "--attack", "typo:0.5", "--dry-run")
	if len(estimates) != 2 {
		t.Errorf("estimates %v", estimates)
	}
	for attack, says := range map[string]string{"tipo:0.5": `did you mean "typo"`, "typo:0.5?scope=none": "use scope=all or scope=spare"} {
		if r := c.run(2, "compare", "--attack", attack); !strings.Contains(r.stderr, says) {
			t.Errorf("%s: %s", attack, r.stderr)
		}
	}
}
