package compare

import (
	"strings"
	"testing"

	"noema/kernel/result/record"
)

// TestPreferences: what graders say of answers beside each other is a paired comparison,
// from whichever side it is recorded, and names no winner.
func TestPreferences(t *testing.T) {
	trials := outcomes(map[string]string{"a": strings.Repeat("1", 30), "b": strings.Repeat("1", 30)})
	for _, tr := range trials {
		if tr.ID.Method != "b" {
			continue
		}
		p := record.Preference{Against: "a", Asked: 1}
		switch n := len(tr.ID.Sample); { // s0 … s9 and s10 … s29
		case tr.ID.Sample == "s0":
			p.Asked, p.Unread = 0, "split"
		case tr.ID.Sample == "s1":
			p.Swayed = 1
		case n == 2:
			p.Side = -1
		default:
			p.Side = 1
		}
		tr.Pairs = []record.Preference{p}
	}
	data, err := FromTrials([]string{"a", "b"}, choices(30), trials)
	if err != nil {
		t.Fatal(err)
	}
	for _, baseline := range []string{"a", "b"} {
		c, err := Compare(data, Options{Baseline: baseline})
		if err != nil {
			t.Fatal(err)
		}
		q := c.Pairs[0].Preference
		wins, losses, sign := 20, 8, 1.0 // b against a
		if baseline == "b" {
			wins, losses, sign = 8, 20, -1
		}
		if q.Wins != wins || q.Losses != losses || q.Ties != 1 || q.Asked != 29 || q.Swayed != 1 || q.Unread != 1 || q.Winner != "" {
			t.Errorf("against %s: %+v", baseline, q)
		}
		low, high := table{wins, losses, 29, nil}.interval(0.95)
		if got := q.Difference.Difference; got.Low != low || got.High != high || sign*got.Value <= 0 || q.Test != suissaShuster {
			t.Errorf("against %s: %+v by %s", baseline, got, q.Test)
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "in 1 of 29 verdicts the order of the answers decided") || !strings.Contains(notes, "1 answers beside each other are left out") {
			t.Errorf("notes:\n%s", notes)
		}
		if c.Verdict == "" || strings.Contains(c.Verdict, "b is better") {
			t.Errorf("verdict %q", c.Verdict)
		}
	}
}
