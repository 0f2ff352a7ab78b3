package score

import (
	"encoding/json"
	"fmt"
	"slices"

	"noema/methods"
)

// The values of a fields problem that asks for a verdict, per trial.
const (
	VerdictAccuracy   = "verdict"    // 1 if the verdict is right
	PrimitiveAccuracy = "primitives" // share of the other fields that are right; a missing one is wrong
)

// verdict scores fields of which one is a conclusion: a level on a scale. The
// primitives behind it are scored apart, since a right verdict from wrong
// primitives is luck.
type verdict struct {
	level      any // of the target
	primitives fields
	labels     int
}

func newVerdict(spec methods.AnswerSpec, target json.RawMessage) (grader, error) {
	g, err := newFields(spec, target)
	if err != nil {
		return nil, err
	}
	all := g.(fields)
	level, ok := all.want[methods.Verdict]
	text, isText := level.(string)
	if !ok || !isText || !slices.Contains(spec.Labels, text) {
		return nil, fmt.Errorf("score: fields target has verdict %v, which is not one of the levels %q", level, spec.Labels)
	}
	delete(all.want, methods.Verdict)
	return verdict{level: level, primitives: all, labels: len(spec.Labels)}, nil
}

func (v verdict) grade(a methods.Answer) (map[string]float64, error) {
	got, err := a.Fields()
	if err != nil {
		return nil, err
	}
	values := map[string]float64{VerdictAccuracy: 0}
	if raw, ok := got[methods.Verdict]; ok {
		have, err := decodeValue(raw)
		if err != nil {
			return nil, err
		}
		values[VerdictAccuracy] = oneIf(sameValue(have, v.level))
	}
	if len(v.primitives.want) > 0 {
		inner, err := v.primitives.grade(a)
		if err != nil {
			return nil, err
		}
		values[PrimitiveAccuracy] = inner[FieldAccuracy]
	}
	return values, nil
}

func (v verdict) chance() map[string]float64 {
	return map[string]float64{VerdictAccuracy: 1 / float64(v.labels)}
}
