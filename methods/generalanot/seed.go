package generalanot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"noema/methods"
	"noema/methods/plans"
)

// FormulaSeed is a policy compiled into what a machine can carry out: which
// reviews matter, what a model extracts from each, and what is computed from
// that. It is made once for a policy and used for every restaurant. The keys
// are fixed; the values are the model's, or a person's, since a seed is meant
// to be read and edited.
//
// Source: seed 001 §Schema Contract. Differs: the last three keys of JSON,
// which the seed names as future considerations, are optional here; an empty
// list of keywords picks every review rather than none; a seed without
// extraction fields needs no model and computes from stars and dates.
type FormulaSeed struct {
	TaskName         string            `json:"task_name" doc:"a short name for people"`
	FilterKeywords   []string          `json:"filter_keywords" doc:"words or phrases, one of which a review must contain to matter; empty picks every review"`
	ExtractionFields []ExtractionField `json:"extraction_fields" doc:"what the model fills in for one review"`
	ExtractionPrompt string            `json:"extraction_prompt" doc:"what the model is told about one review; placeholders {review_text} {review_date} {review_stars} {review_useful}"`
	ComputeDAG       []ComputeStep     `json:"compute_dag" doc:"formulas, each after those whose names it uses"`
	OutputFields     []string          `json:"output_fields" doc:"names of the steps that are the result"`
	Lookups          []Lookup          `json:"lookups,omitempty" doc:"tables from a field of the context to a value"`
	ReviewHandling   *ReviewHandling   `json:"review_handling,omitempty" doc:"how long reviews are cut"`
	ReviewValidity   *ReviewValidity   `json:"review_validity,omitempty" doc:"which reviews are left out after extraction"`
}

// ExtractionField is one value that the model extracts from a review.
type ExtractionField struct {
	Name   string   `json:"name" doc:"identifier by which formulas read it: e['name']"`
	Type   string   `json:"type" enum:"enum,boolean,integer,number,string"`
	Values []string `json:"values,omitempty" doc:"the labels of an enum"`
}

// The types of extraction fields.
const (
	enumType    = "enum"
	booleanType = "boolean"
	integerType = "integer"
	numberType  = "number"
	stringType  = "string"
)

func fieldTypes() []string {
	return []string{enumType, booleanType, integerType, numberType, stringType}
}

// typed fills in the type of a field that has none, as in seed 001's example of
// review_validity: labels make an enum, and without any it is a text.
func (f *ExtractionField) typed() {
	switch {
	case f.Type != "":
	case len(f.Values) > 0:
		f.Type = enumType
	default:
		f.Type = stringType
	}
}

// domain says in words what the field may be.
func (f ExtractionField) domain() string {
	switch f.Type {
	case enumType:
		quoted := make([]string, len(f.Values))
		for i, v := range f.Values {
			quoted[i] = string(plainJSON(v))
		}
		return "one of " + strings.Join(quoted, ", ")
	case booleanType:
		return "true or false"
	case integerType:
		return "a whole number"
	case numberType:
		return "a number"
	}
	return "a text"
}

// ComputeStep is one step of the compute DAG: a name and the Python expression
// whose value it gets.
type ComputeStep struct {
	Name    string `json:"name" doc:"identifier by which later formulas read the value"`
	Formula string `json:"formula" doc:"one Python expression"`
}

// Lookup is a table that turns a field of the context into a value.
type Lookup struct {
	Name    string        `json:"name" doc:"identifier by which formulas read the value"`
	Field   string        `json:"field" doc:"path into the context, such as restaurant.cuisine"`
	Table   []LookupEntry `json:"table"`
	Default any           `json:"default" doc:"the value for what the table does not have"`
}

// LookupEntry is one line of a lookup table. The key is compared with the
// field's text, in upper or lower case; *key* is looked for within the text.
type LookupEntry struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// ReviewHandling says how reviews longer than MaxLength characters are cut:
// the strategy names the part that is kept. "truncate_head" is seed 001's name
// for "head".
type ReviewHandling struct {
	MaxLength int    `json:"max_length" doc:"characters"`
	Strategy  string `json:"strategy" enum:"head,tail,head+tail,truncate_head,truncate_tail"`
}

// ReviewValidity leaves out of the computation the reviews whose enum Field
// has a value that is not in Keep.
type ReviewValidity struct {
	Field string   `json:"field" doc:"an enum of extraction_fields"`
	Keep  []string `json:"keep" doc:"the values that stay"`
}

// Parse reads a Formula Seed. It checks the form only; see [Validate] for the
// rest. A key that a Formula Seed does not have is an error.
func Parse(raw []byte) (*FormulaSeed, error) {
	var s *FormulaSeed
	if err := decodeStrict(raw, &s); err != nil {
		return nil, fmt.Errorf("parse formula seed: %w", err)
	}
	if s == nil {
		return nil, errors.New("parse formula seed: the value is null")
	}
	for i := range s.ExtractionFields {
		s.ExtractionFields[i].typed()
	}
	return s, nil
}

// decodeStrict reads one JSON value. Keys that its type does not have are
// errors.
func decodeStrict(raw []byte, into any) error {
	return place(raw, methods.DecodeWhole(raw, into, true))
}

// place adds the line to an error that knows its offset.
func place(raw []byte, err error) error {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(raw)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(raw[:offset], []byte("\n")), err)
}

// Marshal writes a seed the way a person would: indented, the keys in the
// order of the type, a line break at the end. The same seed gives the same
// bytes, and Parse reads them back.
func Marshal(s *FormulaSeed) ([]byte, error) {
	raw, err := plans.Encode(s)
	if err != nil {
		return nil, fmt.Errorf("write formula seed: %w", err)
	}
	return raw, nil
}

// plainJSON is [methods.EncodeJSON] for texts, numbers, booleans and lists or maps of them,
// which always encode.
func plainJSON(v any) json.RawMessage {
	return methods.Must(methods.EncodeJSON(v))
}
