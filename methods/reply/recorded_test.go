package reply_test

import (
	"encoding/json"
	"os"
	"testing"

	"noema/methods"
	"noema/methods/reply"
)

// What SmolLM2-135M-Instruct (Apache-2.0) said to direct and cot on generated
// arithmetic and on a handful of choices, greedily, at most 160 tokens. The wanted
// readings were decided by eye; none means that a reader would have to guess.
func TestRecordedReplies(t *testing.T) {
	raw, err := os.ReadFile("testdata/smollm2.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Kind        methods.AnswerKind
		Labels      []string
		Reply, Want string
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for i, c := range all {
		spec := methods.AnswerSpec{Kind: c.Kind, Labels: c.Labels}
		for _, form := range []reply.Form{reply.ObjectForm, reply.TurnForm, reply.LineForm} {
			r, err := reply.ReadAnswer(c.Reply, spec, form)
			if string(r.Answer.Value) != c.Want || (err == nil) != (c.Want != "") {
				t.Errorf("reply %d, %.80q: %s %v, want %s", i, c.Reply, r.Answer.Value, err, c.Want)
			}
		}
	}
}
