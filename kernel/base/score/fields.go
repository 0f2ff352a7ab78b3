package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"noema/methods"
)

// fields scores named values. Every field of the target counts, and a field
// that the answer lacks is wrong, not left out; fields that the target does
// not name are ignored. field_accuracy is the share of right fields, accuracy
// is 1 if all are right. Numbers are compared within the tolerances, texts
// exactly, lists in order.
type fields struct{ want map[string]any }

func newFields(spec methods.AnswerSpec, target json.RawMessage) (grader, error) {
	raw, err := parseTarget[map[string]json.RawMessage](methods.Fields, target)
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("score: fields target names no field")
	}
	want := make(map[string]any, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if len(spec.Names) > 0 && !slices.Contains(spec.Names, name) {
			return nil, fmt.Errorf("score: fields target has %.80q, which the problem does not ask for", name)
		}
		if want[name], err = decodeValue(raw[name]); err != nil {
			return nil, fmt.Errorf("score: fields target %.80q: %w", name, err)
		}
	}
	return fields{want}, nil
}

func (f fields) grade(a methods.Answer) (map[string]float64, error) {
	got, err := a.Fields()
	if err != nil {
		return nil, err
	}
	right := 0
	for name, want := range f.want {
		raw, ok := got[name]
		if !ok {
			continue
		}
		have, err := decodeValue(raw)
		if err != nil {
			return nil, fmt.Errorf("field %.80q: %w", name, err)
		}
		if sameValue(have, want) {
			right++
		}
	}
	return map[string]float64{
		Accuracy:      oneIf(right == len(f.want)),
		FieldAccuracy: float64(right) / float64(len(f.want)),
	}, nil
}

// decodeValue keeps numbers as text, so that integers beyond 2^53 stay apart.
func decodeValue(raw json.RawMessage) (v any, err error) {
	err = methods.DecodeJSON(raw, &v)
	return v, err
}

func sameValue(got, want any) bool {
	switch want := want.(type) {
	case json.Number:
		got, ok := got.(json.Number)
		return ok && sameJSONNumber(got, want)
	case []any:
		got, ok := got.([]any)
		return ok && slices.EqualFunc(got, want, sameValue)
	case map[string]any:
		got, ok := got.(map[string]any)
		return ok && maps.EqualFunc(got, want, sameValue)
	}
	return got == want // nil, bool or string
}

// sameJSONNumber compares integers exactly and all else within the tolerances.
func sameJSONNumber(got, want json.Number) bool {
	if got == want {
		return true
	}
	_, gotErr := got.Int64()
	_, wantErr := want.Int64()
	if gotErr == nil && wantErr == nil {
		return false
	}
	g, gotErr := got.Float64()
	w, wantErr := want.Float64()
	return gotErr == nil && wantErr == nil && sameNumber(g, w)
}
