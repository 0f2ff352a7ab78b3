package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"noema/kernel"
	"noema/kernel/builtin"
	"noema/kernel/display"
	"noema/kernel/provider/modeltest"
)

func testModelCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test PROVIDER/MODEL", Short: "ask a model a few small things, and tell what it can do", Args: cobra.ExactArgs(1),
		Long: `Makes about a dozen small calls, past the store, and prints what the model does with
each part of a request: seeds, draws, schemas, tools, stops, limits.`,
		Example: "  noema model test openai/gpt-5-nano\n  noema model test ollama/llama3.2",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.testModel(cmd.Context(), args[0]) },
	}
}

func (a *app) testModel(ctx context.Context, text string) error {
	spec, err := kernel.ParseSpec(text)
	if err != nil {
		return usage(err)
	}
	features, ok := builtin.FeaturesOf(spec)
	if !ok {
		return usage(fmt.Errorf("test model %q: only models that a server serves can be tested: see noema model list", text))
	}
	p, err := (builtin.Catalog{}).Model(spec, false, 0)
	if err != nil {
		return err
	}
	rows, err := modeltest.Test(ctx, p, features)
	if err != nil {
		return err
	}
	t := display.Table{Title: text + ", by " + features.Protocol}
	t.Add("check", "claimed", "outcome", "what was seen")
	for _, r := range rows {
		t.Row(r.Check, string(r.Claimed), string(r.Outcome), r.Detail)
	}
	return a.print(t.Display(), false)
}
