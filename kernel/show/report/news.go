package report

import (
	"bytes"
	"cmp"
	_ "embed" // for the template and its style
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// News is a comparison on one screen: how good each method is at what price, who beats
// whom, and merit against cost. Its numbers are those of the comparison. Places on an axis
// are percents of its width, so that text keeps its size at every width.
type News struct {
	Proven, Open string // the verdict: what is proven, and what is not
	Metric       string
	Pairs        int
	Level        string
	Board        []boardRow
	Ticks        []tick // of the board's axis, and of merit
	Forest       []forestRow
	Zero         float64 // the place of 0 on the forest's axis
	Reach        []tick  // of the forest's axis
	Merit        *meritPlot
	Bias         string // of position; empty without

	address func(a, b string) string // of the samples on which a beats b; nil where there is no such page
}

// tick is a number on an axis.
type tick struct {
	At   float64
	Text string
}

// span is an interval on an axis, with its middle.
type span struct{ At, Low, High float64 }

// boardRow is a method: how good it is, and what a trial takes.
type boardRow struct {
	Method, Score, Interval, Calls, Tokens, Cost, Time, Standing, Detail string
	Ahead                                                                bool // it beats some other method, and none beats it
	Span                                                                 *span
}

// forestRow is a pair, turned so that the higher mean stands first.
type forestRow struct {
	A, B, To, Back, Difference, Interval, P, Hint string
	Wins, Losses, Ties                            int
	Counted                                       bool
	Proven, Gap                                   bool // Gap: the first one that is not proven
	Span                                          *span
}

// Templates are "heading", the verdict of a [News], and "board", its methods with the plots.
//
//go:embed news.html
var Templates string

//go:embed colours.css
var colours string

//go:embed style.css
var style string

// Style are the colours, the type and the charts of a page.
func Style() string { return ":root{color-scheme:light dark;\n" + colours + "}\n" + style }

// Functions are what [Templates] call.
func Functions() template.FuncMap {
	return template.FuncMap{
		"visible": display.Visible, "sentence": sentence, "flip": func(x float64) float64 { return 100 - x },
	}
}

// sentence is a clause of a verdict as one, unless it begins with a name.
func sentence(s string) string {
	for _, word := range []string{"among", "between", "nothing", "no ", "against", "each", "one"} {
		if strings.HasPrefix(s, word) {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return display.Visible(strings.TrimSuffix(s, ".")) + "."
}

// NewsOf is what c says first. address, unless it is nil, is where the samples are on which
// one method beats another.
func NewsOf(c *compare.Comparison, address func(a, b string) string) *News {
	n := &News{Metric: c.Metric, Pairs: len(c.Pairs), Level: fmt.Sprintf("%.0f %%", 100*c.Level), address: address}
	n.Proven, n.Open = parted(c)
	var merits, differences []score.Metric
	for _, m := range c.Methods {
		merits = append(merits, m.Metrics[c.Metric].Value)
	}
	axis := unit(merits)
	n.Ticks = axis.ticks(2)
	n.board(c, axis)
	for _, p := range c.Pairs {
		differences = append(differences, turned(p, c.Metric).Difference)
	}
	reach := around(differences)
	n.Reach, n.Zero = reach.ticks(4), reach.at(0)
	n.forest(c, reach)
	n.Merit = meritOf(c, axis)
	n.Bias = biased(c)
	return n
}

// biased names the methods that put what is shown first on top too often.
func biased(c *compare.Comparison) string {
	var names []string
	low, high, chance := 1.0, 0.0, 0.0
	for _, m := range c.Methods {
		if m.First.Biased() {
			share := float64(m.First.First) / float64(m.First.Trials)
			names, low, high, chance = append(names, m.Method), min(low, share), max(high, share), float64(m.First.Chance)
		}
	}
	if names == nil {
		return ""
	}
	span := fmt.Sprintf("%.0f %%", 100*high)
	if least := fmt.Sprintf("%.0f", 100*low); least+" %" != span {
		span = least + " to " + span
	}
	return fmt.Sprintf("%s: where wrong, the item shown first is on top in %s of trials; chance is %.0f %%", compare.Listed(names), span, 100*chance)
}

// StudyNews is the verdict of a study.
func StudyNews(s *compare.Study) *News {
	n := &News{Metric: s.Whole.Metric, Open: s.Verdict}
	if slices.ContainsFunc(s.Whole.Pairs, func(p compare.Pair) bool { return p.Winner != "" }) {
		n.Proven, n.Open = s.Verdict, ""
	}
	return n
}

// Pictured is a sheet whose page says the news first, as the page of a run does, then shows
// plots, and has all numbers folded below.
func Pictured(s Sheet, n *News, plots ...display.Displayer) (display.Bundle, error) {
	b := s.Display()
	if n.Metric == "" {
		return b, nil
	}
	body := struct {
		*News
		Head, Notes   string
		Plots, Tables []template.HTML
	}{News: n, Head: strings.ReplaceAll(s.Head, "\n", " · "), Notes: s.Notes()}
	for _, p := range plots {
		body.Plots = append(body.Plots, template.HTML(display.Stack(p)[display.HTML])) // it escapes every text
	}
	for _, t := range s.Tables {
		body.Tables = append(body.Tables, template.HTML(t.HTML())) // likewise
	}
	t, err := template.New("").Funcs(Functions()).Parse(Templates)
	var page bytes.Buffer
	if err == nil {
		err = t.ExecuteTemplate(&page, "pictured", body)
	}
	if err != nil {
		return nil, fmt.Errorf("render comparison: %w", err)
	}
	b[display.HTML] = themed(page.Bytes())
	return b, nil
}

// themed is a part of a page with the style of ours, in the colours of the notebook that it
// is shown in, which typesets nothing there as a formula.
func themed(page []byte) []byte {
	return slices.Concat([]byte(`<div class="noema-news tex2jax_ignore mathjax_ignore"><style>.noema-news{`+colours+style+`}</style>`), page, []byte("</div>\n"))
}

// parted is the verdict: its clauses on what is proven, and those on what is not.
func parted(c *compare.Comparison) (proven, open string) {
	if c.Metric == "" {
		return "", c.Verdict
	}
	if len(c.Pairs) == 0 && len(c.Methods) == 1 {
		return "", fmt.Sprintf("%s: %s %s", c.Methods[0].Method, c.Metric, metric(c.Methods[0].Metrics[c.Metric].Value, true))
	}
	if len(c.Pairs) == 1 {
		if c.Pairs[0].Winner == "" {
			return "", c.Verdict
		}
		return c.Verdict, ""
	}
	clauses := strings.Split(c.Verdict, "; ")
	doubt := slices.IndexFunc(clauses, func(s string) bool { return strings.Contains(s, "nothing is proven") })
	if doubt < 0 {
		return c.Verdict, ""
	}
	return strings.Join(slices.Delete(slices.Clone(clauses), doubt, doubt+1), "; "), clauses[doubt]
}

func (n *News) board(c *compare.Comparison, axis axis) {
	won, lost := map[string]bool{}, map[string]bool{}
	for _, p := range c.Pairs {
		if p.Winner != "" {
			won[p.Winner], lost[p.A], lost[p.B] = true, lost[p.A] || p.Winner == p.B, lost[p.B] || p.Winner == p.A
		}
	}
	for i, m := range c.Methods {
		v := m.Metrics[c.Metric].Value
		row := boardRow{
			Method: m.Method, Score: metric(v, false), Calls: amount(m, compare.Calls), Tokens: amount(m, compare.Tokens), Time: amount(m, compare.Latency),
			Cost: "unknown", Ahead: won[m.Method] && !lost[m.Method], Span: axis.span(v), Detail: outcomes(m),
		}
		if u := m.Usage[compare.Cost]; u.Defined {
			row.Cost = fmt.Sprintf("%.3g", 1000*u.Value)
		}
		if v.HasInterval() {
			row.Interval = fmt.Sprintf("%.2f–%.2f", v.Low, v.High)
		}
		if i < len(c.Pareto.Points) {
			row.Standing = standing(c.Pareto.Points[i])
		}
		n.Board = append(n.Board, row)
	}
	mean := func(name string) float64 {
		i := slices.IndexFunc(c.Methods, func(m compare.MethodStats) bool { return m.Method == name })
		if v := c.Methods[i].Metrics[c.Metric].Value; v.Defined {
			return v.Value
		}
		return math.Inf(-1)
	}
	slices.SortStableFunc(n.Board, func(a, b boardRow) int { return cmp.Compare(mean(b.Method), mean(a.Method)) })
}

// turned is the headline of a pair with the higher mean first.
func turned(p compare.Pair, metric string) compare.Difference {
	d := p.Metrics[metric]
	d.A, d.B = p.A, p.B
	if v := d.Difference; v.Defined && (v.Value < 0 || v.Value == 0 && d.Losses > d.Wins) {
		d.A, d.B, d.Wins, d.Losses = d.B, d.A, d.Losses, d.Wins
		d.Difference.Value, d.Difference.Low, d.Difference.High = 0-v.Value, 0-v.High, 0-v.Low
	}
	return d
}

func (n *News) forest(c *compare.Comparison, axis axis) {
	rows := make([]compare.Difference, 0, len(c.Pairs))
	for _, p := range c.Pairs {
		rows = append(rows, turned(p, c.Metric))
	}
	slices.SortStableFunc(rows, func(a, b compare.Difference) int {
		if (a.Winner != "") != (b.Winner != "") {
			return cmp.Compare(b.Winner, a.Winner) // an empty one last
		}
		return cmp.Compare(b.Difference.Value, a.Difference.Value)
	})
	for i, d := range rows {
		m := d.Difference
		row := forestRow{
			A: d.A, B: d.B, P: pValue(d.Corrected), Wins: d.Wins, Losses: d.Losses, Ties: d.Ties, Counted: d.Wins+d.Losses+d.Ties > 0,
			Proven: d.Winner != "", Span: axis.span(m), Hint: d.Verdict(), Difference: "–",
		}
		row.Gap = i > 0 && !row.Proven && n.Forest[i-1].Proven
		if m.Defined {
			row.Difference = plus(m.Value)
		}
		if m.HasInterval() {
			row.Interval = end(m.Low, m) + " to " + end(m.High, m)
		}
		if d.Detectable.Defined() {
			row.Hint = fmt.Sprintf("too few samples to see a difference under %.2f", float64(d.Detectable))
		}
		if n.address != nil && row.Counted {
			row.To, row.Back = n.address(d.A, d.B), n.address(d.B, d.A)
		}
		n.Forest = append(n.Forest, row)
	}
}
