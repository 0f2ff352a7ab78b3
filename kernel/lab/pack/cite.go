package pack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"noema/cache/packfile"
	"noema/kernel/base/display"
	"noema/kernel/lab"
	"noema/kernel/result/record"
	"noema/kernel/show/report"
)

// Number is a number of a study's tables, as the tables print it.
type Number struct {
	Name string // such as "cafes/method/anot/hits@1/value": the run, and where in its tables
	Text string // such as "0.70"
}

// Cite lists the numbers of all tables of a pack, in their order. They are computed from
// the transcripts; that these are what the methods do is for [Verify] to tell.
func Cite(ctx context.Context, catalog lab.Catalog, p *packfile.File) (numbers []Number, err error) {
	if err := p.Check(ctx); err != nil {
		return nil, err
	}
	x, err := Verify{Catalog: catalog}.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.end()) }()
	if _, err := x.readAll(ctx); err != nil {
		return nil, err
	}
	for _, s := range x.study.Runs {
		if _, _, err := x.load(ctx, s, newTally()); err != nil {
			return nil, err
		}
	}
	for _, id := range x.study.Studies {
		run, err := readStudy(x.pack, id)
		if err == nil {
			err = putRun(ctx, x.store, run)
		}
		if err != nil {
			return nil, err
		}
	}
	return x.numbers()
}

// numbers are those of the runs that were loaded.
func (x *verification) numbers() (all []Number, err error) {
	if !x.out().computable() {
		return nil, errors.New("its tables rest on what was taken out of the pack")
	}
	taken := map[string]bool{}
	unique := func(name string) string {
		for n, base := 2, name; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		return name
	}
	for _, s := range x.study.Runs {
		r, n, err := runNumbers(x.lab, s.ID)
		if err != nil {
			return nil, err
		}
		prefix := unique(slug(runName(r.Run)))
		add := func(name, text string) {
			all = append(all, Number{unique(prefix + "/" + name), text})
		}
		add("run", n.Run)
		add("root", n.RootHash)
		add("model", n.Model)
		add("samples", fmt.Sprint(n.Samples))
		add("epochs", fmt.Sprint(n.Epochs))
		add("seed", fmt.Sprint(n.Seed))
		add("level", fmt.Sprintf("%.4g %%", 100*n.Comparison.Level))
		level := ""
		if c := n.Comparison; len(c.Pairs) > 1 {
			level = fmt.Sprintf("%.1f %%", 100*c.PairLevel)
		}
		for _, t := range append(report.RunSheet(n.Summary, "group").Tables, report.Totals(n.Comparison)) {
			addCells(add, t, level)
		}
		for _, p := range n.Comparison.Pairs {
			if d := p.Metrics[n.Comparison.Metric].Detectable; d.Defined() {
				addCell(add, "pair/"+slug(p.A+" − "+p.B)+"/detectable", fmt.Sprintf("from %.2f", float64(d)))
			}
		}
	}
	for _, id := range x.study.Studies {
		more, err := x.studyNumbers(id, unique)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// runName is what a run is called in the names of its numbers: its own name, or its task's.
func runName(run *record.Run) string {
	if run.Name != "" {
		return run.Name
	}
	return run.Config.Task.Name
}

// forms are the cells that hold several numbers, or one among words, and what each is.
var forms = []struct {
	cell  *regexp.Regexp
	parts []string
}{
	{regexp.MustCompile(`^(\S+) \[(\S+), (\S+)\]$`), []string{"value", "low", "high"}},
	{regexp.MustCompile(`^(\S+) \[–\]$`), []string{"value"}},
	{regexp.MustCompile(`^(\d+)/(\d+)/(\d+)$`), []string{"won", "lost", "tied"}},
	{regexp.MustCompile(`^([\d,]+)\+([\d,]+)$`), []string{"in", "out"}},
	{regexp.MustCompile(`^from (\S+)$`), []string{"value"}},
}

// headings are the columns whose heading is not what their numbers are called, since it has
// signs in place of words, depends on what other methods do, or was another when the first
// papers cited it.
var headings = map[string]string{
	"wins/losses/ties": "won-lost-tied", "tokens in+out": "tokens", "calls and tools": "calls", "picks item 1": "first",
}

// heading is what the numbers of a column are called, and whether they have the level of
// the intervals of pairs.
func heading(c display.Column) (name string, leveled bool) {
	name, leveled = strings.CutSuffix(c.Name, " [interval]")
	return slug(cmp.Or(headings[name], name)), leveled
}

// addCells adds the cells of a table that hold a number. The name of one is that of the
// first column, of its row and of its column. The level is that of the intervals of pairs.
func addCells(add func(name, text string), t display.Table, level string) {
	about, _ := heading(t.Columns[0])
	last := ""
	for _, row := range t.Rows {
		of := slug(row[0])
		if strings.HasPrefix(row[0], "+ ") { // a part of the row above
			of = last + "/" + strings.TrimPrefix(slug(row[0]), "+-")
		} else {
			last = of
		}
		for i := 1; i < len(row) && i < len(t.Columns); i++ {
			if strings.ContainsAny(row[i], "0123456789") {
				column, leveled := heading(t.Columns[i])
				of := about + "/" + of + "/" + column
				if addCell(add, of, row[i]); leveled && level != "" {
					add(of+"/level", level)
				}
			}
		}
	}
}

// addCell adds a cell and its parts.
func addCell(add func(name, text string), name, cell string) {
	add(name, cell)
	for _, f := range forms {
		if found := f.cell.FindStringSubmatch(cell); found != nil {
			for i, part := range f.parts {
				add(name+"/"+part, found[i+1])
			}
		}
	}
}

// unnamed are the characters that a part of a name does not hold, since LaTeX, Typst or
// Quarto read some of them as something else.
var unnamed = regexp.MustCompile(`[^a-z0-9@.+=]+`)

func slug(text string) string {
	text = strings.ReplaceAll(strings.ToLower(text), "−", "minus")
	return strings.Trim(unnamed.ReplaceAllString(text, "-"), "-")
}
