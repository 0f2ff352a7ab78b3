package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"noema/kernel/base/files"
	"noema/kernel/show/report"
	"noema/methods/generalanot"
)

func seedConvertCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "convert FILE", Short: "turn a Formula Seed of another form into ours", Args: cobra.ExactArgs(1),
		Long: `Reads a Formula Seed in one of the forms that the public project has written
(field_type, computations, array_assemblies, lookups; or version and sections; or
filter, extract, compute) and writes it in ours. What is read differently is listed as notes. What cannot be
converted is listed as faults; it stands in the new file as it was, to be edited.
"seed validate", "seed run" and -M general-anot.seed=@FILE read the other forms too,
if nothing in them is at fault.`,
		Example: "  noema seed convert generated_seed.json --out allergy.json",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := files.Read(args[0], files.MaxConfig)
			if err != nil {
				return usage(fmt.Errorf("read Formula Seed: %w", err))
			}
			if err := isObject(args[0], raw); err != nil {
				return usage(fmt.Errorf("read Formula Seed: %w", err))
			}
			c, err := generalanot.Convert(raw)
			if err != nil {
				return fmt.Errorf("read Formula Seed %s: %w", args[0], err)
			}
			return a.writeConversion(c, args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default: standard output)")
	return cmd
}

func (a *app) writeConversion(c *generalanot.Conversion, file, out string) error {
	for _, n := range c.Notes {
		fmt.Fprintf(a.stderr, "note   %s\n", n)
	}
	for _, f := range c.Faults {
		fmt.Fprintf(a.stderr, "fault  %s\n", f)
	}
	raw, err := generalanot.Marshal(c.Seed)
	if err != nil {
		return err
	}
	if err := a.write(out, raw); err != nil {
		return err
	}
	if n := len(c.Faults); n > 0 {
		return fmt.Errorf("convert Formula Seed %s: %s: edit what is listed above in the new file", file, report.Plural(n, "fault"))
	}
	return nil
}
