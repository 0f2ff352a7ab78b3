package main

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"noema/kernel/base/score"
	"noema/kernel/result/compare"
)

// TestFacesAgree reads every number of a comparison from its table on the terminal,
// in Markdown, in the HTML file and on the page, and holds it to the JSON; and the
// means of the JSON to those of the exported rows.
func TestFacesAgree(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	for name, flags := range map[string][]string{"fixed": nil, "until decided": {"--until", "decided", "--equivalence", "0.6"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			facesAgree(t, flags...)
		})
	}
}

// facesAgree compares three methods with these flags.
func facesAgree(t *testing.T, flags ...string) {
	t.Helper()
	c := newCLI(t)
	c.run(0, append([]string{"compare", "--task", "cafes", "--methods", "direct,cot,anot", "--limit", "12"}, flags...)...)
	var want struct {
		compare.Comparison
		Runs []string
	}
	if err := json.Unmarshal([]byte(c.run(0, "compare", "last", "--json").stdout), &want); err != nil {
		t.Fatal(err)
	}
	c.run(0, "compare", "last", "--html", "page.html")
	faces := map[string]grid{
		"terminal": textGrid(c.run(0, "compare", "last").stdout),
		"Markdown": markdownGrid(c.run(0, "compare", "last", "--md").stdout),
		"HTML":     htmlGrid(must(os.ReadFile(filepath.Join(c.dir, "page.html")))),
		"page":     htmlGrid(c.page("/run/" + want.Runs[0])),
	}
	for face, g := range faces {
		for _, m := range want.Methods {
			g.holds(t, face, m.Method, "n", float64(m.N))
			g.holds(t, face, m.Method, want.Metric, numbers(m.Metrics[want.Metric].Value)...)
			g.holds(t, face, m.Method, "cost", numbers(m.Usage[compare.Cost])...)
		}
		for _, p := range want.Pairs {
			d := p.Metrics[want.Metric]
			g.holds(t, face, p.A+" − "+p.B, "difference [interval]", numbers(d.Difference)...)
			g.holds(t, face, p.A+" − "+p.B, "wins/losses/ties", float64(d.Wins), float64(d.Losses), float64(d.Ties))
			if d.Stop == nil {
				g.holds(t, face, p.A+" − "+p.B, "p, corrected", float64(d.Corrected))
			} else {
				g.holds(t, face, p.A+" − "+p.B, "e-value", d.Stop.E)
				g.holds(t, face, p.A+" − "+p.B, "needed", d.Stop.Needed)
				g.holds(t, face, p.A+" − "+p.B, "at last", d.Stop.E)
				g.holds(t, face, p.A+" − "+p.B, "samples", float64(d.Stop.Asked))
			}
			for r, name := range map[compare.Resource]string{compare.Calls: "calls", compare.Tokens: "tokens", compare.Cost: "cost", compare.Latency: "model time"} {
				ratio := p.Ratios[r].Ratio
				g.holds(t, face, p.A+" / "+p.B, name, numbers(ratio)...)
			}
		}
	}
	for face, text := range map[string]string{"runs show": c.run(0, "runs", "show", "last").stdout, "replay": c.run(0, "replay", "last").stdout} {
		runFace(t, face, textGrid(text), &want.Comparison)
	}
	runFace(t, "page of the run", htmlGrid(c.page("/run/"+want.Runs[0])), &want.Comparison)
	c.rowsAgree(&want.Comparison)
}

// runFace holds the tables of a run to the comparison of its methods.
func runFace(t *testing.T, face string, g grid, want *compare.Comparison) {
	t.Helper()
	for _, m := range want.Methods {
		g.holds(t, face, m.Method, "n", float64(m.N))
		g.holds(t, face, m.Method, "hits@1", numbers(m.Metrics["hits@1"].Value)...)
		g.holds(t, face, m.Method, "MRR", m.Metrics["mrr"].Value.Value)
		g.holds(t, face, m.Method, "calls", m.Usage[compare.Calls].Value)
		g.holds(t, face, m.Method, "tokens in+out", m.Usage[compare.InputTokens].Value, m.Usage[compare.OutputTokens].Value)
		g.holds(t, face, m.Method, "cost", m.Usage[compare.Cost].Value)
	}
}

// rowsAgree holds means over the exported rows to the comparison; that a script gets
// every other number of them, too, is a test of kernel/show/export.
func (c *cli) rowsAgree(want *compare.Comparison) {
	c.t.Helper()
	rows, err := csv.NewReader(strings.NewReader(c.run(0, "runs", "export", "last", "--format", "csv").stdout)).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	column := func(row []string, name string) string { return row[slices.Index(rows[0], name)] }
	for _, m := range want.Methods {
		for name, mean := range map[string]score.Metric{
			"score.hits@1": m.Metrics["hits@1"].Value, "score.mrr": m.Metrics["mrr"].Value, "calls": m.Usage[compare.Calls],
			"input_tokens": m.Usage[compare.InputTokens], "cost_usd": m.Usage[compare.Cost], "latency_ms": m.Usage[compare.Latency],
		} {
			sum, n := 0.0, 0
			for _, row := range rows[1:] {
				if x, err := strconv.ParseFloat(column(row, name), 64); err == nil && column(row, "method") == m.Method && column(row, "infrastructure_failure") == "false" {
					sum, n = sum+x, n+1
				}
			}
			if n != mean.N || math.Abs(sum/float64(n)-mean.Value) > 1e-12*max(1, mean.Value) {
				c.t.Errorf("%s of %s: the rows have %v of %d, JSON %v of %d", name, m.Method, sum/float64(n), n, mean.Value, mean.N)
			}
		}
	}
}

// numbers are those that a table shows of a measure.
func numbers(m score.Metric) []float64 {
	if !m.HasInterval() {
		return []float64{m.Value}
	}
	return []float64{m.Value, m.Low, m.High}
}

// grid has the cells of tables by row and column.
type grid map[[2]string]string

func (g grid) add(rows [][]string) {
	for _, row := range rows[1:] {
		for i := range row {
			if i < len(rows[0]) {
				g[[2]string{row[0], rows[0][i]}] = row[i]
			}
		}
	}
}

var figure = regexp.MustCompile(`[-+]?\d[\d,]*(\.\d+)?`)

// holds demands those numbers, as exactly as they are written.
func (g grid) holds(t *testing.T, face, row, column string, want ...float64) {
	t.Helper()
	cell, ok := g[[2]string{row, column}]
	found := figure.FindAllString(strings.ReplaceAll(strings.ReplaceAll(cell, "+/", "/"), "in+", ""), -1)
	if !ok || len(found) < len(want) {
		t.Errorf("%s: %q of %q is %q, want %v", face, column, row, cell, want)
		return
	}
	if len(want) == 1 {
		found = found[:1]
	}
	if len(found) != len(want) {
		t.Errorf("%s: %q of %q is %q, want %v", face, column, row, cell, want)
	}
	for i, text := range found[:len(want)] {
		text = strings.ReplaceAll(text, ",", "")
		x, err := strconv.ParseFloat(text, 64)
		_, decimals, _ := strings.Cut(text, ".")
		if err != nil || math.Abs(x-want[i]) > 0.5001*math.Pow10(-len(decimals)) {
			t.Errorf("%s: %q of %q is %q, want %v", face, column, row, cell, want)
		}
	}
}

// textGrid reads tables whose columns stand below their heads.
func textGrid(text string) grid {
	g := grid{}
	for block := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		starts := columnStarts(lines[0])
		if len(lines) < 2 || len(starts) < 3 {
			continue
		}
		var rows [][]string
		for _, line := range lines {
			var row []string
			runes := []rune(line)
			for i, from := range starts {
				to := len(runes)
				if i+1 < len(starts) {
					to = min(to, starts[i+1])
				}
				row = append(row, strings.TrimSpace(string(runes[min(from, to):to])))
			}
			rows = append(rows, row)
		}
		g.add(rows)
	}
	return g
}

// columnStarts are where the names of a head begin, which two spaces part.
func columnStarts(head string) (starts []int) {
	runes := []rune(head)
	for i, r := range runes {
		if r != ' ' && (i == 0 || i > 1 && runes[i-1] == ' ' && runes[i-2] == ' ') {
			starts = append(starts, i)
		}
	}
	return starts
}

func markdownGrid(text string) grid {
	g := grid{}
	for block := range strings.SplitSeq(text, "\n\n") {
		var rows [][]string
		for line := range strings.Lines(block) {
			if !strings.HasPrefix(line, "| ") {
				continue
			}
			line = regexp.MustCompile(`\\(.)`).ReplaceAllString(line, "$1")
			var row []string
			for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ") {
				row = append(row, strings.TrimSpace(cell))
			}
			rows = append(rows, row)
		}
		if len(rows) > 1 {
			g.add(rows)
		}
	}
	return g
}

func htmlGrid(text string) grid {
	g := grid{}
	cell, mark := regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`), regexp.MustCompile(`<[^>]*>`)
	for _, table := range regexp.MustCompile(`(?s)<table class="noema">.*?</table>`).FindAllString(text, -1) {
		var rows [][]string
		for _, line := range regexp.MustCompile(`(?s)<tr>.*?</tr>`).FindAllString(table, -1) {
			var row []string
			for _, found := range cell.FindAllStringSubmatch(line, -1) {
				row = append(row, html.UnescapeString(mark.ReplaceAllString(found[1], "")))
			}
			rows = append(rows, row)
		}
		g.add(rows)
	}
	return g
}
