package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/model/provider/modeltest"
	"noema/kernel/run/gateway"
	"noema/kernel/session/builtin"
)

func testModelCommand(a *app) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use: "test PROVIDER/MODEL", Short: "ask a model a few small questions, and show what it supports", Args: cobra.ExactArgs(1),
		Long: `Makes about a dozen small calls, bypassing the store, and prints what the model does with
each part of a request: seeds, draws, schemas, tools, stops, limits. If the model cannot
be used at all, the command prints the cause and exits with status 1.`,
		Example: "  noema model test openai/gpt-5-nano\n  noema model test ollama/llama3.2",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.testModel(cmd.Context(), args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return cmd
}

func (a *app) testModel(ctx context.Context, text string, asJSON bool) error {
	spec, err := lab.ParseSpec(text)
	if err != nil {
		return usage(err)
	}
	p, err := (builtin.Catalog{Home: a.home}).Model(spec, false, 0)
	if err != nil {
		return err
	}
	features, ok := builtin.FeaturesOf(p)
	if !ok {
		return usage(fmt.Errorf("test model %q: only language models can be tested: see noema model list", text))
	}
	g, err := gateway.New(gateway.Options{Provider: p, Redactor: a.redactor, Mode: gateway.Off, Retry: gateway.Retry{Attempts: 3}, Patience: 10 * time.Second})
	if err != nil {
		return err
	}
	rows, err := modeltest.Test(ctx, g.Host(gateway.Trial{Method: "model test"}), features)
	if err != nil {
		return fmt.Errorf("model %q cannot be used: %w", text, err)
	}
	if asJSON {
		encoder := json.NewEncoder(a.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(rows)
	}
	t := display.Table{Title: text + ", by " + features.Protocol}
	t.Add("check", "claimed", "outcome", "what was seen")
	for _, r := range rows {
		t.Row(r.Check, string(r.Claimed), string(r.Outcome), r.Detail)
	}
	return a.print(t, false)
}
