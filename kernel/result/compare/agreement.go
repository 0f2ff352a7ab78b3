package compare

import (
	"encoding/json"
	"fmt"
	"reflect"

	"noema/kernel/base/score"
	"noema/methods"
)

// Agreement is how often two methods gave the same answer where nobody knows the
// right one. It is a count: that two agree is not evidence that they are right.
type Agreement struct {
	Same  int `json:"same"`  // trials with the same answer
	Both  int `json:"both"`  // trials, paired by sample and epoch, in which both answered; a fallback is not an answer
	Pairs int `json:"pairs"` // trials that both methods have
}

// agreement counts over the samples without a target; nil if there are none.
func (d Data) agreement(a, b int) *Agreement {
	var g *Agreement
	for _, s := range d.Samples {
		if !s.Unscored {
			continue
		}
		if g == nil {
			g = &Agreement{}
		}
		for _, x := range s.Cells[a] {
			for _, y := range s.Cells[b] {
				if x.Epoch == y.Epoch {
					g.count(x.Prediction.Answer, y.Prediction.Answer)
				}
			}
		}
	}
	return g
}

func (g *Agreement) count(x, y methods.Answer) {
	g.Pairs++
	if x.Outcome != methods.Answered || y.Outcome != methods.Answered {
		return // a fallback is not a result
	}
	g.Both++
	if sameValue(x.Value, y.Value) {
		g.Same++
	}
}

// sameValue compares answers as scorers do: texts as [score.Normalize] has them,
// sets in any order, which their canonical form has already, and all else as JSON.
func sameValue(x, y json.RawMessage) bool {
	var a, b any
	if json.Unmarshal(x, &a) != nil || json.Unmarshal(y, &b) != nil {
		return false
	}
	s, isText := a.(string)
	t, both := b.(string)
	if isText && both {
		return score.Normalize(s) == score.Normalize(t)
	}
	return reflect.DeepEqual(a, b)
}

// Sentence says it of methods a and b.
func (g *Agreement) Sentence(a, b string) string {
	if g == nil || g.Both == 0 {
		return fmt.Sprintf("%s and %s: no question without a target to which both gave an answer", a, b)
	}
	return fmt.Sprintf("%s and %s gave the same answer in %d of %d trials without a target in which both gave one", a, b, g.Same, g.Both)
}
