package generalanot

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"

	"noema/methods"
)

// compileThree is the value of the option compile for three steps.
const compileThree = "three"

// structure is the first of three steps: what is computed from what, in words.
type structure struct {
	TaskName     string    `json:"task_name" doc:"a short name for people"`
	Signals      []signal  `json:"signals" doc:"what a language model must read from one review"`
	Steps        []planned `json:"steps" doc:"what is computed, each after what it uses"`
	OutputFields []string  `json:"output_fields" doc:"names of the steps that are the result"`
}

type signal struct {
	Name    string `json:"name" doc:"identifier"`
	Meaning string `json:"meaning"`
}

// planned is a step of the computation, in words.
type planned struct {
	Name    string   `json:"name" doc:"identifier"`
	Meaning string   `json:"meaning" doc:"what it is, with all numbers that the task gives"`
	Uses    []string `json:"uses" doc:"the signals and steps that it needs"`
}

// extraction is the second step: how the signals are read.
type extraction struct {
	FilterKeywords   []string          `json:"filter_keywords"`
	ExtractionFields []ExtractionField `json:"extraction_fields"`
	ExtractionPrompt string            `json:"extraction_prompt"`
	ReviewHandling   *ReviewHandling   `json:"review_handling,omitempty"`
	ReviewValidity   *ReviewValidity   `json:"review_validity,omitempty"`
}

// computation is the third: the formulas.
type computation struct {
	ComputeDAG []ComputeStep `json:"compute_dag"`
	Lookups    []Lookup      `json:"lookups,omitempty"`
}

// compileSteps compiles in three steps. What is wrong with a step goes back to
// that step; each sees what came of those before it.
func (t *trial) compileSteps(ctx context.Context, c *Compiled) error {
	var plan structure
	var read extraction
	var formulas computation
	s := &FormulaSeed{}
	steps := []struct {
		name, form string
		into       any
		rules      []string // keys whose rules the prompt shows
		before     []string // tags of the results that it shows
		check      func() []Fault
	}{
		{"structure", structureForm, &plan, []string{"output_fields"}, nil, func() []Fault { return t.checkStructure(plan) }},
		{"extraction", extractionForm, &read, []string{"filter_keywords", "extraction_fields", "extraction_prompt", "review_handling", "review_validity"},
			[]string{"structure"}, func() []Fault {
				s.FilterKeywords, s.ExtractionFields, s.ExtractionPrompt = read.FilterKeywords, read.ExtractionFields, read.ExtractionPrompt
				s.ReviewHandling, s.ReviewValidity = read.ReviewHandling, read.ReviewValidity
				return t.checkExtraction(s, plan)
			}},
		{"computation", computationForm, &formulas, []string{"compute_dag", "lookups"}, []string{"structure", "extraction"}, func() []Fault {
			s.TaskName, s.OutputFields = plan.TaskName, plan.OutputFields
			s.ComputeDAG, s.Lookups = formulas.ComputeDAG, formulas.Lookups
			return t.checkComputation(s, plan)
		}},
	}
	results := map[string]any{"structure": &plan, "extraction": &read}
	for _, step := range steps {
		req := t.Request(phaseCompile+"/"+step.name, methods.Ask(t.stepPrompt(step.form, step.rules, step.before, results))...)
		req.Schema = &methods.Schema{Name: step.name, JSON: plainJSON(schemaOf(reflect.TypeOf(step.into).Elem()))}
		err := t.compileStep(ctx, c, req, func(raw json.RawMessage) error {
			reflect.ValueOf(step.into).Elem().SetZero() // what a round before has left
			if err := decodeStrict(raw, step.into); err != nil {
				return err
			}
			if faults := step.check(); len(faults) > 0 {
				return faultsError(faults)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	c.Seed = s
	return nil
}

// stepPrompt asks for one of the three steps.
func (t *trial) stepPrompt(form string, rules, before []string, results map[string]any) string {
	w := t.wording()
	var b strings.Builder
	b.WriteString(w.head + form + w.keyRules(rules) + "\n" + t.shown + "\n")
	for _, tag := range before {
		enclose(&b, tag, string(plainJSON(results[tag])))
	}
	b.WriteString(stepClosing)
	return b.String()
}

const stepClosing = `
Reply with one JSON object with all these keys and nothing else.
`

const structureForm = `
The Formula Seed is written in three steps: structure, extraction, computation. This is the first. Write no formulas yet; say in words what is computed from what. The keys of the object:
task_name: a short name.
signals: what a language model must read from the text of one review, each {"name", "meaning"}; an empty list if nothing must be read from texts.
steps: what is computed, each {"name", "meaning", "uses"} and after what it uses. The meaning says what it is, with all numbers that the text above gives; uses lists the names of the signals and earlier steps that it needs.
`

const extractionForm = `
The Formula Seed is written in three steps: structure, extraction, computation. This is the second. Say how the signals of the structure are read from one review. The keys of the object:
`

const computationForm = `
The Formula Seed is written in three steps: structure, extraction, computation. This is the last. Write a formula for every step of the structure, under its name; further steps may help them. The keys of the object:
`
