package engineplanner

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"noema/methods"
	"noema/methods/methodtest"
	"noema/methods/workflow"
)

// timeForms are the ways in which logs and people write times.
var timeForms = []string{
	time.RFC3339, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "15:04", "15:04:05.000",
	"2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05Z", "2006-01-02 15:04:05,000", "20060102T150405Z", "20060102 150405", "20060102",
	"2006/01/02 15:04:05", "2006/01/02", "02/Jan/2006:15:04:05 -0700", "02.01.2006", "02.01.2006 15:04", time.RFC1123, time.RFC1123Z, time.ANSIC, time.UnixDate, time.Stamp,
	"January 2, 2006", "2 January 2006", "Jan 2",
}

// TestTimesAreNotNames has the fallback look for a name in questions with times in
// every form, and without a name.
func TestTimesAreNotNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	letters := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef"
	names := []func() string{
		func() string {
			return fmt.Sprintf("MA%c%c%02dT%02d", letters[rng.IntN(26)], letters[rng.IntN(26)], rng.IntN(100), rng.IntN(100))
		},
		func() string {
			return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", rng.IntN(256), rng.IntN(256), rng.IntN(256), rng.IntN(256), rng.IntN(256), rng.IntN(256))
		},
		func() string { return fmt.Sprintf("10.%d.%d.%d", rng.IntN(256), rng.IntN(256), rng.IntN(256)) },
		func() string { return fmt.Sprintf("web%d", rng.IntN(1000)) },
		func() string { return fmt.Sprintf("pod-%c%d-%d", letters[26+rng.IntN(6)], rng.IntN(100), rng.IntN(10)) },
		func() string { return "" },
	}
	entities := map[string]workflow.Entity{"cm": {Pattern: "^[0-9a-f]{2}(:[0-9a-f]{2}){5}$"}, "none": {Column: "x"}}
	moment := func() string {
		at := time.Date(1990+rng.IntN(60), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1e9), time.FixedZone("", 3600*(rng.IntN(20)-10)))
		if rng.IntN(20) == 0 {
			return fmt.Sprint(at.AddDate(20, 0, 0).Unix()%1_000_000_000 + 1_000_000_000)
		}
		return at.Format(timeForms[rng.IntN(len(timeForms))])
	}
	for range 20_000 {
		name := names[rng.IntN(len(names))]()
		query := strings.NewReplacer("{a}", moment(), "{b}", moment(), "{v}", name).Replace([]string{
			"How many logs of {v} are there between {a} and {b}?", "Show me {v} logs since {a}.", "What happened at {a} on {v}?", "{v}: records from {a} to {b}", "before ({a}), {v} failed",
		}[rng.IntN(5)])
		if got := likelyValue(query, entities); got != name {
			t.Fatalf("%q: %q is taken for the name, want %q", query, got, name)
		}
	}
}

// TestNoSearchStandsForAQuestion holds that what was not understood and names nothing is
// not answered with the whole log.
func TestNoSearchStandsForAQuestion(t *testing.T) {
	for _, kind := range []methods.AnswerKind{methods.Number, methods.Set, methods.Text} {
		p := problem(kind, domain)
		p.Query = "Which of them had trouble between 2024-03-01 and 2024-03-02?"
		host := methodtest.NewHost(methodtest.Reply("I cannot say."), methodtest.WithTools(&logs{}))
		a, err := New().Solve(t.Context(), p, host)
		if err != nil {
			t.Fatal(err)
		}
		words, _ := a.InWords()
		words += string(a.Value)
		if a.Outcome == methods.Answered || kind != methods.Text && a.Value != nil || strings.Contains(words, "anything") || !strings.Contains(words, "not understood") {
			t.Errorf("%s: %s %s: %q", kind, a.Outcome, a.Value, words)
		}
	}
}
