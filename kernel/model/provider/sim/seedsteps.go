package sim

import (
	"encoding/json"
	"regexp"
	"slices"

	"noema/kernel/task/policy"
)

// seedStructure is the first of three steps to a Formula Seed: what is computed
// from what, in words.
type seedStructure struct {
	TaskName     string        `json:"task_name"`
	Signals      []seedSignal  `json:"signals"`
	Steps        []plannedStep `json:"steps"`
	OutputFields []string      `json:"output_fields"`
}

type seedSignal struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

type plannedStep struct {
	Name    string   `json:"name"`
	Meaning string   `json:"meaning"`
	Uses    []string `json:"uses"`
}

// planStructure answers the first step. A field of a policy may be lost here, a
// condition of a request lost or misread.
func planStructure(p prompt, n noise) (string, bool) {
	if rules, ok := p.policy(); ok {
		return plainJSON(policyStructure(rules, n)), true
	}
	query, _ := p.question()
	wish, ok := understand(query, n)
	if !ok || !p.wants("score") {
		return "", false
	}
	return plainJSON(wish.structure()), true
}

var identifiers = regexp.MustCompile(`[A-Za-z_]\w*`)

func policyStructure(p policy.Policy, n noise) seedStructure {
	s := seedStructure{TaskName: p.Title, Signals: []seedSignal{}}
	known := map[string]bool{}
	for _, f := range p.Fields {
		known[f.Name] = true
	}
	for _, f := range misreadPolicy(p, n).Fields {
		s.Signals = append(s.Signals, seedSignal{f.Name, f.Meaning})
	}
	for _, step := range p.Steps() {
		uses := []string{}
		for _, name := range identifiers.FindAllString(step.Python, -1) {
			if known[name] && !slices.Contains(uses, name) {
				uses = append(uses, name)
			}
		}
		known[step.Name] = true
		s.Steps = append(s.Steps, plannedStep{step.Name, "as the policy defines it", uses})
		s.OutputFields = append(s.OutputFields, step.Name)
	}
	return s
}

// structure says each test in the words of a strategy, which plan reads again.
func (p plan) structure() seedStructure {
	s := seedStructure{TaskName: "request", Signals: []seedSignal{}, OutputFields: []string{"score"}}
	var all []string
	for i, t := range p.tests {
		name, uses := conditionName(i+1), []string{}
		if t.pattern != "" {
			s.Signals = append(s.Signals, seedSignal{mention(i + 1), "the review mentions " + plainJSON(t.pattern)})
			uses = append(uses, mention(i+1))
		}
		s.Steps = append(s.Steps, plannedStep{name, t.String(), uses})
		all = append(all, name)
	}
	s.Steps = append(s.Steps, plannedStep{"fits", p.logic.String(), all}, plannedStep{"score", "2 if it fits, plus how near it comes to that", append([]string{"fits"}, all...)})
	return s
}

// plan is what structure wrote; false if the structure is another's.
func (s seedStructure) plan() (plan, bool) {
	var p plan
	for _, step := range s.Steps {
		if t, ok := parseTest(step.Meaning); ok {
			p.tests = append(p.tests, t)
		}
	}
	i := slices.IndexFunc(s.Steps, func(step plannedStep) bool { return step.Name == "fits" })
	if i < 0 {
		return p, false
	}
	var ok bool
	p.logic, ok = parseLogic(s.Steps[i].Meaning, len(p.tests))
	return p, ok
}

// compileStep answers the second and the third step from what the first said.
func compileStep(p prompt, n noise) (string, bool) {
	text, _, _ := section(p.text, "structure")
	var s seedStructure
	if json.Unmarshal([]byte(text), &s) != nil {
		return "", false
	}
	seed, ok := s.seed(p, n)
	if !ok {
		return "", false
	}
	if p.wants("compute_dag") {
		return plainJSON(map[string]any{"compute_dag": seed.ComputeDAG, "lookups": nil}), true
	}
	return plainJSON(map[string]any{
		"filter_keywords": seed.FilterKeywords, "extraction_fields": seed.ExtractionFields, "extraction_prompt": seed.ExtractionPrompt,
		"review_handling": nil, "review_validity": nil,
	}), true
}

// seed is the whole seed that a structure stands for. A value of a field, a
// formula or a threshold of a policy may be misread here.
func (s seedStructure) seed(p prompt, n noise) (formulaSeed, bool) {
	rules, ok := p.policy()
	if !ok {
		plan, ok := s.plan()
		return plan.written(n).seed(), ok
	}
	read := misreadPolicy(rules, n)
	var fields []policy.Field
	for _, f := range rules.Fields {
		if !slices.ContainsFunc(s.Signals, func(have seedSignal) bool { return have.Name == f.Name }) {
			continue
		}
		if i := slices.IndexFunc(read.Fields, func(r policy.Field) bool { return r.Name == f.Name }); i >= 0 {
			f = read.Fields[i]
		}
		fields = append(fields, f)
	}
	read.Fields = fields
	seed := policySeed(rules, read, n)
	seed.ComputeDAG = slices.DeleteFunc(seed.ComputeDAG, func(f seedFormula) bool {
		return !slices.ContainsFunc(s.Steps, func(have plannedStep) bool { return have.Name == f.Name })
	})
	return seed, true
}
