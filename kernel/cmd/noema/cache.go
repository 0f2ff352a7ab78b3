package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"noema/cache/packfile"
	"noema/kernel/lab/pack"
	"noema/kernel/show/report"
)

func cacheExportCommand(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "write all answers of the store into a pack, without runs",
		Long: `Writes every model answer, tool result and method seed of the store into a pack, for
"noema cache import" elsewhere. To give runs away, see "noema pack".`,
		Example: "  noema cache export -o answers.noema",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var digest string
			err := a.writePack("export", out, func(w *packfile.Writer) (err error) {
				digest, err = pack.Source{Lab: a.lab, Noema: versionLine()}.WriteRecords(cmd.Context(), w)
				return err
			})
			return a.packed(out, digest, err)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "answers.noema", "file to write; it must not exist yet")
	return cmd
}

func cacheImportCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "add the answers and runs of a pack to the store; nothing is overwritten",
		Long: `Adds what a pack holds to the store, so that new runs pay only for what was not asked
before. An answer that the store has already stays, and is reported. Check a pack of somebody
else with "noema pack verify" first: an answer that is imported counts as a model's.`,
		Example: "  noema cache import study.noema",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			collectOften()
			p, err := packfile.Open(args[0])
			if err != nil {
				return err
			}
			defer p.Close() // opened for reading: closing cannot lose anything
			done, err := pack.Import(cmd.Context(), a.lab, p)
			if err != nil {
				return fmt.Errorf("import %q: %w", args[0], err)
			}
			if asJSON {
				return report.JSON(a.stdout, done)
			}
			report.Imported(a.text(), done.New, done.Same, done.Runs, done.Conflicts)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func cachePruneCommand(a *app) *cobra.Command {
	var runs []string
	var older string
	var size byteSize
	var dryRun, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "remove answers that no run needs, and give the space back",
		Long: `Removes answers, method seeds and samples that no run of the store needs to be computed
again, and gives their space back to the disk. With --run, removes these runs first, and
then only what they alone used. With --older-than and --max-size, removes less. What came
since an unfinished run began stays.`,
		Example: `  noema cache prune --dry-run
  noema cache prune --older-than 30d
  noema cache prune --run 20261120-140501-9f3c`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p := pack.Prune{MaxSize: int64(size), DryRun: dryRun}
			if older != "" {
				age, err := parseAge(older)
				if err != nil {
					return usage(err)
				}
				p.Before = time.Now().Add(-age)
			}
			return a.cachePrune(cmd.Context(), p, runs, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&runs, "run", nil, "runs to remove first; then only answers that they alone used go")
	flags.StringVar(&older, "older-than", "", "remove only what is older than this, as in 30d or 12h")
	flags.Var(&size, "max-size", "remove the oldest only, until the rest is no larger, as in 2GiB")
	flags.BoolVar(&dryRun, "dry-run", false, "only say what would be removed")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// parseAge reads a duration, in which days are allowed, too.
func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, fmt.Errorf("--older-than %q: use a number of days or hours, as in 30d or 12h", text)
	}
	return age, nil
}

func (a *app) cachePrune(ctx context.Context, p pack.Prune, runs []string, asJSON bool) error {
	store, err := a.lab.Store()
	if err != nil {
		return err
	}
	if p.Runs, err = a.runsNamed(ctx, runs); err == nil {
		p.Runs, err = a.withCells(ctx, p.Runs)
	}
	if err != nil {
		return err
	}
	done, err := p.Do(ctx, store)
	if err != nil {
		return err
	}
	if asJSON {
		return report.JSON(a.stdout, done)
	}
	verb := "removed"
	if p.DryRun {
		verb = "would remove"
	}
	for _, id := range done.Runs {
		fmt.Fprintln(a.stdout, verb, "run", id)
	}
	_, err = fmt.Fprintf(a.stdout, "%s %d records of %s; %d stay\n", verb, done.Records, report.Size(done.Bytes), done.Kept)
	return err
}
