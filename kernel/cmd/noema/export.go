package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/run/runner"
	"noema/kernel/show/export"
)

// exporting is what the flags of runs export say.
type exporting struct {
	format, rows, method, out string
	contents                  bool
	by                        export.Evaluator
}

func exportFormats() []string {
	return []string{"jsonl", "csv", "parquet", "evallog", export.EveryEvalFormat, "otlp", "otlp-file", "svg"}
}

func runsExportCommand(a *app) *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "write a run in a format that other tools read",
		Long: `Writes a run's trials or calls as rows (jsonl, csv, parquet), one method's trials as
Inspect's log file (evallog), or everything as OpenTelemetry spans: otlp sends them to
the collector that OTEL_EXPORTER_OTLP_ENDPOINT names, otlp-file writes them as OTLP's
JSON. With --out FOLDER, each method's log gets the name by which Inspect's tools find it
(view, samples_df, evals_df). every-eval-ever writes a record of each method, with its
samples, below --out FOLDER, and must be told who evaluated. API keys that appear in a text are removed from all of
them. A trial that failed for other reasons than its method has no scores, and
infrastructure_failure is true. A study is written as the table of a paper (csv), or as
pictures into --out FOLDER (svg).`,
		Example: `  noema runs export last --format csv --out trials.csv
  noema runs export last --format parquet --rows calls --out calls.parquet
  noema runs export last --format evallog --method anot --out anot.json
  noema runs export last --format evallog --out logs/
  noema runs export last --format every-eval-ever --organization OurLab --relationship third_party --out records/
  noema runs export last --format otlp-file --out spans.jsonl`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			for flag, formats := range map[string][]string{"rows": {"jsonl", "csv", "parquet"}, "method": {"evallog", export.EveryEvalFormat}, "organization": {export.EveryEvalFormat}, "relationship": {export.EveryEvalFormat}} {
				if a.source[flag] == fromCommandLine && slices.Contains(exportFormats(), e.format) && !slices.Contains(formats, e.format) {
					return usage(fmt.Errorf("--%s has no effect with --format %s: leave it out", flag, e.format))
				}
			}
			if _, run, err := a.findRun(cmd.Context(), args[0]); err == nil && run.Config.Study != nil {
				return a.exportStudy(run, e)
			}
			result, err := a.lab.LoadLight(args[0])
			if err != nil {
				return err
			}
			return a.export(cmd.Context(), result, e)
		},
	}
	cmd.Flags().StringVar(&e.format, "format", "jsonl", strings.Join(exportFormats(), ", "))
	cmd.Flags().StringVar(&e.rows, "rows", "trials", "trials or calls, for jsonl, csv and parquet")
	cmd.Flags().StringVar(&e.method, "method", "", "the method of an evallog, if the run has several; of every-eval-ever the only one to write")
	cmd.Flags().StringVar(&e.by.Organization, "organization", "", "of every-eval-ever: who evaluated")
	cmd.Flags().StringVar(&e.by.Relationship, "relationship", "", "of every-eval-ever: how they relate to the model's developer, "+strings.Join(export.Relationships(), ", "))
	cmd.Flags().BoolVar(&e.contents, "contents", true, "include prompts and replies, where calls are written")
	cmd.Flags().StringVar(&e.out, "out", "", "file to write (default: standard output); for evallog also a folder, for every-eval-ever always")
	return cmd
}

func (a *app) export(ctx context.Context, result *lab.Result, e exporting) error {
	source := export.Source{Result: result.Result, Redactor: a.redactor}
	if e.contents {
		source.Read = result.Read
	}
	if e.format == export.EveryEvalFormat || e.format == "evallog" && isFolder(e.out) {
		return a.exportFiles(source, e)
	}
	write, err := e.writer(ctx, source)
	if err != nil {
		return usage(err)
	}
	return e.to(a.stdout, write)
}

// isFolder reports whether a name is written as a folder's, or is one.
func isFolder(name string) bool {
	info, err := os.Stat(name)
	return strings.HasSuffix(name, "/") || err == nil && info.IsDir()
}

// exportFiles writes the files of one method, or of all, into a folder.
func (a *app) exportFiles(s export.Source, e exporting) error {
	if e.out == "" {
		return usage(fmt.Errorf("--format %s writes several files: name their folder, as in --out records/", e.format))
	}
	if err := e.by.Check(); e.format == export.EveryEvalFormat && err != nil {
		return usage(err)
	}
	labels := runner.Labels(s.Run)
	if e.method != "" {
		labels = []string{e.method}
	}
	for _, label := range labels {
		content, err := e.files(s, label)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(content)) {
			at := filepath.Join(e.out, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, content[name], 0o644)); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			fmt.Fprintln(a.text(), at)
		}
	}
	return nil
}

// files are a method's files by path.
func (e exporting) files(s export.Source, method string) (map[string][]byte, error) {
	if e.format == export.EveryEvalFormat {
		return s.EveryEval(method, e.by)
	}
	var log bytes.Buffer
	err := s.EvalLog(&log, method)
	return map[string][]byte{s.EvalLogName(method): log.Bytes()}, err
}

// to writes to the file that is named, or else to out.
func (e exporting) to(out io.Writer, write func(io.Writer) error) (err error) {
	if e.out != "" {
		f, openErr := os.Create(e.out)
		if openErr != nil {
			return fmt.Errorf("export: %w", openErr)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	buffered := bufio.NewWriterSize(out, 1<<16)
	if err := write(buffered); err != nil {
		return err
	}
	return buffered.Flush()
}

// writer chooses what is written.
func (e exporting) writer(ctx context.Context, s export.Source) (func(io.Writer) error, error) {
	switch e.format {
	case "jsonl", "csv", "parquet":
		return e.rowWriter(s)
	case "evallog":
		labels := runner.Labels(s.Run)
		if e.method == "" && len(labels) == 1 {
			e.method = labels[0]
		}
		if e.method == "" {
			return nil, fmt.Errorf("an evallog holds one method: add --method, one of %s", strings.Join(labels, ", "))
		}
		return func(w io.Writer) error { return s.EvalLog(w, e.method) }, nil
	case "otlp":
		send, err := export.OTLP(ctx)
		return func(io.Writer) error { return s.Spans(send) }, err
	case "otlp-file":
		return func(w io.Writer) error { return s.Spans(export.OTLPFile(w)) }, nil
	}
	return nil, fmt.Errorf("--format %q: use one of %s", e.format, strings.Join(exportFormats(), ", "))
}

func (e exporting) rowWriter(s export.Source) (func(io.Writer) error, error) {
	var rows export.Rows
	switch e.rows {
	case "trials":
		rows = s.Trials()
	case "calls":
		rows = s.Calls()
	default:
		return nil, fmt.Errorf("--rows %q: use trials or calls", e.rows)
	}
	return map[string]func(io.Writer) error{"jsonl": rows.JSONL, "csv": rows.CSV, "parquet": rows.Parquet}[e.format], nil
}
