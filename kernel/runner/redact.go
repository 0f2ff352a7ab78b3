package runner

import (
	"slices"

	"noema/kernel/record"
	"noema/kernel/redact"
)

// redactTrial takes the user's keys out of what a method says at its end: the
// gateway has taken them out of all else.
func redactTrial(red *redact.Redactor, t *record.Trial) {
	if red == nil {
		return
	}
	t.Failure = red.Text(t.Failure)
	t.Answer.Value, t.Answer.Reason = red.Bytes(t.Answer.Value), red.Text(t.Answer.Reason)
	t.Answer.Evidence = slices.Clone(t.Answer.Evidence)
	for i, e := range t.Answer.Evidence {
		t.Answer.Evidence[i].Source, t.Answer.Evidence[i].Text = red.Text(e.Source), red.Text(e.Text)
	}
	for i, c := range t.Calls {
		t.Calls[i].Error = red.Text(c.Error)
	}
}
