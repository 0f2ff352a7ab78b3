package methods

import (
	"encoding/json"
	"testing"
)

func TestTextThatIsNotUnicodeIsRefused(t *testing.T) {
	text := AnswerSpec{Kind: Text}
	for name, a := range map[string]Answer{
		"text":           TextAnswer("caf\xe9"),
		"value":          {Outcome: Answered, Value: json.RawMessage("\"caf\xe9\"")},
		"half an escape": {Outcome: Answered, Value: json.RawMessage(`"\ud83d"`)},
		"other half":     {Outcome: Answered, Value: json.RawMessage(`"\ude00 and more"`)},
		"reason":         {Outcome: Refused, Reason: "caf\xe9"},
		"evidence":       {Outcome: Answered, Value: json.RawMessage(`"x"`), Evidence: []Evidence{{Text: "caf\xe9"}}},
	} {
		if err := text.Check(a); err == nil {
			t.Errorf("%s: %q is accepted", name, a.Value)
		}
	}
	if err := (AnswerSpec{Kind: Set}).Check(SetAnswer([]string{"a", "\xff"})); err == nil {
		t.Error("a set with such a text is accepted")
	}
	for _, s := range []string{"café", "\U0001F600", "\ufffd", `\ud83d`, ""} {
		if err := text.Check(TextAnswer(s)); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	if err := text.Check(Answer{Outcome: Answered, Value: json.RawMessage(`"\ud83d\ude00 \\ud83d"`)}); err != nil {
		t.Error(err)
	}
}
