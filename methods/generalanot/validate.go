package generalanot

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
	"noema/methods/generalanot/pyexpr"
)

// verdictField is the field that takes one of the labels of the problem.
const verdictField = "verdict"

// The steps by whose values a ranking orders: score, higher first, and of equal
// scores tie_break, if a seed has it.
const (
	scoreField = "score"
	tieField   = "tie_break"
)

// The names that formulas have besides steps and lookups.
const (
	extractionsInput = "extractions" // the picked reviews with what was extracted
	reviewsInput     = "reviews"     // all reviews, metadata only
	itemInput        = "item"        // rankings: one item
	contextInput     = "context"     // all data of the problem, in rankings without the items
)

// inputs are the names that formulas have for an answer of a kind.
func inputs(kind methods.AnswerKind) []string {
	switch kind {
	case methods.Choice:
		return []string{extractionsInput, reviewsInput, contextInput}
	case methods.Ranking:
		return []string{extractionsInput, reviewsInput, itemInput, contextInput}
	}
	return []string{extractionsInput, reviewsInput}
}

// wanted are the output fields that an answer needs.
func wanted(spec methods.AnswerSpec) []string {
	switch spec.Kind {
	case methods.Choice:
		return []string{verdictField}
	case methods.Ranking:
		return []string{scoreField}
	}
	return spec.Names
}

// Fault is one thing that is wrong with a Formula Seed.
type Fault struct {
	Path string // where, such as compute_dag[3].formula
	Text string // what, and the cure if there is one
}

func (f Fault) String() string { return f.Path + ": " + f.Text }

// Validate lists everything that is wrong with a seed, as far as it can be
// known before it runs. The names that spec asks for must be among the output
// fields. A seed without faults can still fail on data, for example by a
// division by zero.
func Validate(s *FormulaSeed, spec methods.AnswerSpec) []Fault {
	_, faults := NewProgram(s, spec)
	return faults
}

// faultsError is faults as one error, which a model or a person can work
// through.
func faultsError(faults []Fault) error {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return fmt.Errorf("%s", strings.Join(lines, "; "))
}

// checker collects the faults of one seed.
type checker struct {
	seed   *FormulaSeed
	spec   methods.AnswerSpec
	faults []Fault
}

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, Fault{path, fmt.Sprintf(format, args...)})
}

// maxSteps bounds what one compute DAG may cost.
const maxSteps = 1000

func (c *checker) keys() {
	s := c.seed
	for _, k := range []struct {
		name    string
		missing bool
	}{
		{"task_name", s.TaskName == ""},
		{"filter_keywords", s.FilterKeywords == nil},
		{"extraction_fields", s.ExtractionFields == nil},
		{"extraction_prompt", s.ExtractionPrompt == "" && len(s.ExtractionFields) > 0},
		{"compute_dag", len(s.ComputeDAG) == 0},
		{"output_fields", len(s.OutputFields) == 0},
	} {
		if k.missing {
			c.fault(k.name, "is missing or empty")
		}
	}
	if n := len(s.ComputeDAG); n > maxSteps {
		c.fault("compute_dag", "has %d steps, more than %d", n, maxSteps)
	}
	c.keywords()
}

func (c *checker) keywords() {
	for i, k := range c.seed.FilterKeywords {
		if strings.TrimSpace(k) == "" {
			c.fault(index("filter_keywords", i), "is blank")
		}
	}
}

// fields: every extraction field has a name of its own and a type that can be
// asked for.
func (c *checker) fields() {
	seen := map[string]bool{}
	for i, f := range c.seed.ExtractionFields {
		at := index("extraction_fields", i)
		c.name(at+".name", f.Name, seen)
		if slices.Contains(metadata(c.spec.Kind), f.Name) {
			c.fault(at+".name", "formulas read %q from the review itself: choose another name", f.Name)
		}
		switch {
		case !slices.Contains(fieldTypes(), f.Type):
			c.fault(at+".type", "%q is not among %s", f.Type, strings.Join(fieldTypes(), ", "))
		case f.Type != enumType && len(f.Values) > 0:
			c.fault(at+".values", "only an enum has values, not the type %s", f.Type)
		case f.Type == enumType:
			c.labels(at+".values", f.Values)
		}
	}
}

func (c *checker) labels(at string, values []string) {
	if len(values) == 0 {
		c.fault(at, "is missing or empty")
	}
	for i, v := range values {
		if v == "" || slices.Index(values, v) < i {
			c.fault(index(at, i), "%q is empty or a repetition", v)
		}
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// name: an identifier that Python does not use itself and nothing else has.
func (c *checker) name(at, name string, seen map[string]bool) {
	switch {
	case !identifier.MatchString(name):
		c.fault(at, "%q is not an identifier: use letters, digits and _", name)
	case reserved(name):
		c.fault(at, "%q is a keyword or builtin of Python: choose another name", name)
	case seen[name]:
		c.fault(at, "%q is a repetition", name)
	}
	seen[name] = true
}

// reserved reports whether formulas read something else under a name. Two names
// became Python's here after seeds had used them, and a seed's own come first.
func reserved(name string) bool {
	if name == "time" || name == "format" {
		return false
	}
	e, err := pyexpr.Compile(name)
	return err != nil || !slices.Equal(e.Names(), []string{name})
}

var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// The placeholders of an extraction prompt.
const (
	textPlaceholder   = "{review_text}"
	datePlaceholder   = "{review_date}"
	starsPlaceholder  = "{review_stars}"
	usefulPlaceholder = "{review_useful}"
)

// prompt: it shows the review, and uses the four known placeholders only.
func (c *checker) prompt() {
	const at = "extraction_prompt"
	known := []string{textPlaceholder, datePlaceholder, starsPlaceholder, usefulPlaceholder}
	prompt := c.seed.ExtractionPrompt
	if prompt != "" && !strings.Contains(prompt, textPlaceholder) {
		c.fault(at, "does not show the review: add %s", textPlaceholder)
	}
	var unknown []string
	for _, p := range placeholder.FindAllString(prompt, -1) {
		if !slices.Contains(known, p) && !slices.Contains(unknown, p) {
			unknown = append(unknown, p)
			c.fault(at, "unknown placeholder %s: the placeholders are %s", p, strings.Join(known, " "))
		}
	}
}

// lookups: each has a name of its own, a path and one value for a key.
func (c *checker) lookups(seen map[string]bool) {
	for i, l := range c.seed.Lookups {
		at := index("lookups", i)
		c.stepName(at+".name", l.Name, seen)
		if l.Field == "" || strings.Contains("."+l.Field+".", "..") {
			c.fault(at+".field", "%q is not a path such as restaurant.cuisine", l.Field)
		}
		keys := make([]string, len(l.Table))
		for j, e := range l.Table {
			keys[j] = strings.ToLower(e.Key)
			if !isScalar(e.Value) {
				c.fault(index(at+".table", j)+".value", "want a text, a number or a boolean")
			}
		}
		c.labels(at+".table", keys)
		if !isScalar(l.Default) {
			c.fault(at+".default", "want a text, a number or a boolean for keys that the table does not have")
		}
	}
}

func isScalar(v any) bool {
	switch v.(type) {
	case nil, []any, map[string]any:
		return false
	}
	return true
}

func (c *checker) handling() {
	if h := c.seed.ReviewHandling; h != nil {
		if h.MaxLength < 1 {
			c.fault("review_handling.max_length", "want 1 or more characters, not %d", h.MaxLength)
		}
		if !slices.Contains(strategies(), h.strategy()) {
			c.fault("review_handling.strategy", "%q is not among %s", h.Strategy, strings.Join(strategies(), ", "))
		}
	}
	v := c.seed.ReviewValidity
	if v == nil {
		return
	}
	i := slices.IndexFunc(c.seed.ExtractionFields, func(f ExtractionField) bool { return f.Name == v.Field && f.Type == enumType })
	if i < 0 {
		c.fault("review_validity.field", "%q is not an enum of extraction_fields", v.Field)
		return
	}
	c.labels("review_validity.keep", v.Keep)
	for j, k := range v.Keep {
		if !slices.Contains(c.seed.ExtractionFields[i].Values, k) {
			c.fault(index("review_validity.keep", j), "%q is not a value of %s", k, v.Field)
		}
	}
}

// outputs: every output field is computed, and all that the problem asks for
// are output fields.
func (c *checker) outputs(places map[string]int) {
	for i, name := range c.seed.OutputFields {
		_, computed := places[name]
		switch at := index("output_fields", i); {
		case slices.Index(c.seed.OutputFields, name) < i:
			c.fault(at, "%q is a repetition", name)
		case !computed:
			c.fault(at, "no step of compute_dag computes %q", name)
		}
	}
	for _, name := range wanted(c.spec) {
		if !slices.Contains(c.seed.OutputFields, name) {
			c.fault("output_fields", "%q is asked for but missing", name)
		}
	}
}

func (c *checker) stepName(at, name string, seen map[string]bool) {
	if slices.Contains(inputs(c.spec.Kind), name) {
		c.fault(at, "%q is an input: choose another name", name)
		seen[name] = true
		return
	}
	c.name(at, name, seen)
}

func index(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }
