package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
	"noema/kernel/show/report"
)

// compareRuns compares the methods of stored runs.
func (a *app) compareRuns(cmd *cobra.Command, names []string, p *pairing) error {
	if err := a.onlyParts(cmd, "on stored runs", "pair", "design", "stored", "which", "print", "json"); err != nil {
		return err
	}
	if err := p.oneForm(); err != nil {
		return usage(err)
	}
	if onDisk := slices.IndexFunc(names, isPath); onDisk >= 0 {
		if i := slices.IndexFunc(names, func(name string) bool { return !isPath(name) }); i >= 0 {
			return usage(fmt.Errorf("%s is a file and %s is not: compare files with files and runs with runs; noema score makes a run of a file of answers", names[onDisk], names[i]))
		}
		return a.compareFiles(cmd, names, p)
	}
	if len(names) == 1 {
		if _, run, err := a.findRun(cmd.Context(), names[0]); err == nil && run.Config.Study != nil {
			collectAt(ofStudy)
			s, err := a.lab.LoadStudy(run.ID)
			if err != nil {
				return err
			}
			return a.printStudy(s, p)
		}
	}
	var results []*lab.Result
	for _, name := range names {
		r, err := a.lab.LoadLight(name)
		if err != nil {
			for _, t := range a.lab.Catalog().Tasks() {
				if t.Name == name {
					err = usage(fmt.Errorf("%q is a task, not a run: write --task %s; see \"noema compare --help\"", name, name))
				}
			}
			return err
		}
		results = append(results, r)
	}
	if p.which.named() {
		return a.listSamples(cmd, p, results)
	}
	return a.printRuns(p, results)
}

// isPath reports whether an argument names a file or a folder, and not a run, whose ids have
// neither folders nor the end of a file's name; runs of one second have a number there.
func isPath(name string) bool {
	_, err := os.Stat(name)
	return (err == nil || filepath.Base(name) != name || strings.Trim(filepath.Ext(name), ".0123456789") != "") && name != "last"
}

// compareFiles compares results that noema did not run.
func (a *app) compareFiles(cmd *cobra.Command, paths []string, p *pairing) error {
	if p.which.named() {
		return usage(errors.New("--wins, --losses and --outcome list samples of stored runs: leave them out"))
	}
	f, err := lab.CompareFiles(cmd.Context(), p.Comparing, paths...)
	if err != nil {
		return err
	}
	if f.Comparison != nil {
		return a.printCompare(f.Comparison, p)
	}
	n := lab.StudyNumbers{Study: f.Study}
	if err := writeStudy(p.HTML, f.Sheet(), n); err != nil {
		return err
	}
	if p.JSON {
		return report.JSON(a.stdout, f.Study)
	}
	return a.printSheet(f.Sheet(), p)
}

// writeStudy writes a study as one HTML page, with parts below it, if a file is named.
func writeStudy(file string, s report.Sheet, n lab.StudyNumbers, parts ...display.Displayer) error {
	if file == "" {
		return nil
	}
	head, err := report.Pictured(s, report.StudyNews(n.Study), n.Plots()...)
	if err != nil {
		return err
	}
	return writeHTML(file, "study", "noema: "+n.Whole.Metric, append([]display.Displayer{head}, parts...)...)
}

// writeHTML writes parts as one HTML page of what they are, if a file is named.
func writeHTML(file, what, title string, parts ...display.Displayer) error {
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, report.Page(title, parts...), 0o644); err != nil {
		return fmt.Errorf("write the %s: %w", what, err)
	}
	return nil
}

// printRuns prints how the methods of runs compare.
func (a *app) printRuns(p *pairing, results []*lab.Result) error {
	c, err := lab.Compare(p.Comparing, results...)
	if err != nil {
		return err
	}
	return a.printCompare(c, p, results...)
}

// printCompare prints a comparison, and writes its page.
func (a *app) printCompare(c *lab.Comparison, p *pairing, results ...*lab.Result) (err error) {
	switch {
	case p.JSON:
		err = report.JSON(a.stdout, comparedJSON{c.Comparison, c.Runs, c.Roots, c.Simulated})
	case p.MIME:
		err = a.printPictured(pageSheet(c, p.By, results), report.NewsOf(c.Comparison, nil), c.Curves())
	default:
		err = a.printSheet(c.Sheet(), p, results...)
	}
	return errors.Join(err, a.writePage(c, p.HTML, results...))
}

// pageSheet is the comparison of runs as tables of a page, and the whole of a run that is
// the only one.
func pageSheet(c *lab.Comparison, by string, results []*lab.Result) report.Sheet {
	if len(results) == 1 {
		return report.RunSheet(runner.SummaryOf(results[0].Result, c.Comparison), by)
	}
	return c.Sheet()
}

// comparedJSON is a comparison for scripts.
type comparedJSON struct {
	*compare.Comparison
	Runs      []string `json:"runs"`
	Roots     []string `json:"root_hashes"` // along Runs; empty of an unfinished one
	Simulated bool     `json:"simulated"`
}

// printCompared prints a run and, if it has several methods, how they compare.
func (a *app) printCompared(r *lab.Result, p *pairing) error {
	c, err := r.Compare(p.Comparing)
	if err != nil {
		return err
	}
	summary := runner.SummaryOf(r.Result, c.Comparison)
	if p.JSON {
		return errors.Join(report.JSON(a.stdout, lab.Numbers{Summary: summary, Comparison: c.Comparison}), a.writePage(c, p.HTML, r))
	}
	if p.MIME {
		return a.printCompare(c, p, r)
	}
	if err := a.printSheet(report.RunSheet(summary, p.By), p, r); err != nil {
		return err
	}
	a.printDrifts(r.Result)
	return a.writePage(c, p.HTML, r)
}

// print writes the text or the Markdown of what is shown. Tables fit the terminal, and
// are never cut where there is none.
func (a *app) print(d display.Displayer, markdown bool) error {
	switch fitted := d.(type) {
	case report.Sheet:
		fitted.Width, fitted.Colour = shownWidth(), colours(a.stdout)
		d = fitted
	case display.Table:
		fitted.Width, fitted.Colour = shownWidth(), colours(a.stdout)
		d = fitted
	}
	form := display.PlainText
	if markdown {
		form = display.Markdown
	}
	_, err := fmt.Fprintln(a.clean(), strings.TrimRight(string(d.Display()[form]), "\n"))
	return err
}

// printPictured prints a sheet with its news and plots in all its forms.
func (a *app) printPictured(s report.Sheet, n *report.News, plots []display.Displayer) error {
	s.Width = -1 // the page breaks lines by itself
	b, err := report.Pictured(s, n, plots...)
	if err != nil {
		return err
	}
	forms := map[string]string{}
	for form, raw := range b {
		forms[form] = a.redactor.Text(strings.TrimRight(string(raw), "\n"))
	}
	return report.JSON(a.stdout, forms)
}

// printSheet prints a sheet in the form that p asks for. Results are those that it
// is made of.
func (a *app) printSheet(s report.Sheet, p *pairing, results ...*lab.Result) error {
	if !p.Latex && !p.BibTeX {
		if err := a.print(s, p.MD); err != nil || !p.Explain {
			return err
		}
		s.Width = shownWidth()
		_, err := fmt.Fprintln(a.clean(), "\n"+s.Explained())
		return err
	}
	var text strings.Builder
	if p.Latex {
		text.WriteString(s.LaTeX())
	}
	for _, r := range results {
		if p.BibTeX {
			text.WriteString(report.BibTeX(r.Run))
		}
	}
	_, err := fmt.Fprint(a.clean(), text.String())
	return err
}

// writePage writes the comparison as one HTML page, if a file is named: the news first, as
// the page of a run has it, and last what the runs are.
func (a *app) writePage(c *lab.Comparison, file string, results ...*lab.Result) error {
	if file == "" {
		return nil
	}
	plots := c.Curves()
	if len(c.Groups) > 1 {
		plots = append(plots, c.GroupPlot())
	}
	sheet := pageSheet(c, "", results)
	for _, t := range c.Sheet().Tables { // a page has all of them
		if !slices.ContainsFunc(sheet.Tables, func(have display.Table) bool { return reflect.DeepEqual(have, t) }) {
			sheet.Tables = append(sheet.Tables, t)
		}
	}
	head, err := report.Pictured(sheet, report.NewsOf(c.Comparison, nil), plots...)
	if err != nil {
		return err
	}
	parts := []display.Displayer{head}
	var runs []*record.Run
	for _, r := range results {
		runs = append(runs, r.Run)
	}
	if len(runs) > 0 {
		parts = append(parts, report.Provenance(runs))
	}
	return writeHTML(file, "comparison", "noema: "+c.Metric, parts...)
}

// estimate prints what experiments would ask for: with --attack there are two, the
// clean one first, and a JSON list of them.
func (a *app) estimate(asJSON bool, all ...lab.Experiment) error {
	var found []*runner.Estimate
	for _, e := range all {
		f, err := a.lab.Estimate(e)
		if err != nil {
			return err
		}
		found = append(found, f)
	}
	switch {
	case asJSON && len(found) == 1:
		return report.JSON(a.stdout, found[0])
	case asJSON:
		return report.JSON(a.stdout, found)
	}
	for i, f := range found {
		if len(found) > 1 {
			fmt.Fprintln(a.stdout, []string{"without the attack", "\nunder the attack, beside the above"}[i])
		}
		fmt.Fprint(a.stdout, report.EstimateTable(f).Text())
		if f.AtMost {
			fmt.Fprintln(a.text(), "\nat most: the run stops earlier once its comparison is decided")
		}
		if f.Refusal != "" {
			fmt.Fprintf(a.text(), "\nthe run would be refused: %s\n", f.Refusal)
		}
	}
	return nil
}
