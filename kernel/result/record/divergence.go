package record

import (
	"cmp"
	"fmt"

	"noema/methods"
)

// Divergence is the first place where two executions of a trial differ.
type Divergence struct {
	Trial TrialID `json:"trial"`
	Path  string  `json:"path,omitempty"` // call path; empty if it is not at a call or an event
	What  string  `json:"what"`
}

// String says where and what.
func (d Divergence) String() string {
	if d.Path == "" {
		return fmt.Sprintf("trial %s: %s", d.Trial, d.What)
	}
	return fmt.Sprintf("trial %s, call %s: %s", d.Trial, d.Path, d.What)
}

// FirstDivergence compares two sealed executions of one trial: calls in their
// canonical order, then events, then the answer, then the score. It returns
// nil if their hashes are equal.
func FirstDivergence(recorded, now *Trial) *Divergence {
	if recorded.Hash == now.Hash {
		return nil
	}
	d := &Divergence{Trial: recorded.ID}
	for _, find := range []func(a, b *Trial) (path, what string){divergingCall, divergingGrading, divergingEvent, divergingAnswer} {
		if path, what := find(recorded, now); what != "" {
			d.Path, d.What = path, what
			return d
		}
	}
	d.What = fmt.Sprintf("hash was %.12s, is now %.12s", recorded.Hash, now.Hash)
	return d
}

func divergingCall(recorded, now *Trial) (path, what string) {
	return diverging(recorded.Calls, now.Calls, now)
}

func divergingGrading(recorded, now *Trial) (path, what string) {
	return diverging(recorded.Grading, now.Grading, now)
}

// diverging is where calls differ that both executions made for the same.
func diverging(before, after []Call, now *Trial) (path, what string) {
	for i := range max(len(before), len(after)) {
		switch {
		case i >= len(before):
			return after[i].Path, "a call that was not recorded" + because(after[i])
		case i >= len(after):
			return before[i].Path, "recorded but not made now" + cause(now)
		}
		a, b := before[i], after[i]
		c := ComparePaths(a.Path, b.Path)
		switch {
		case c < 0:
			return a.Path, "recorded but not made now" + cause(now)
		case c > 0:
			return b.Path, "a call that was not recorded" + because(b)
		case a.Fault != b.Fault && b.Fault != "":
			return b.Path, "failed" + because(b)
		case a.Fault != b.Fault:
			return b.Path, fmt.Sprintf("recorded as failed (%s), answered now", a.Fault)
		case a.Key != b.Key || a.Draw != b.Draw:
			return b.Path, fmt.Sprintf("another request: key was %.12s, is now %.12s", a.Key, b.Key)
		case a.Digest != b.Digest:
			return b.Path, fmt.Sprintf("same request, different reply (digest was %.12s, is now %.12s)", a.Digest, b.Digest)
		}
	}
	return "", ""
}

func because(c Call) string {
	why := cmp.Or(c.Missing, c.Error)
	if why == "" {
		return ""
	}
	return ": " + why
}

// cause adds the failure that ended a trial.
func cause(t *Trial) string {
	if t.Failure == "" {
		return ""
	}
	return ": " + t.Failure
}

func divergingEvent(recorded, now *Trial) (path, what string) {
	for i := range max(len(recorded.Events), len(now.Events)) {
		switch {
		case i >= len(recorded.Events):
			return now.Events[i].Path, "a new event: " + eventText(now.Events[i])
		case i >= len(now.Events):
			return recorded.Events[i].Path, "an event is missing: " + eventText(recorded.Events[i])
		}
		if a, b := recorded.Events[i], now.Events[i]; !sameEvent(a, b) {
			what := fmt.Sprintf("event was %s, is now %s", eventText(a), eventText(b))
			if eventText(a) == eventText(b) {
				what = fmt.Sprintf("event %s has other details", eventText(a))
			}
			return b.Path, what
		}
	}
	return "", ""
}

func sameEvent(a, b methods.Event) bool {
	return a.Path == b.Path && a.Phase == b.Phase && a.Kind == b.Kind && a.Text == b.Text && a.Level == b.Level && string(a.Data) == string(b.Data)
}

func eventText(e methods.Event) string { return fmt.Sprintf("%s %.80q %.80q", e.Kind, e.Text, e.Data) }

func divergingAnswer(recorded, now *Trial) (path, what string) {
	a, b := recorded.Answer, now.Answer
	switch {
	case a.Outcome != b.Outcome:
		return "", fmt.Sprintf("outcome was %s, is now %s", a.Outcome, b.Outcome) + cause(now)
	case string(a.Value) != string(b.Value):
		return "", fmt.Sprintf("answer was %.80s, is now %.80s", a.Value, b.Value)
	case a.Reason != b.Reason:
		return "", fmt.Sprintf("reason was %.80q, is now %.80q", a.Reason, b.Reason)
	case fmt.Sprint(recorded.Score.Values) != fmt.Sprint(now.Score.Values):
		return "", fmt.Sprintf("score was %v, is now %v", recorded.Score.Values, now.Score.Values)
	case fmt.Sprint(a.Evidence) != fmt.Sprint(b.Evidence):
		return "", "other evidence"
	}
	return "", ""
}
