package logs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"noema/kernel/task"
	"noema/methods"
	"noema/methods/workflow"
)

const (
	maxEntities = 10_000 // different entities that a result lists
	maxError    = 2_000  // bytes of a tool's error
)

// Environment runs the tools over a log. Each tool takes a selection and hands a
// narrower one on, so that no records travel and a result depends on the
// arguments alone.
type Environment struct {
	log      *Log
	patterns map[string]*regexp.Regexp
}

var _ task.Environment = Environment{}

func newEnvironment(l *Log) (Environment, error) {
	e := Environment{log: l, patterns: map[string]*regexp.Regexp{}}
	for name, entity := range l.config.Entities {
		p, err := regexp.Compile(entity.Pattern)
		if err != nil {
			return e, fmt.Errorf("entity %s: pattern: %w", name, err)
		}
		e.patterns[name] = p
	}
	return e, nil
}

// Tools lists the tools, see [Tools].
func (Environment) Tools() []methods.ToolSpec { return Tools() }

// Tools lists what can be done with a log.
func Tools() []methods.ToolSpec {
	const selection = `"selection":{"type":"object","description":"which records; as returned by an earlier tool","properties":{"values":{"type":"array","items":{"type":"string"}},"severities":{"type":"array","items":{"type":"string"}},"start":{"type":"string"},"end":{"type":"string"}},"additionalProperties":false}`
	const types = `"entity_types":{"type":"array","items":{"type":"string"},"minItems":1}`
	of := func(name, doc, properties, required string) methods.ToolSpec {
		return methods.ToolSpec{
			Name: name, Description: doc, Pure: true,
			Parameters: json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `],"additionalProperties":false}`),
			Result:     json.RawMessage(`{"type":"object"}`),
		}
	}
	return []methods.ToolSpec{
		of("search_logs", "records that hold a text, or all records without one: their count, and the selection for other tools", `"value":{"type":"string"},`+selection, ``),
		of("get_log_count", "how many records a selection has", selection, ``),
		of("filter_by_severity", "of a selection the records with these severities", `"severities":{"type":"array","items":{"type":"string"},"minItems":1},`+selection, `"severities"`),
		of("filter_by_time", "of a selection the records from start to end; either may be left out", `"start":{"type":"string"},"end":{"type":"string"},`+selection, ``),
		of("extract_entities", "the different entities of these types in a selection's records", types+`,`+selection, `"entity_types"`),
		of("aggregate_entities", "how many of a selection's records each entity of these types is in", types+`,`+selection, `"entity_types"`),
		of("find_relationships", "the entities of these types that share a record with a value", `"value":{"type":"string"},`+types+`,`+selection, `"value","entity_types"`),
		of("return_logs", "the first records of a selection, as they stand", `"max_samples":{"type":"integer","minimum":1,"maximum":1000},`+selection, ``),
	}
}

// arguments are those of all tools.
type arguments struct {
	Value       string    `json:"value"`
	Severities  []string  `json:"severities"`
	Start       string    `json:"start"`
	End         string    `json:"end"`
	EntityTypes []string  `json:"entity_types"`
	MaxSamples  int       `json:"max_samples"`
	Selection   Selection `json:"selection"`
}

// result is what tools return, as JSON.
type result struct {
	Count     int64                       `json:"count"`
	Selection *Selection                  `json:"selection,omitempty"`
	Entities  map[string][]string         `json:"entities,omitempty"`
	Counts    map[string]map[string]int64 `json:"counts,omitempty"`
	Logs      []string                    `json:"logs,omitempty"`
	Skipped   *Skips                      `json:"skipped,omitempty"` // lines that are not records, if any
}

// Call implements [task.Environment].
func (e Environment) Call(ctx context.Context, c methods.ToolCall) (methods.ToolResult, error) {
	tools := Tools()
	i := slices.IndexFunc(tools, func(t methods.ToolSpec) bool { return t.Name == c.Name })
	if i < 0 {
		return methods.ToolResult{}, fmt.Errorf("%w %q", methods.ErrUnknownTool, c.Name)
	}
	args, err := readArguments(c.Arguments, tools[i])
	if err != nil {
		return toolError(err), nil
	}
	r, err := e.run(ctx, c.Name, args)
	if ctx.Err() != nil {
		return methods.ToolResult{}, ctx.Err()
	}
	if errors.Is(err, errChanged) {
		return methods.ToolResult{}, err
	}
	if err != nil {
		return toolError(err), nil
	}
	raw, err := json.Marshal(r)
	return methods.ToolResult{Content: string(raw)}, err
}

// toolError tells the model what was wrong. Its length is bounded, because a log's
// columns and a model's arguments may have any.
func toolError(err error) methods.ToolResult {
	text := valid([]byte(err.Error()))
	if len(text) > maxError {
		text = valid([]byte(text[:maxError])) + "…"
	}
	return methods.ToolResult{Content: text, IsError: true}
}

// readArguments decodes arguments and refuses those that the tool does not have.
func readArguments(raw json.RawMessage, tool methods.ToolSpec) (arguments, error) {
	var args arguments
	var given map[string]json.RawMessage
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &given); err != nil {
			return args, fmt.Errorf("read arguments: %w", err)
		}
		if err := json.Unmarshal(raw, &args); err != nil {
			return args, fmt.Errorf("read arguments: %w", err)
		}
	}
	all, required := workflow.Parameters(tool)
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(all, name) {
			return args, fmt.Errorf("%s has no parameter %q; it has %s", tool.Name, name, strings.Join(all, ", "))
		}
	}
	for _, name := range required {
		if _, ok := given[name]; !ok {
			return args, fmt.Errorf("%s needs the parameter %q", tool.Name, name)
		}
	}
	return args, nil
}

func (e Environment) run(ctx context.Context, name string, args arguments) (result, error) {
	sel := args.Selection
	switch name {
	case "search_logs":
		if args.Value != "" {
			sel.Values = append(slices.Clone(sel.Values), args.Value)
		}
		return e.count(ctx, sel)
	case "filter_by_severity":
		sel.Severities = args.Severities
		return e.count(ctx, sel)
	case "filter_by_time":
		if args.Start == "" && args.End == "" {
			return result{}, errors.New("filter_by_time needs a start or an end")
		}
		sel.Start, sel.End = args.Start, args.End
		return e.count(ctx, sel)
	case "find_relationships":
		sel.Values = append(slices.Clone(sel.Values), args.Value)
		return e.entities(ctx, sel, args.EntityTypes, args.Value)
	case "extract_entities", "aggregate_entities":
		r, err := e.entities(ctx, sel, args.EntityTypes, "")
		if name == "extract_entities" {
			r.Counts = nil
		}
		return r, err
	case "return_logs":
		return e.samples(ctx, sel, max(args.MaxSamples, 1))
	}
	return e.count(ctx, sel)
}

func skipped(s Skips) *Skips {
	if s.Rows == 0 {
		return nil
	}
	return &s
}

func (e Environment) count(ctx context.Context, sel Selection) (result, error) {
	r := result{Selection: &sel}
	skips, err := e.log.each(ctx, sel, false, func(record) error {
		r.Count++
		return nil
	})
	r.Skipped = skipped(skips)
	return r, err
}

func (e Environment) samples(ctx context.Context, sel Selection, most int) (result, error) {
	r := result{Selection: &sel}
	skips, err := e.log.each(ctx, sel, false, func(rec record) error {
		if r.Count++; r.Count <= int64(most) {
			r.Logs = append(r.Logs, valid(rec.line))
		}
		return nil
	})
	r.Skipped = skipped(skips)
	return r, err
}

// entities finds the entities of the given types, and in how many records each
// is; without is left out.
func (e Environment) entities(ctx context.Context, sel Selection, kinds []string, without string) (result, error) {
	r := result{Selection: &sel, Entities: map[string][]string{}, Counts: map[string]map[string]int64{}}
	for _, kind := range kinds {
		if _, ok := e.log.config.Entities[kind]; !ok {
			return r, fmt.Errorf("unknown entity type %q; there are %s", kind, strings.Join(slices.Sorted(maps.Keys(e.log.config.Entities)), ", "))
		}
		r.Counts[kind] = map[string]int64{}
	}
	skips, err := e.log.each(ctx, sel, slices.ContainsFunc(kinds, e.byColumn), func(rec record) error {
		r.Count++
		for _, kind := range kinds {
			for _, found := range e.find(kind, rec) {
				if r.Counts[kind][found]++; len(r.Counts[kind]) > maxEntities {
					return fmt.Errorf("more than %d different %s: narrow the selection", maxEntities, kind)
				}
			}
		}
		return nil
	})
	for _, kind := range kinds {
		delete(r.Counts[kind], without)
		r.Entities[kind] = append([]string{}, slices.Sorted(maps.Keys(r.Counts[kind]))...)
	}
	r.Skipped = skipped(skips)
	return r, err
}

func (e Environment) byColumn(kind string) bool { return e.log.config.Entities[kind].Column != "" }

// find returns the different entities of a kind in a record: the column's value,
// if it has the pattern's form, or what the pattern finds in the line.
func (e Environment) find(kind string, rec record) []string {
	pattern := e.patterns[kind]
	if !e.byColumn(kind) {
		found := pattern.FindAllString(valid(rec.line), -1)
		slices.Sort(found)
		return slices.Compact(found)
	}
	found := strings.TrimSpace(value(rec.fields, e.log.config.Entities[kind].Column))
	if found == "" || !pattern.MatchString(found) {
		return nil
	}
	return []string{found}
}
