package main

import (
	"cmp"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/export"
	"noema/kernel/show/report"
)

// document is a form in which the command prints for programs. Its version changes when a
// field goes or means something else; new fields may come without.
type document struct {
	Name    string
	Of      string // what prints it
	Version int
	value   any
}

// documents are the forms that have a schema.
func documents() []document {
	return []document{
		{"run", "compare --json of one task and model; without the comparison, runs show --json", 1, lab.Numbers{}},
		{"comparison", "compare RUN --json", 1, comparedJSON{}},
		{"replay", "replay --json", 1, replaySummary{}},
		{"runs", "runs list --json", 1, []*record.Run{}},
		{"error", "every verb with --json that fails before it prints", 1, errorJSON{}},
		{"progress", "a line of standard error with --progress json", 1, report.ProgressLine{}},
		{"tasks", "task list --json", 1, []entryJSON{}},
		{"methods", "plugin list --json", 1, []methodJSON{}},
		{"models", "model list --json", 1, modelsJSON{}},
		{"doctor", "doctor --json", 1, []findingJSON{}},
		{"version", "version --json", 1, versionJSON{}},
		{"trials", "a row of runs export --rows trials, whose seed is a number in Parquet and CSV", 2, exported().Trials()},
		{"calls", "a row of runs export --rows calls", 2, exported().Calls()},
	}
}

// exported is a source of rows without any, for its columns.
func exported() export.Source {
	return export.Source{Result: &runner.Result{Recorded: compare.Recorded{Run: &record.Run{}, Task: &lab.Task{}}}}
}

// schema is the JSON schema (draft 2020-12) of the document.
func (d document) schema() map[string]any {
	defs := map[string]any{}
	var s map[string]any
	if rows, ok := d.value.(export.Rows); ok {
		s = rowSchema(rows.Columns)
		s["patternProperties"] = map[string]any{`^score\.`: map[string]any{"type": []string{"number", "null"}}}
	} else {
		s = typeSchema(reflect.TypeOf(d.value), defs)
		if ref, ok := s["$ref"].(string); ok { // the whole itself, and not a part of it
			s = maps.Clone(defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
		}
	}
	s["$schema"], s["title"], s["description"], s["version"] = "https://json-schema.org/draft/2020-12/schema", "noema "+d.Name, d.Of, d.Version
	if len(defs) > 0 {
		s["$defs"] = defs
	}
	return s
}

func rowSchema(columns []export.Column) map[string]any {
	properties := map[string]any{}
	for _, c := range columns {
		kind := map[export.Kind]string{export.String: "string", export.Integer: "integer", export.Float: "number", export.Bool: "boolean", export.Unsigned: "string", export.List: "array"}[c.Kind]
		p := map[string]any{"type": []string{kind, "null"}}
		if c.Kind == export.List {
			p["items"] = map[string]any{"type": "integer"}
			if len(c.Fields) > 0 {
				p["items"] = rowSchema(c.Fields)
			}
		}
		properties[c.Name] = p
	}
	return map[string]any{"type": "object", "properties": properties}
}

// typeSchema is what encoding/json makes of a type. Structs are in defs, by name.
func typeSchema(t reflect.Type, defs map[string]any) map[string]any {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Implements(reflect.TypeFor[json.Marshaler]()), reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return map[string]any{} // it says itself what it is
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{typeSchema(t.Elem(), defs), map[string]any{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return map[string]any{"type": []string{"array", "null"}, "items": typeSchema(t.Elem(), defs)}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": typeSchema(t.Elem(), defs)}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Struct:
		name := cmp.Or(strings.ReplaceAll(t.String(), "*", ""), "struct")
		if t.Name() == "" {
			return structSchema(t, defs)
		}
		if defs[name] == nil {
			defs[name] = true // it may hold itself
			defs[name] = structSchema(t, defs)
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	case reflect.Interface:
		return map[string]any{}
	}
	return map[string]any{"type": "integer"}
}

func structSchema(t reflect.Type, defs map[string]any) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-" || f.Anonymous && name == "" || len(f.Index) > 1 && !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		properties[name] = typeSchema(f.Type, defs)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
