package generalanot

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// Extraction is what was extracted from one review.
type Extraction struct {
	Review int            `json:"review"` // its number in the context, from 1
	Fields map[string]any `json:"fields"` // by the names of the seed's extraction fields

	item      int                // the item that the review is of, in a ranking
	agreement map[string]float64 // by field: the share of the passes that read the value; nil after one pass
}

// readFields decodes the fields of an extraction to the values that formulas
// see.
func readFields(fields []ExtractionField, raw json.RawMessage) (map[string]any, error) {
	found := map[string]any{}
	if err := methods.DecodeJSON(raw, &found); err != nil {
		return nil, err
	}
	values := make(map[string]any, len(fields))
	var errs []error
	for _, f := range fields {
		v, err := f.read(found[f.Name])
		if err != nil {
			errs = append(errs, fmt.Errorf("field %s: %w", f.Name, err))
		}
		values[f.Name] = v
	}
	return values, errors.Join(errs...)
}

// read checks a value of the field, in case no schema did.
func (f ExtractionField) read(v any) (any, error) {
	switch v := v.(type) {
	case string:
		if f.Type == stringType || f.Type == enumType && slices.Contains(f.Values, v) {
			return v, nil
		}
	case bool:
		if f.Type == booleanType {
			return v, nil
		}
	case json.Number:
		if f.Type == numberType {
			return v, nil
		}
		if n, ok := wholeNumber(v.String()); ok && f.Type == integerType {
			return n, nil
		}
	}
	return nil, fmt.Errorf("%.60s is not %s", plainJSON(v), f.domain())
}

// wholeNumber reads an integer within 64 bits. JSON Schema takes 3.0 for one,
// and so must a formula.
func wholeNumber(s string) (int64, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(x) > 1<<53 || x != math.Trunc(x) {
		return 0, false
	}
	return int64(x), true
}

// text is the extraction on one line, in the order of the fields.
func (e Extraction) text(fields []ExtractionField) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = fmt.Sprintf("%s=%v", f.Name, e.Fields[f.Name])
	}
	return strings.Join(parts, " ")
}
