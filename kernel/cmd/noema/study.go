package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"noema/cache/packfile"
	"noema/kernel/base/files"
	"noema/kernel/lab/pack"
	"noema/kernel/lab/plugindev"
	"noema/kernel/show/report"
)

func packCommand(a *app) *cobra.Command {
	var out string
	var redact []string
	cmd := &cobra.Command{
		Use:   "pack RUN...",
		Short: "pack runs into one file that anybody can verify",
		Long: `Writes a zip with all that runs asked and were told, their transcripts, the code of
their plugins and their tables, to be sent or to lie beside a paper. The same runs give
the same file. What the runs' data and models allow to be given away is for you to know.`,
		Example: `  noema pack last -o study.noema
  noema pack verify study.noema`,
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error { return a.pack(cmd.Context(), args, redact, out) },
	}
	cmd.AddCommand(proveCommand(a), verifyCommand(a))
	cmd.Flags().StringSliceVar(&redact, "redact", nil, "take out prompts, replies or items, and leave their digests")
	cmd.Flags().StringVarP(&out, "output", "o", "study.noema", "file to write; it must not exist yet")
	return cmd
}

func (a *app) pack(ctx context.Context, names, redact []string, out string) error {
	collectOften()
	runs, err := a.runsNamed(ctx, names)
	if err == nil {
		runs, err = a.withCells(ctx, runs)
	}
	if err != nil {
		return err
	}
	var digest string
	err = a.writePack("pack", out, func(w *packfile.Writer) (err error) {
		digest, err = pack.Source{Lab: a.lab, Runs: runs, Noema: versionLine(), Redact: redact}.Write(ctx, w)
		return err
	})
	return a.packed(out, digest, err)
}

// packed tells of a file that was written, unless it was not.
func (a *app) packed(out, digest string, err error) error {
	if err != nil {
		return err
	}
	info, err := os.Stat(out)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s: %d bytes, digest %s\n", out, info.Size(), digest)
	return err
}

// writePack writes a file that is a whole pack, or is not there.
func (a *app) writePack(verb, out string, write func(*packfile.Writer) error) (err error) {
	if _, err := os.Lstat(out); err == nil {
		return usage(fmt.Errorf("%s: %q is there already: remove it, or name another file with -o", verb, out))
	}
	part := filepath.Join(filepath.Dir(out), ".pack-"+filepath.Base(out))
	_ = os.Remove(part) // of one that was killed; what cannot be removed is told below
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part))
		}
	}()
	w, err := packfile.NewWriter(f)
	if err == nil {
		err = write(w)
	}
	if err = errors.Join(err, f.Sync(), stillAt(f, part), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(part, out); err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// stillAt reports whether a file is the one of a name, or another process took the name.
func stillAt(f *os.File, name string) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Lstat(name); err != nil || !os.SameFile(own, now) {
		return fmt.Errorf("%q was taken by another noema that writes the same file: wait for it, and run again", name)
	}
	return nil
}

func proveCommand(a *app) *cobra.Command {
	var out, trial string
	cmd := &cobra.Command{
		Use:   "prove RUN",
		Short: "write one trial with the proof that it belongs to a run, whose other trials stay private",
		Long: `Writes a file with the transcript of one trial, what it asked and was told, and the
hashes that lead from it to the hash of the tree over all trials of the run, which noema
pack writes into a study. noema pack verify checks it.`,
		Example: `  noema pack prove last --trial anot/R07 -o R07.noema
  noema pack verify R07.noema`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error { return a.proveTrial(cmd.Context(), args[0], trial, out) },
	}
	cmd.Flags().StringVar(&trial, "trial", "", "METHOD/SAMPLE or METHOD/SAMPLE/EPOCH")
	cmd.Flags().StringVarP(&out, "output", "o", "trial.noema", "file to write; it must not exist yet")
	return cmd
}

func (a *app) proveTrial(ctx context.Context, name, trial, out string) error {
	_, run, err := a.findRun(ctx, name)
	if err != nil {
		return err
	}
	if trial == "" {
		return usage(errors.New("prove: --trial is missing: name a trial as METHOD/SAMPLE"))
	}
	id, err := run.FindTrial(trial)
	if err != nil {
		return usage(err)
	}
	var tree string
	err = a.writePack("prove", out, func(w *packfile.Writer) (err error) {
		tree, err = pack.Source{Lab: a.lab}.Prove(ctx, w, run, id)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s: trial %s of the tree %s\n", out, id, tree)
	return err
}

func verifyCommand(a *app) *cobra.Command {
	var asJSON, rebuild bool
	var cited, checkout string
	var v pack.Verify
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "compute a pack's runs and tables again, without a key and without a network",
		Long: `Checks every byte of a pack, computes every trial of its runs again in a temporary
store, from the recorded answers alone, and recomputes every table. Prints a line for each
claim of the pack. Exits with 4 and the first difference if one does not hold. With --tex,
the numbers that noema cite wrote for a paper are checked, too. With --rebuild, compiled
plugins are built again from the source in the pack, by the Go toolchain and without a
network, and these run in their place.`,
		Example: `  noema pack verify study.noema
  noema pack verify study.noema --tex numbers.tex`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rebuild {
				r, err := plugindev.NewRebuilder(cmd.Context(), checkout)
				if err != nil {
					return err
				}
				v.Rebuild = r.Build
			}
			return a.verify(cmd.Context(), v, args[0], cited, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object instead of lines")
	cmd.Flags().BoolVar(&v.Weak, "weak-isolation", false, "run the pack's code of plugins also where noema cannot isolate it")
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "build compiled plugins again from their source, and run these")
	addSource(cmd, &checkout)
	cmd.Flags().DurationVar(&v.Timeout, "timeout", time.Hour, "the longest that the code of a run's plugins may take")
	cmd.Flags().StringVar(&cited, "tex", "", "file that noema cite wrote, LaTeX or JSON, whose numbers to check")
	return cmd
}

func citeCommand(a *app) *cobra.Command {
	var tex, plain string
	cmd := &cobra.Command{
		Use:   "cite FILE",
		Short: "write the numbers of a pack's tables for a paper, by name",
		Long: `Writes every number of every table of a pack under a stable name, such as
cafes/method/anot/hits@1/value: for LaTeX as \\noema{NAME}, and as a JSON object for Typst and
Quarto. noema pack verify --tex computes them again and fails on a changed digit. Without a
file to write, lists names and numbers.`,
		Example: `  noema cite study.noema --latex numbers.tex
  noema pack verify study.noema --tex numbers.tex`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.cite(cmd.Context(), args[0], tex, plain) },
	}
	cmd.Flags().StringVar(&tex, "latex", "", "LaTeX file to write; an existing one is replaced")
	cmd.Flags().StringVar(&plain, "json", "", "JSON file to write; an existing one is replaced")
	return cmd
}

func (a *app) cite(ctx context.Context, file, tex, plain string) error {
	p, err := packfile.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		err = usage(fmt.Errorf("cite %q: no such pack: make one of a run by noema pack RUN -o FILE", file))
	}
	if err != nil {
		return err
	}
	defer p.Close() // opened for reading: closing cannot lose anything
	numbers, err := pack.Cite(ctx, a.lab.Catalog(), p)
	if err != nil {
		return fmt.Errorf("cite %q: %w", file, err)
	}
	if tex == "" && plain == "" {
		for _, n := range numbers {
			fmt.Fprintf(a.text(), "%s\t%s\n", n.Name, n.Text)
		}
		return nil
	}
	if tex != "" {
		if err := os.WriteFile(tex, pack.LaTeX(numbers), 0o644); err != nil {
			return fmt.Errorf("cite: %w", err)
		}
	}
	if plain != "" {
		raw, err := pack.JSON(numbers)
		if err == nil {
			err = os.WriteFile(plain, raw, 0o644)
		}
		if err != nil {
			return fmt.Errorf("cite: %w", err)
		}
	}
	_, err = fmt.Fprintf(a.stdout, "%d numbers of %s\n", len(numbers), file)
	return err
}

func (a *app) verify(ctx context.Context, v pack.Verify, file, cited string, asJSON bool) error {
	collectOften()
	p, err := packfile.Open(file)
	if errors.Is(err, packfile.ErrNoPack) {
		return &codedError{code: exitDiverged, err: err}
	}
	if err != nil {
		return err
	}
	defer p.Close() // opened for reading: closing cannot lose anything
	v.Catalog, v.Redactor = a.lab.Catalog(), a.redactor
	if cited != "" {
		if v.Cited, err = files.Read(cited, files.MaxText); err != nil {
			return fmt.Errorf("verify: %w", err)
		}
	}
	if !asJSON {
		v.Stderr, v.Say = a.stderr, func(c pack.Claim) { report.Claim(a.text(), c.Run, c.What, c.Wrong, c.Why, c.Value) }
	}
	verdict, err := v.Do(ctx, p)
	if err != nil {
		return fmt.Errorf("verify %q: %w", file, err)
	}
	if asJSON {
		err = report.JSON(a.stdout, verdict)
	} else if verdict.OK {
		_, err = fmt.Fprintf(a.stdout, "verified: the pack %.12s is what it says\n", verdict.Digest)
	}
	if err != nil || verdict.OK {
		return err
	}
	first := verdict.Failures[0]
	return &codedError{code: exitDiverged, err: fmt.Errorf("verify %q: %s: %s", file, first.What, first.Wrong)}
}
