package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"noema/kernel/task/policy"
)

// formulaSeed is a Formula Seed as prompts of General ANoT ask for it. The
// keys that no policy of the simulation needs are null.
type formulaSeed struct {
	TaskName         string        `json:"task_name"`
	FilterKeywords   []string      `json:"filter_keywords"`
	ExtractionFields []seedField   `json:"extraction_fields"`
	ExtractionPrompt string        `json:"extraction_prompt"`
	ComputeDAG       []seedFormula `json:"compute_dag"`
	OutputFields     []string      `json:"output_fields"`
	Lookups          []string      `json:"lookups"`
	ReviewHandling   *string       `json:"review_handling"`
	ReviewValidity   *string       `json:"review_validity"`
}

type seedField struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Values []string `json:"values"`
}

type seedFormula struct {
	Name    string `json:"name"`
	Formula string `json:"formula"`
}

// compileSeed answers the compile prompts of General ANoT: a Formula Seed that
// computes a policy or scores an item by a request.
func compileSeed(p prompt, n noise) (string, bool) {
	if rules, ok := p.policy(); ok {
		return plainJSON(policySeed(rules, misreadPolicy(rules, n), n)), true
	}
	query, _ := p.question()
	wish, ok := understand(query, n)
	if !ok || !p.wants("score") {
		return "", false
	}
	return plainJSON(wish.written(n).seed()), true
}

// policy is the policy that a prompt shows.
func (p prompt) policy() (policy.Policy, bool) {
	text, _, ok := section(p.text, "policy")
	if !ok {
		text, _ = p.question()
	}
	return policy.FindPolicy(text)
}

// policySeed is the seed of a policy as it was read, with the errors of writing it.
func policySeed(rules, p policy.Policy, n noise) formulaSeed {
	keywords := append([]string{}, rules.Keywords()...) // without any, every review is read
	p = misreadFormulas(p, write, n)
	s := formulaSeed{TaskName: p.Title, FilterKeywords: keywords, ExtractionFields: seedFields(p.Fields), ExtractionPrompt: extractionPrompt(p)}
	for _, step := range p.Steps() {
		s.ComputeDAG = append(s.ComputeDAG, seedFormula{step.Name, step.Python})
		s.OutputFields = append(s.OutputFields, step.Name)
	}
	return s
}

func seedFields(fields []policy.Field) []seedField {
	list := []seedField{}
	for _, f := range fields {
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = v.Name
		}
		list = append(list, seedField{f.Name, "enum", values})
	}
	return list
}

// noBraces keeps a policy's own words from being read as placeholders.
var noBraces = strings.NewReplacer("{", "(", "}", ")")

// extractionPrompt says what the fields mean, as the policy does.
func extractionPrompt(p policy.Policy) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\nRead from one review what it says about this restaurant. What it denies, or tells of another place, did not happen here.\n", p.Title)
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "%s: %s.\n", f.Name, f.Meaning)
		for _, v := range f.Values {
			fmt.Fprintf(&b, "- %s: %s.\n", v.Name, v.Meaning)
		}
	}
	return noBraces.Replace(b.String()) + "{review_text}"
}

// extractFields answers the prompts with which General ANoT and AoT have one
// review read, which stands between tags: its fields, each with its reading
// error. A value that the prompt does not offer becomes the nearest milder one
// that it does.
func extractFields(prompt, tag string, n noise) (string, bool) {
	text, rest, ok1 := section(prompt, tag)
	lines, _, ok2 := section(rest, "fields")
	if !ok1 || !ok2 {
		return "", false
	}
	owner, fields, ok := fieldsOffered(lines)
	if !ok {
		return extractMentions(prompt, text, lines, n)
	}
	labels := owner.Read(text)
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = plainJSON(f.Name) + ": " + plainJSON(f.read(labels[f.Name], text, n))
	}
	return "{" + strings.Join(parts, ", ") + "}", true
}

// offeredField is a field of a policy with the values that a prompt offers.
type offeredField struct {
	policy.Field
	offered []policy.Value
}

// nearest is v, or the nearest offered value before it, or the first.
func (f offeredField) nearest(v string) string {
	best := f.offered[0].Name
	for _, known := range f.Values {
		if slices.ContainsFunc(f.offered, func(o policy.Value) bool { return o.Name == known.Name }) {
			best = known.Name
		}
		if known.Name == v {
			break
		}
	}
	return best
}

// read is what a reader takes the value v of the field in a text for.
func (f offeredField) read(v, text string, n noise) string {
	v = f.nearest(v)
	if len(f.offered) > 1 && n.errs(judge, f.Name, text) {
		return otherThan(v, f.offered, n.below(len(f.offered)-1, judge, 0, f.Name, text))
	}
	return v
}

// fieldsOffered reads lines such as `mood: one of "none", "glad"`. All must be
// fields of one policy, the owner.
func fieldsOffered(lines string) (owner policy.Policy, fields []offeredField, ok bool) {
	for line := range strings.Lines(lines) {
		name, list, found := strings.Cut(strings.TrimRight(line, "\r\n"), ": one of ")
		p, known := policyOf()[name]
		var values []string
		if !found || !known || len(fields) > 0 && owner.Name != p.Name || json.Unmarshal([]byte("["+list+"]"), &values) != nil || len(values) == 0 {
			return owner, nil, false
		}
		at := slices.IndexFunc(p.Fields, func(f policy.Field) bool { return f.Name == name })
		f := offeredField{Field: p.Fields[at]}
		for _, v := range values {
			f.offered = append(f.offered, policy.Value{Name: v})
		}
		owner, fields = p, append(fields, f)
	}
	return owner, fields, len(fields) > 0
}

// policyOf is the policy that a field belongs to, by the field's name. No two
// policies share one, which a test holds.
var policyOf = sync.OnceValue(func() map[string]policy.Policy {
	owners := map[string]policy.Policy{}
	for _, name := range policy.Names() {
		p, _ := policy.Find(name) // it is one of the names
		for _, f := range p.Fields {
			owners[f.Name] = p
		}
	}
	return owners
})
