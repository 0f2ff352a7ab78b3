// Package workflow describes a domain to Engine Planner: which tools answer a
// type of query in which order, how an answer is worded, and what people call the
// entities. It is a package of its own because tasks read it from files and check
// it against their tools before any model is asked.
//
// Source: seed 004 §"Engine Has Predefined Workflows" and §"Answer Formatting
// Templates".
package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"noema/methods"
)

// Domain is the data.
type Domain struct {
	Workflows map[string]Workflow `json:"workflows" yaml:"workflows"` // by type of query
	Entities  map[string]Entity   `json:"entities" yaml:"entities"`   // by name
	// Fallback is the type of query that is run when the model's evaluation
	// cannot be used.
	Fallback   string   `json:"fallback" yaml:"fallback"`
	Severities []string `json:"severities,omitempty" yaml:"severities"`
}

// Workflow answers one type of query.
type Workflow struct {
	Description string `json:"description" yaml:"description"` // for the model: when to choose it
	// Aliases are other names of the type. Workflows may share one: it then means the
	// one that fits the facts of a query.
	Aliases  []string `json:"aliases,omitempty" yaml:"aliases"`
	Steps    []Step   `json:"steps" yaml:"steps"`
	Template string   `json:"template" yaml:"template"` // of the answer, with {placeholders}
	// Value names the result that answers a question for a text, or for a set of one
	// kind; empty means the template's words, and the entities.
	Value string `json:"value,omitempty" yaml:"value"`
}

// Step is one tool call. A parameter that is a text of the form <name> stands for
// a fact of the evaluation or a result of an earlier step; a step whose required
// fact is absent fails, an optional parameter is then left out.
type Step struct {
	Tool   string         `json:"tool" yaml:"tool"`
	Params map[string]any `json:"params,omitempty" yaml:"params"`
	// Optional leaves the step out if a fact that it needs is absent.
	Optional bool `json:"optional,omitempty" yaml:"optional"`
}

// Entity is a kind of thing that logs are about.
type Entity struct {
	Aliases []string `json:"aliases" yaml:"aliases"` // what people call it
	// Column names the field that holds it; Pattern finds it in any text. One of
	// them must be given.
	Column  string `json:"column,omitempty" yaml:"column"`
	Pattern string `json:"pattern,omitempty" yaml:"pattern"`
}

// Facts lists what an evaluation can give, as parameters name it.
func Facts() []string {
	return []string{"search_value", "entity_types", "severities", "start", "end"}
}

// ResultNames lists what steps leave for templates and later steps, beside the
// facts.
func ResultNames() []string {
	return []string{"count", "entity_list", "entity_count", "entity_type", "logs", "log_samples", "selection", "filter_type", "top_entity", "top_count"}
}

var (
	reference   = regexp.MustCompile(`^<([a-z_]+)>$`)
	placeholder = regexp.MustCompile(`\{([a-z_]*)\}`)
)

// Reference returns the name that a parameter refers to.
func Reference(value any) (name string, ok bool) {
	text, isText := value.(string)
	if !isText {
		return "", false
	}
	m := reference.FindStringSubmatch(text)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// maxTemplate bounds a template, in bytes: each placeholder may become many lines.
const maxTemplate = 4000

// Fill puts values in the place of a template's placeholders.
func Fill(template string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(template, func(p string) string { return values[p[1:len(p)-1]] })
}

// Faults lists all that is wrong with d, given the tools: unknown tools, unknown
// or missing parameters, unknown references and placeholders, patterns that do
// not compile, aliases of two entities.
func (d Domain) Faults(tools []methods.ToolSpec) []string {
	var faults []string
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(d.Workflows) == 0 {
		add("there are no workflows")
	}
	if _, ok := d.Workflows[d.Fallback]; !ok {
		add("fallback: there is no workflow %q", d.Fallback)
	}
	known := append(Facts(), ResultNames()...)
	for _, name := range slices.Sorted(maps.Keys(d.Workflows)) {
		w := d.Workflows[name]
		if len(w.Steps) == 0 {
			add("workflow %s: it has no steps", name)
		}
		for i, s := range w.Steps {
			for _, fault := range s.faults(tools, known) {
				add("workflow %s, step %d: %s", name, i+1, fault)
			}
		}
		for _, m := range placeholder.FindAllStringSubmatch(w.Template, -1) {
			if !slices.Contains(known, m[1]) {
				add("workflow %s, template: unknown placeholder {%s}: use one of %s", name, m[1], strings.Join(known, ", "))
			}
		}
		if w.Value != "" && !slices.Contains(known, w.Value) {
			add("workflow %s, value: unknown result %q: use one of %s", name, w.Value, strings.Join(known, ", "))
		}
		for _, alias := range w.Aliases {
			if _, taken := d.Workflows[alias]; taken {
				add("workflow %s: alias %q is the name of a workflow", name, alias)
			}
		}
		if w.Template == "" {
			add("workflow %s: it has no template", name)
		}
		if len(w.Template) > maxTemplate {
			add("workflow %s, template: it has %d bytes, and the most is %d", name, len(w.Template), maxTemplate)
		}
	}
	return append(faults, d.entityFaults()...)
}

func (d Domain) entityFaults() []string {
	var faults []string
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d.Entities)) {
		e := d.Entities[name]
		if e.Column == "" && e.Pattern == "" {
			faults = append(faults, fmt.Sprintf("entity %s: give a column or a pattern", name))
		}
		if _, err := regexp.Compile(e.Pattern); err != nil {
			faults = append(faults, fmt.Sprintf("entity %s: pattern: %v", name, err))
		}
		for _, alias := range e.Aliases {
			if other, taken := owner[strings.ToLower(alias)]; taken {
				faults = append(faults, fmt.Sprintf("entity %s: alias %q belongs to %s already", name, alias, other))
			}
			owner[strings.ToLower(alias)] = name
		}
	}
	return faults
}

// faults checks a step against the schema of its tool.
func (s Step) faults(tools []methods.ToolSpec, known []string) []string {
	i := slices.IndexFunc(tools, func(t methods.ToolSpec) bool { return t.Name == s.Tool })
	if i < 0 {
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		return []string{fmt.Sprintf("unknown tool %q: use one of %s", s.Tool, strings.Join(names, ", "))}
	}
	properties, required := Parameters(tools[i])
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		if !slices.Contains(properties, name) {
			faults = append(faults, fmt.Sprintf("tool %s has no parameter %q; it has %s", s.Tool, name, strings.Join(properties, ", ")))
		}
		if ref, ok := Reference(s.Params[name]); ok && !slices.Contains(known, ref) {
			faults = append(faults, fmt.Sprintf("parameter %s: unknown reference <%s>: use one of %s", name, ref, strings.Join(known, ", ")))
		}
	}
	for _, name := range required {
		if _, ok := s.Params[name]; !ok && name != "selection" {
			faults = append(faults, fmt.Sprintf("tool %s needs the parameter %q", s.Tool, name))
		}
	}
	return faults
}

// Parameters lists the parameters of a tool, and those that it needs.
func Parameters(t methods.ToolSpec) (all, required []string) {
	var schema struct {
		Properties map[string]json.RawMessage
		Required   []string
	}
	if json.Unmarshal(t.Parameters, &schema) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(schema.Properties)), schema.Required
}

// WorkflowsOf lists the workflows with an alias, in alphabetical order.
func (d Domain) WorkflowsOf(alias string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(d.Workflows)) {
		if slices.Contains(d.Workflows[name].Aliases, alias) {
			names = append(names, name)
		}
	}
	return names
}

// EntityOf finds the entity that a word means: its name or one of its aliases,
// without regard to case.
func (d Domain) EntityOf(word string) (string, bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	for _, name := range slices.Sorted(maps.Keys(d.Entities)) {
		if strings.ToLower(name) == word {
			return name, true
		}
		for _, alias := range d.Entities[name].Aliases {
			if strings.ToLower(alias) == word {
				return name, true
			}
		}
	}
	return "", false
}
