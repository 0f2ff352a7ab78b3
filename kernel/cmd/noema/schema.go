package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"noema/kernel/show/report"
	"noema/methods"
)

func schemaCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schema", Short: "print the JSON schema of what the command reads and prints", RunE: helpOnly,
	}
	for _, d := range documents() {
		cmd.AddCommand(&cobra.Command{
			Use: d.Name, Short: "print the JSON schema of " + d.Of, Example: "  noema schema " + d.Name, Args: cobra.NoArgs,
			RunE: func(*cobra.Command, []string) error { return report.JSON(a.stdout, d.schema()) },
		})
	}
	cmd.AddCommand(&cobra.Command{
		Use: "experiment", Short: "print the JSON schema of experiment files",
		Long: `Prints the JSON schema of the YAML files that "noema run" takes. An editor with a YAML
language server checks and completes them when it is told of the schema, as by a first line
"# yaml-language-server: $schema=experiment.schema.json".`,
		Example: "  noema schema experiment",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			raw, err := json.MarshalIndent(experimentSchema(), "", "  ")
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s\n", raw)
			return err
		},
	})
	return cmd
}

// experimentSchema derives the JSON schema (draft 2020-12) of experiment files.
func experimentSchema() map[string]any {
	properties := map[string]any{}
	for _, f := range methods.FieldsOf(&comparison{}) {
		if slices.Contains(inFiles, f.Tag.Get("part")) {
			properties[f.Name] = fieldSchema(f)
		}
	}
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "noema experiment",
		"type": "object", "properties": properties, "required": []string{"methods"}, "additionalProperties": false,
	}
}

func fieldSchema(f methods.Field) map[string]any {
	scalar := []string{"string", "number", "boolean"}
	s := map[string]any{"description": f.Doc}
	switch f.Type {
	case methods.BoolOption:
		s["type"] = "boolean"
	case methods.IntOption:
		s["type"] = "integer"
	case methods.NumberOption:
		s["type"] = "number"
	case methods.DurationOption:
		s["type"], s["examples"] = "string", []string{"90s", "15m"}
	case methods.ListOption:
		s["type"], s["items"] = []string{"array", "string"}, map[string]any{"type": scalar}
	case methods.MapOption:
		s["type"], s["additionalProperties"] = "object", map[string]any{"type": scalar}
	default:
		s["type"] = []string{"string", "number"} // limit: 10
		if f.Tag.Get("more") != "" {
			s["type"], s["items"] = []string{"string", "array"}, map[string]any{"type": scalar}
		}
	}
	if f.Type == methods.IntOption || f.Type == methods.NumberOption {
		if f.Min != nil {
			s["minimum"] = *f.Min
		}
		if f.Max != nil {
			s["maximum"] = *f.Max
		}
	}
	if len(f.Choices) > 0 {
		s["type"], s["enum"] = "string", f.Choices
	}
	if f.Default != "" {
		s["description"] = fmt.Sprintf("%s (default %s)", f.Doc, f.Default)
	}
	return s
}
