package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/export"
	"noema/kernel/show/report"
	"noema/methods"
)

// named reports whether samples are asked for.
func (w which) named() bool { return len(w.Wins)+len(w.Losses) > 0 || w.Outcome != "" }

// listSamples prints the samples of a run that the flags ask for, with what methods came
// to on each.
func (a *app) listSamples(cmd *cobra.Command, p *pairing, results []*lab.Result) error {
	if err := a.onlyParts(cmd, "where samples are listed", "which", "json"); err != nil {
		return err
	}
	if len(results) != 1 {
		return usage(errors.New("--wins, --losses and --outcome list the samples of one run: name one"))
	}
	r := results[0]
	trials, err := p.which.of(r)
	if err != nil {
		return err
	}
	if p.JSON {
		return a.printTrials(r, trials, "json")
	}
	return a.print(report.SampleTable(trials, r.Samples()), false)
}

// of are the trials of a run that are asked for.
func (w which) of(r *lab.Result) ([]*record.Trial, error) {
	if len(w.Wins) > 0 && len(w.Losses) > 0 {
		return nil, usage(errors.New("--wins and --losses exclude each other: leave one of them out"))
	}
	if err := checkOutcome(w.Outcome); err != nil {
		return nil, err
	}
	found := r.Trials
	if pair := append(slices.Clone(w.Wins), w.Losses...); len(pair) > 0 {
		if len(pair) != 2 {
			return nil, usage(errors.New("--wins and --losses take two methods, as in --wins cot,direct"))
		}
		if len(w.Losses) > 0 {
			slices.Reverse(pair)
		}
		var err error
		if found, err = r.Wins(pair[0], pair[1]); err != nil {
			return nil, err
		}
	}
	var trials []*record.Trial
	for _, t := range found {
		if w.Outcome == "" || string(t.Answer.Outcome) == w.Outcome {
			trials = append(trials, t.Trial)
		}
	}
	return trials, nil
}

func checkOutcome(name string) error {
	if name == "" || slices.Contains(methods.Outcomes(), methods.Outcome(name)) {
		return nil
	}
	return usage(fmt.Errorf("--outcome %q: use one of %s", name, strings.Trim(fmt.Sprint(methods.Outcomes()), "[]")))
}

// trialKeys are what trials are sorted by. Figures are sorted from the largest down, and
// scores from the worst up: the trials to look at come first.
func trialKeys() map[string]func(*record.Trial) float64 {
	return map[string]func(*record.Trial) float64{
		"score": func(t *record.Trial) float64 {
			if _, v, ok := compare.Headline(t); ok {
				return v
			}
			return 2 // after all scores
		},
		"calls":  func(t *record.Trial) float64 { return -float64(t.Usage.Calls) },
		"tokens": func(t *record.Trial) float64 { return -float64(t.Usage.Tokens()) },
		"cost":   func(t *record.Trial) float64 { return -t.Usage.Cost.USD() },
		"time":   func(t *record.Trial) float64 { return -float64(t.Usage.Latency) },
	}
}

// listing is what the flags of runs trials say.
type listing struct {
	method, outcome, group, order string
	wrong, asJSON, asCSV          bool
	limit                         int
}

func runsTrialsCommand(a *app) *cobra.Command {
	var l listing
	cmd := &cobra.Command{
		Use:   "trials RUN",
		Short: "list a run's trials: questions, answers, scores, cost",
		Long: `Lists the trials of a run, those that the flags keep, sorted. --json and --csv print all
columns that "runs export" has. To see on which samples one method beats another, use
"noema compare RUN --wins A,B".`,
		Example: `  noema runs trials last --method cot --wrong
  noema runs trials last --outcome unparsed --csv
  noema runs trials last --sort cost --limit 5`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeRuns,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			r, err := a.lab.LoadLight(args[0])
			if err != nil {
				return err
			}
			return a.listTrials(r, l)
		},
	}
	cmd.Flags().StringVar(&l.method, "method", "", "trials of this method alone")
	cmd.Flags().StringVar(&l.outcome, "outcome", "", "trials that ended so, as in unparsed")
	cmd.Flags().StringVar(&l.group, "group", "", "trials on samples of this group")
	cmd.Flags().BoolVar(&l.wrong, "wrong", false, "trials that did not earn the full score")
	cmd.Flags().StringVar(&l.order, "sort", "", "score, calls, tokens, cost or time: what to look at comes first (default: the run's order)")
	cmd.Flags().IntVar(&l.limit, "limit", 50, "trials to show; 0 shows all")
	cmd.Flags().BoolVar(&l.asJSON, "json", false, "print an array of JSON objects")
	cmd.Flags().BoolVar(&l.asCSV, "csv", false, "print CSV")
	return cmd
}

// check refuses values before a run is read.
func (l listing) check() error {
	if _, known := trialKeys()[l.order]; !known && l.order != "" {
		return usage(fmt.Errorf("--sort %q: use score, calls, tokens, cost or time", l.order))
	}
	if l.limit < 0 || l.asJSON && l.asCSV {
		return usage(errors.New("--limit takes 0 or more, and --json and --csv exclude each other"))
	}
	return checkOutcome(l.outcome)
}

// of are the trials of a run that the listing keeps, in its order.
func (l listing) of(r *lab.Result) ([]*record.Trial, error) {
	if labels := runner.Labels(r.Run); l.method != "" && !slices.Contains(labels, l.method) {
		return nil, usage(fmt.Errorf("--method %q: use one of %s", l.method, strings.Join(labels, ", ")))
	}
	groups := map[string]string{}
	for _, s := range r.Samples() {
		groups[s.ID] = s.Group
	}
	var kept []*record.Trial
	for _, t := range r.Trials {
		switch {
		case l.method != "" && t.ID.Method != l.method, l.outcome != "" && string(t.Answer.Outcome) != l.outcome,
			l.group != "" && groups[t.ID.Sample] != l.group, l.wrong && !compare.Wrong(t.Trial):
		default:
			kept = append(kept, t.Trial)
		}
	}
	if key := trialKeys()[l.order]; key != nil {
		slices.SortStableFunc(kept, func(a, b *record.Trial) int { return cmp.Compare(key(a), key(b)) })
	}
	return kept, nil
}

func (a *app) listTrials(r *lab.Result, l listing) error {
	kept, err := l.of(r)
	if err != nil {
		return err
	}
	more := 0
	if l.limit > 0 {
		more = max(0, len(kept)-l.limit)
	}
	kept = kept[:len(kept)-more]
	switch {
	case l.asJSON:
		return a.printTrials(r, kept, "json")
	case l.asCSV:
		return a.printTrials(r, kept, "csv")
	}
	questions := map[string]string{}
	for _, s := range r.Samples() {
		questions[s.ID] = s.Problem.Query
	}
	t := report.TrialTable(kept, questions)
	if more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more: --limit 0 shows all", more))
	}
	return a.print(t, false)
}

// printTrials prints trials of a run with all columns of an export.
func (a *app) printTrials(r *lab.Result, trials []*record.Trial, form string) error {
	part := *r.Result
	part.Trials = trials
	rows := export.Source{Result: &part, Redactor: a.redactor}.Trials()
	if form == "csv" {
		return rows.CSV(a.stdout)
	}
	return rows.JSON(a.stdout)
}
