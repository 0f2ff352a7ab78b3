package reply

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// SchemaFault is one way in which a value departs from its schema. Prompts quote
// its words, which are thus part of keys: a change of them asks models again.
type SchemaFault struct {
	Place []string // keys and indices from the root to the value at fault
	Rule  string   // the schema's keyword that is not met, such as "required"
	Text  string   // such as "got string, want number"
}

// String is the fault on one line, with its place.
func (f SchemaFault) String() string {
	if len(f.Place) == 0 {
		return f.Text
	}
	return "at /" + strings.Join(f.Place, "/") + ": " + f.Text
}

// maxFaults bounds the list: a reply can be made to break a rule many times.
const maxFaults = 1000

// inOrder are faults sorted by what they say, none twice.
func inOrder(list []SchemaFault) []SchemaFault {
	slices.SortFunc(list, func(a, b SchemaFault) int { return cmp.Compare(a.String(), b.String()) })
	list = slices.CompactFunc(list, func(a, b SchemaFault) bool { return a.String() == b.String() })
	return list[:min(len(list), maxFaults)]
}

// faultsOf are the faults at the leaves of an error, since those above them only
// say that there are some below.
func faultsOf(e *jsonschema.ValidationError) []SchemaFault {
	if _, ok := e.ErrorKind.(*kind.AnyOf); ok {
		return anyOf(e)
	}
	if len(e.Causes) == 0 {
		return []SchemaFault{{slices.Clone(e.InstanceLocation), ruleOf(e.ErrorKind), words(e.ErrorKind)}}
	}
	var all []SchemaFault
	for _, cause := range e.Causes {
		all = append(all, faultsOf(cause)...)
	}
	return all
}

// anyOf are the faults of all alternatives, but for a value of which a property
// says which one is meant, those of that one.
func anyOf(e *jsonschema.ValidationError) []SchemaFault {
	var all, meant, named []SchemaFault
	depth := len(e.InstanceLocation)
	for _, alternative := range e.Causes {
		faults := faultsOf(alternative)
		all = append(all, faults...)
		marks := slices.DeleteFunc(slices.Clone(faults), func(f SchemaFault) bool {
			return len(f.Place) != depth+1 || f.Rule != "const" && f.Rule != "enum"
		})
		switch {
		case len(marks) > 0:
			named = append(named, slices.MinFunc(marks, func(a, b SchemaFault) int { return slices.Compare(a.Place, b.Place) }))
		case faults[0].Rule != "type" || len(faults[0].Place) > depth:
			meant = append(meant, faults...)
		}
	}
	switch {
	case named != nil && meant != nil:
		return meant
	case named != nil:
		return named
	}
	return all
}

// ruleOf is the keyword that is not met.
func ruleOf(k jsonschema.ErrorKind) string {
	if _, ok := k.(*kind.Not); ok {
		return "not"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return path[0]
	}
	return ""
}

// words are the library's, but for numbers, which it writes as 1,000, null, which
// it writes as <nil>, and properties, which it lists in no order.
func words(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.AdditionalProperties:
		slices.Sort(k.Properties)
	case *kind.Enum:
		return oneOf("enum", k.Want)
	case *kind.Const:
		return oneOf("const", []any{k.Want})
	case *kind.UniqueItems:
		return fmt.Sprintf("items at %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.MinLength:
		return outside(k, k.Got, k.Want)
	case *kind.MaxLength:
		return outside(k, k.Got, k.Want)
	case *kind.MinItems:
		return outside(k, k.Got, k.Want)
	case *kind.MaxItems:
		return outside(k, k.Got, k.Want)
	case *kind.MinProperties:
		return outside(k, k.Got, k.Want)
	case *kind.MaxProperties:
		return outside(k, k.Got, k.Want)
	case *kind.Minimum:
		return outside(k, shortest(k.Got), shortest(k.Want))
	case *kind.Maximum:
		return outside(k, shortest(k.Got), shortest(k.Want))
	case *kind.ExclusiveMinimum:
		return outside(k, shortest(k.Got), shortest(k.Want))
	case *kind.ExclusiveMaximum:
		return outside(k, shortest(k.Got), shortest(k.Want))
	case *kind.MultipleOf:
		return outside(k, shortest(k.Got), shortest(k.Want))
	}
	return k.LocalizedString(message.NewPrinter(language.English))
}

func outside(k jsonschema.ErrorKind, got, want any) string {
	return fmt.Sprintf("%s: got %v, want %v", ruleOf(k), got, want)
}

// shortest shows a number as a person writes it.
func shortest(x *big.Rat) string {
	f, _ := x.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// oneOf lists the values that a value may have, if each is short.
func oneOf(rule string, list []any) string {
	shown := make([]string, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case string:
			shown[i] = quote(v)
		case nil:
			shown[i] = "null"
		case []any, map[string]any:
			return "'" + rule + "' failed"
		default:
			shown[i] = fmt.Sprint(v)
		}
	}
	if len(shown) == 1 {
		return "value must be " + shown[0]
	}
	return "value must be one of " + strings.Join(shown, ", ")
}

// quote shows a text in single quotes.
func quote(s string) string {
	s = strconv.Quote(s)
	s = strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`)
	return "'" + strings.ReplaceAll(s, `'`, `\'`) + "'"
}

// maxNumber bounds the exponent and the digits of a number: the check computes
// exactly, which takes long for numbers that nobody means.
const maxNumber = 1000

// outOfRange are the numbers in a value that are not computed with.
func outOfRange(v any, place []string) (list []SchemaFault) {
	switch v := v.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(v.String()), "e")
		e, err := strconv.Atoi(cmp.Or(exponent, "0"))
		if err != nil || e < -maxNumber || e > maxNumber || len(v) > maxNumber {
			return []SchemaFault{{slices.Clone(place), "", "the number is out of range"}}
		}
	case []any:
		for i, item := range v {
			list = append(list, outOfRange(item, append(place, strconv.Itoa(i)))...)
		}
	case map[string]any:
		for key, item := range v {
			list = append(list, outOfRange(item, append(place, key))...)
		}
	}
	return list
}
