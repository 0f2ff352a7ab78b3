package score

import (
	"encoding/json"
	"fmt"

	"noema/kernel/base/title"
	"noema/methods"
)

// EvidenceRecall is the share of the gold articles that an answer's evidence is
// from. It is undefined for an answer that names no evidence.
const EvidenceRecall = "evidence_recall"

// researchScorer scores answers to questions over articles. The target is
// {"answer": "…", "aliases": […], "evidence": [titles]}; the text is scored as
// [For] scores a text, and the evidence by its sources.
type researchScorer struct{}

type researchTarget struct {
	Answer   string
	Aliases  []string
	Evidence []string
}

func (researchScorer) Score(spec methods.AnswerSpec, answer methods.Answer, target json.RawMessage) (Score, error) {
	var want researchTarget
	if err := json.Unmarshal(target, &want); err != nil || want.Answer == "" {
		return Score{}, fmt.Errorf("score: research target %.80q names no answer", target)
	}
	accepted, err := json.Marshal(append([]string{want.Answer}, want.Aliases...))
	if err != nil {
		return Score{}, fmt.Errorf("score: %w", err)
	}
	s, err := For(spec).Score(spec, answer, accepted)
	if err != nil || len(answer.Evidence) == 0 || len(want.Evidence) == 0 {
		return s, err
	}
	found := 0
	for _, name := range want.Evidence {
		for _, e := range answer.Evidence {
			if sameArticle(e.Source, name) {
				found++
				break
			}
		}
	}
	recall := float64(found) / float64(len(want.Evidence))
	if answer.Outcome == methods.Answered {
		s.Values[EvidenceRecall] = recall
		return s, nil
	}
	s.Values[EvidenceRecall] = 0
	if s.Given != nil {
		s.Given[EvidenceRecall] = recall
	}
	return s, nil
}

// sameArticle reports whether a source, an address or a title, is the article of
// that title.
func sameArticle(source, name string) bool {
	return title.Canonical(title.Of(source)) == title.Canonical(name)
}
