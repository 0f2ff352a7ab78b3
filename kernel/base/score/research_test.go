package score

import (
	"encoding/json"
	"testing"

	"noema/methods"
)

// TestEvidenceIsThatArticle counts as evidence only the articles of the target,
// not others whose titles look like theirs.
func TestEvidenceIsThatArticle(t *testing.T) {
	by, err := Named("research").For(methods.AnswerSpec{Kind: methods.Text})
	if err != nil {
		t.Fatal(err)
	}
	target := json.RawMessage(`{"answer":"Ada","evidence":["2016 Open","The Office"]}`)
	for source, want := range map[string]float64{
		"wiki/2016_Open": 0.5, "2016 Open": 0.5, "https://en.example/wiki/The_Office#Plot": 0.5, "the Office": 0.5,
		"2017 Open": 0, "Open": 0, "Office": 0, "wiki/2016_Open!": 0,
	} {
		a := methods.TextAnswer("an Ada.")
		a.Evidence = []methods.Evidence{{Source: source}}
		s, err := by.Score(methods.AnswerSpec{Kind: methods.Text}, a, target)
		if err != nil || s.Values[EvidenceRecall] != want || s.Values[EM] != 1 {
			t.Errorf("evidence %q: recall %v, em %v (%v), want %v", source, s.Values[EvidenceRecall], s.Values[EM], err, want)
		}
	}
}
