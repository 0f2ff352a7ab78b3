package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"noema/cache"
	"noema/kernel/result/record"
)

// What can be taken out of a pack.
const (
	prompts    = "prompts" // what models were asked; every trial can still be computed again
	allReplies = "replies" // what models and tools answered, and all that methods made of it
	items      = "items"   // the data: samples, targets, and what quotes them: prompts, tool results, events
)

// Redactable lists what can be taken out of a pack. What was taken out leaves its digest.
func Redactable() []string { return []string{prompts, allReplies, items} }

// redaction is a choice of Redactable.
type redaction []string

func (r redaction) has(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(r, n) })
}

// computable reports whether trials can be computed again without what was taken out.
func (r redaction) computable() bool { return !r.has(allReplies, items) }

func (r redaction) check() error {
	for _, name := range r {
		if !slices.Contains(Redactable(), name) {
			return fmt.Errorf("redact %q: choose among prompts, replies and items", name)
		}
	}
	return nil
}

// line is a record as it may be given away; nil if nothing of it may.
func (r redaction) line(folder string, text []byte) ([]byte, error) {
	request := folder == replies && r.has(prompts, items)
	answer := folder != samples && r.has(allReplies) || folder == tools && r.has(items)
	switch {
	case folder == samples && r.has(items), folder == replaced && answer:
		return nil, nil
	case folder == samples, !request && !answer:
		return text, nil
	}
	return cache.Redacted(text, request, answer)
}

// trial is a transcript as it may be given away.
func (r redaction) trial(t *record.Trial) {
	if r.computable() {
		return
	}
	for i, e := range t.Events {
		t.Events[i].Text, t.Events[i].Data = takenText(e.Text), taken(e.Data)
	}
	for _, calls := range [][]record.Call{t.Calls, t.Grading} {
		for i := range calls {
			calls[i].Error = takenText(calls[i].Error)
		}
	}
	t.Answer.Reason, t.Answer.Evidence = takenText(t.Answer.Reason), nil
	t.Failure, t.Ungraded = takenText(t.Failure), takenText(t.Ungraded)
	if r.has(items) {
		t.Target = taken(t.Target)
	}
	if r.has(allReplies) {
		t.Answer.Value = taken(t.Answer.Value)
	}
}

// takenText is the same for a text.
func takenText(text string) string {
	if text == "" {
		return ""
	}
	return digestOf([]byte(text))
}

// taken is the digest in the place of a JSON value. What is not there stays so.
func taken(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return raw
	}
	return json.RawMessage(`"` + digestOf(raw) + `"`)
}

func digestOf(raw []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(raw)) }
