package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// compareStudy carries out a comparison over several tasks or models and prints it.
func (a *app) compareStudy(cmd *cobra.Command, c *comparison, exp lab.Experiment) error {
	switch {
	case len(c.Scale) > 0:
		return usage(errors.New("--scale is for one task with one model: leave the others out"))
	case c.Attach != "" || c.Watch:
		return usage(errors.New("--attach-debugger and --watch are for one task with one model: leave the others out"))
	}
	if c.DryRun {
		return a.estimateStudy(c, exp)
	}
	if err := a.ready(c); err != nil {
		return err
	}
	collectAt(ofStudy)
	s, err := a.lab.Study(exp)
	if err != nil {
		return orInterrupted(cmd.Context(), err)
	}
	if err := a.printStudy(s, &c.pairing); err != nil {
		return err
	}
	for _, r := range s.Results() {
		if err := failedTrials(r.Result); err != nil {
			return err
		}
	}
	return nil
}

// estimateStudy prints what each cell of a study would ask for.
func (a *app) estimateStudy(c *comparison, exp lab.Experiment) error {
	cells, err := a.lab.EstimateStudy(exp)
	if err != nil {
		return err
	}
	if c.JSON {
		return report.JSON(a.stdout, cells)
	}
	var all []report.CellEstimate
	for _, cell := range cells {
		all = append(all, report.CellEstimate{Task: cell.Task, Model: cell.Model, Estimate: cell.Estimate})
	}
	if err := a.print(report.StudyEstimate(all), c.MD); err != nil {
		return err
	}
	for _, cell := range cells {
		if cell.Refusal != "" {
			fmt.Fprintf(a.text(), "\n%s · %s would be refused: %s\n", cell.Task, cell.Model, cell.Refusal)
		}
	}
	return nil
}

// ofStudy is the share of garbage that a study may have, in percent: its thousands of trials
// stay alive to its end.
const ofStudy = 50

// printStudy prints a study in the form that p asks for.
func (a *app) printStudy(s *lab.Study, p *pairing) error {
	if p.which.named() {
		return usage(s.Run.StudyError())
	}
	n, err := s.Numbers(p.Comparing)
	if err != nil {
		return err
	}
	sheet := report.StudySheet(s.Run, n.Study, n.Simulated)
	if err := writeStudy(p.HTML, sheet, *n, report.StudyProvenance(s.Run)); err != nil {
		return err
	}
	if p.JSON {
		return report.JSON(a.stdout, n)
	}
	if p.MIME {
		return a.printPictured(sheet, report.StudyNews(n.Study), n.Plots())
	}
	return a.printSheet(sheet, p, s.Results()...)
}

// showStudy prints a study and where its cells are.
func (a *app) showStudy(run *record.Run, asJSON bool) error {
	s, err := a.lab.LoadStudy(run.ID)
	if err != nil {
		return err
	}
	p := &pairing{JSON: asJSON}
	if err := a.printStudy(s, p); err != nil || asJSON {
		return err
	}
	fmt.Fprintln(a.stdout)
	return a.print(report.StudyProvenance(run), false)
}

// replayStudy computes a study again.
func (a *app) replayStudy(run *record.Run, asJSON bool) error {
	s, err := a.lab.LoadStudy(run.ID)
	if err != nil {
		return err
	}
	r, err := s.Replay()
	if err != nil {
		return err
	}
	if asJSON {
		err = report.JSON(a.stdout, struct {
			Run      string `json:"run"`
			Recorded string `json:"recorded_root_hash"`
			Now      string `json:"root_hash"`
			Same     bool   `json:"same"`
		}{run.ID, r.Recorded, r.Now, r.Same()})
	} else {
		for i, cell := range r.Cells {
			fmt.Fprintf(a.text(), "%s\n", run.Config.Study.Cells[i])
			report.Verdict(a.stdout, cell.ReplayResult)
		}
		if r.Same() {
			fmt.Fprintf(a.text(), "study     %s: the same root hash %s\n", run.ID, r.Now)
		}
	}
	if err != nil || r.Same() {
		return err
	}
	return &codedError{code: exitDiverged, err: fmt.Errorf("replay diverged from study %s: root hash %s, recorded %s", run.ID, r.Now, r.Recorded)}
}

// withCells are runs with the cells of the studies among them before each study.
func (a *app) withCells(ctx context.Context, runs []*record.Run) (all []*record.Run, err error) {
	for _, run := range runs {
		if run.Config.Study != nil {
			store, err := a.lab.Store()
			if err != nil {
				return nil, err
			}
			cells, err := runner.CellRuns(ctx, store, run)
			if err != nil {
				return nil, err
			}
			all = append(all, cells...)
		}
		all = append(all, run)
	}
	return all, nil
}

// exportStudy writes a study's table as CSV, or its pictures into a folder.
func (a *app) exportStudy(run *record.Run, e exporting) error {
	s, err := a.lab.LoadStudy(run.ID)
	if err != nil {
		return err
	}
	n, err := s.Numbers(lab.Comparing{})
	if err != nil {
		return err
	}
	switch e.format {
	case "csv":
		w := a.stdout
		if e.out != "" {
			f, err := os.Create(e.out)
			if err != nil {
				return fmt.Errorf("export: %w", err)
			}
			defer f.Close()
			w = f
		}
		return csv.NewWriter(w).WriteAll(report.StudyRows(n.Study))
	case "svg":
		if e.out == "" {
			return usage(errors.New("--format svg writes several files: name their folder, as in --out pictures/"))
		}
		for name, picture := range map[string]lab.Displayer{"forest.svg": n.Forest(), "heat.svg": n.Heat()} {
			at := filepath.Join(e.out, name)
			if err := errors.Join(os.MkdirAll(e.out, 0o755), os.WriteFile(at, picture.Display()[display.SVG], 0o644)); err != nil {
				return fmt.Errorf("export: %w", err)
			}
		}
		return nil
	}
	return usage(fmt.Errorf("--format %s is for one run: a study is written as csv or svg: %w", e.format, run.StudyError()))
}
