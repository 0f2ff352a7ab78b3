package sim

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/policy"
	"noema/methods"
)

// assessment is a policy applied to the reviews of one restaurant.
type assessment struct {
	policy  policy.Policy
	reviews []policy.Review
	asked   []string // the fields of the answer, in order
	values  map[string]any
}

// solvePolicy answers a policy by reading the reviews.
func solvePolicy(p prompt, n noise) (solution, bool) {
	a, ok := assess(p, n)
	if !ok {
		return solution{}, false
	}
	var b strings.Builder
	b.WriteString("The reviews that say something:\n")
	for i, r := range a.reviews {
		if !r.Labels.Silent() {
			fmt.Fprintf(&b, "- Review %d (%d stars, %d, %d votes): %s.\n", i+1, r.Stars, r.Year, r.Useful, a.said(r.Labels))
		}
	}
	b.WriteString("From these follows:\n")
	for _, name := range a.policy.Primitives() {
		fmt.Fprintf(&b, "- %s is %s.\n", name, plainJSON(a.values[name]))
	}
	fmt.Fprintf(&b, "- The verdict is %s.\n", plainJSON(a.values[policy.VerdictName]))
	return solution{steps: b.String(), value: a.object()}, true
}

// said lists what labels tell, in the order of the policy.
func (a assessment) said(l policy.Labels) string {
	var parts []string
	for _, f := range a.policy.Fields {
		if v := l[f.Name]; v != policy.None {
			parts = append(parts, f.Name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}

// object is the answer. A field that the policy does not define is null.
func (a assessment) object() string {
	parts := make([]string, len(a.asked))
	for i, name := range a.asked {
		parts[i] = plainJSON(name) + ": " + plainJSON(a.values[name])
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// assess reads the policy and all reviews and computes the policy, each with its
// errors.
func assess(p prompt, n noise) (assessment, bool) {
	a := assessment{}
	query, _ := p.question()
	list, shown := p.data("reviews")
	var known bool
	if a.policy, known = policy.FindPolicy(query); !known || !shown {
		return a, false
	}
	a.asked = fieldsAsked(p, a.policy)
	fields := a.policy.Fields
	a.policy = misreadPolicy(a.policy, n)
	for _, r := range readReviews(list) {
		l := a.policy.Read(r.Text)
		for _, f := range fields {
			at := slices.IndexFunc(a.policy.Fields, func(known policy.Field) bool { return known.Name == f.Name })
			if at < 0 {
				l[f.Name] = policy.None
				continue
			}
			l[f.Name] = offeredField{f, a.policy.Fields[at].Values}.read(l[f.Name], r.Text, n)
		}
		a.reviews = append(a.reviews, policy.Review{Labels: l, Stars: int(r.Stars), Year: r.year(), Useful: int(r.Useful)})
	}
	a.values = a.policy.ComputeWith(a.reviews, func(term string, value float64) float64 {
		if n.errs(compute, a.policy.Name, term, fmt.Sprint(value)) {
			return value + 1
		}
		return value
	})
	return a, true
}

// otherThan is the value with the given number among those that are not v.
func otherThan(v string, values []policy.Value, number int) string {
	for _, other := range values {
		if other.Name == v {
			continue
		}
		if number == 0 {
			return other.Name
		}
		number--
	}
	return v // it is the only one
}

// ratedReview is a review as the data of a policy problem has it.
type ratedReview struct {
	Stars  float64 `json:"stars"`
	Date   string  `json:"date"`
	Useful float64 `json:"useful"`
	Text   string  `json:"text"`
}

// year is the year of the review's date, 0 if it has none.
func (r ratedReview) year() int {
	digits, _, _ := strings.Cut(r.Date, "-")
	year, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return year
}

// readReviews reads a list of reviews as far as it goes: a prompt may show the
// beginning of a long list only.
func readReviews(list string) []ratedReview {
	d := json.NewDecoder(strings.NewReader(list))
	if open, err := d.Token(); err != nil || open != json.Delim('[') {
		return nil
	}
	var reviews []ratedReview
	for d.More() {
		var r ratedReview
		if d.Decode(&r) != nil {
			break
		}
		reviews = append(reviews, r)
	}
	return reviews
}

// fieldsAsked are the fields of the answer: those that the prompt lists or that
// its schema has, or else all of the policy.
func fieldsAsked(p prompt, rules policy.Policy) (asked []string) {
	list := strings.ReplaceAll(fieldForm.FindString(p.frame), ": value", "")
	if list == "" {
		_, list, _ = strings.Cut(p.text, "a value for each of these fields: ")
		list, _, _ = strings.Cut(list, ".\n")
	}
	if list != "" && json.Unmarshal([]byte("["+strings.Trim(list, "{}")+"]"), &asked) == nil {
		return asked
	}
	all := append(rules.Primitives(), policy.VerdictName)
	var s schema
	if p.request.Schema == nil || json.Unmarshal(p.request.Schema.JSON, &s) != nil {
		return all
	}
	has := func(s schema) bool { _, ok := s.Properties[policy.VerdictName]; return ok }
	for _, inner := range s.Properties {
		if has(inner) {
			s = inner
		}
	}
	if !has(s) {
		return all
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// fieldForm is how prompts show an object of fields.
var fieldForm = regexp.MustCompile(`\{"[^"{}]+": value(?:, "[^"{}]+": value)*\}`)

// plainJSON is v as JSON without the escapes that are for HTML only.
func plainJSON(v any) string {
	return string(methods.Must(methods.EncodeJSON(v))) // callers pass texts, numbers, null and structs of them
}
