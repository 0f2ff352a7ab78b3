package report

import (
	"encoding/json"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/task"
	"noema/methods"
)

// TestRepairedAnswers: an answer in another form than the one asked for is counted
// beside the answered, in every table, and one that leaves out fields is told.
func TestRepairedAnswers(t *testing.T) {
	spec := methods.AnswerSpec{Kind: methods.Fields, Names: []string{"a", "b"}}
	var samples []task.Sample
	var trials []*record.Trial
	for i, c := range []struct {
		value    string
		outcome  methods.Outcome
		repaired bool
	}{
		{`{"a":1,"b":2}`, methods.Answered, true}, {`{"a":1}`, methods.Answered, false}, {`{"a":1,"b":2}`, methods.Answered, false}, {``, methods.Unparsed, true},
	} {
		s := task.Sample{ID: string(rune('p' + i)), Problem: methods.Problem{Answer: spec}, Target: json.RawMessage(`{"a":1,"b":2}`)}
		tr := &record.Trial{Transcript: &record.Transcript{}, ID: record.TrialID{Method: "m", Sample: s.ID}, Answer: methods.Answer{Value: json.RawMessage(c.value), Outcome: c.outcome}, Target: s.Target}
		if c.repaired {
			tr.Events = []methods.Event{{Kind: methods.AnswerRepaired}, {Kind: methods.AnswerRepaired}}
		}
		var err error
		if tr.Score, err = score.For(spec).Score(spec, tr.Answer, s.Target); err != nil {
			t.Fatal(err)
		}
		samples, trials = append(samples, s), append(trials, tr)
	}
	d, err := compare.FromTrials([]string{"m"}, samples, trials)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compare.Describe(d, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes(c.Methods[0]); got != "3 answered (1 repaired), 1 unparsed" {
		t.Errorf("outcomes %q", got)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "m: 1 of 3 answers leave out fields") {
		t.Errorf("notes %q", notes)
	}
}
