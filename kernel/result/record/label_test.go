package record

import (
	"strings"
	"testing"
)

func TestReadLabels(t *testing.T) {
	good := `{"sample":"a","answer":"x","label":"right"}` + "\n"
	for _, c := range []struct {
		name, text string
		labels     int
		says       string
	}{
		{"two", good + `{"sample":"a","answer": {"b": 1},"label":"wrong"}`, 2, ""},
		{"a second verdict", good + `{"sample":"a","answer":"x","label":"skipped"}` + "\n\n", 1, ""},
		{"a cut last line", good + `{"sample":"a","ans`, 1, ""},
		{"a cut line within", `{"sample":"a","ans` + "\n" + good, 0, "line 1"},
		{"another word", `{"sample":"a","answer":"x","label":"yes"}`, 0, `the label "yes"`},
		{"no sample", `{"answer":"x","label":"right"}`, 0, "want {"},
		{"no answer", `{"sample":"a","label":"right"}`, 0, "want {"},
		{"another type", `{"sample":7,"answer":"x","label":"right"}`, 0, "line 1"},
		{"deep", `{"sample":"a","answer":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `,"label":"right"}`, 0, "levels deep"},
	} {
		labels, err := ReadLabels(strings.NewReader(c.text))
		if len(labels) != c.labels || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %d labels, %v", c.name, len(labels), err)
		}
		if c.name == "a second verdict" && labels[0].Label != Skipped {
			t.Errorf("the first verdict counts: %v", labels)
		}
	}
	spaced, plain := Label{Sample: "a", Answer: []byte(`{"b": 1}`)}, Label{Sample: "a", Answer: []byte(`{"b":1}`)}
	if spaced.Of() != plain.Of() {
		t.Error("spaces in JSON make another answer")
	}
}
