package reply_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// TestHostileStatements reads replies that were written to be misread: boxes in their sentences,
// retractions, conditions, parts, other people's answers, ranges, letters in names, cut values.
// What each says was judged by a person before it was read; an empty string in want stands for
// unparsed. None may be read as another value; few that say something may be unparsed.
func TestHostileStatements(t *testing.T) {
	raw, err := os.ReadFile("testdata/hostile.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	told, all := 0, 0
	for line := range bytes.Lines(raw) {
		var c struct {
			Kind, Decimal, Percent, Reply string
			Labels, Texts, Names, Want    []string
			N, K                          int
			Cut                           bool
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		spec := methods.AnswerSpec{Kind: methods.AnswerKind(c.Kind), Labels: c.Labels, Texts: c.Texts, Names: c.Names, N: c.N, K: c.K, Decimal: c.Decimal, Percent: c.Percent}
		a, got := reply.Conclude(c.Reply, c.Cut, spec), ""
		if a.Outcome == methods.Answered {
			got = shownValue(a)
		}
		if all++; slices.Contains(c.Want, got) {
			continue
		}
		if told++; got != "" {
			t.Errorf("%s: %q is read as %q, want one of %q", c.Kind, c.Reply, got, c.Want)
		}
	}
	t.Logf("%d of %d replies that say something are unparsed", told, all)
	if all < 1000 || 40*told > all {
		t.Errorf("%d of %d replies that say something are unparsed", told, all)
	}
}

// shownValue is a value as the file has it: a text without quotes, the members of a set in order.
func shownValue(a methods.Answer) string {
	if text, err := a.Text(); err == nil {
		return text
	}
	if members, err := a.Set(); err == nil {
		slices.Sort(members)
		return strings.Join(members, "|")
	}
	return string(a.Value)
}
