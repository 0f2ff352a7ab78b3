package report

import (
	"fmt"
	"slices"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/base/score"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/methods"
)

// CreditSheet is what the places of a method earn: a line for each intervention.
func CreditSheet(c *compare.Credit, of string, simulatedModel bool) Sheet {
	head := fmt.Sprintf("%s of %s as recorded: %s, n = %d", c.Metric, c.Method, metric(c.Recorded, true), c.Recorded.N)
	if c.Failed+c.LeftOut > 0 {
		head += fmt.Sprintf(" (of %s, %d without an answer, which count as wrong, and %d left out)", Plural(c.Trials, "trial"), c.Failed, c.LeftOut)
	}
	n := 0
	for _, p := range c.Places {
		n += len(p.Effects)
	}
	head += fmt.Sprintf("\n%s on run %s · %.0f %% intervals", Plural(n, "intervention"), of, c.Level*100)
	if n > 1 {
		head += fmt.Sprintf(", which hold together (each %.4g %%)", c.PairLevel*100)
	}
	var lines []string
	for _, n := range c.Notes {
		lines = append(lines, wrap("note: "+n, textWidth))
	}
	lines = append(lines, fmt.Sprintf("run     %s", c.Run), fmt.Sprintf("root    %s", c.Root))
	if simulatedModel {
		lines = append(lines, "", wrap(simulated, textWidth))
	}
	return Sheet{Head: head, Tables: []display.Table{creditTable(c)}, Tail: strings.Join(lines, "\n")}
}

func creditTable(c *compare.Credit) display.Table {
	var t display.Table
	t.Title = "change of " + c.Metric + " when the replies of one " + c.By + " are others"
	t.Add(c.By, "tokens")
	t.AddWhole("reply", "change", "p, corrected", "per 1,000", "verdict", "changed", "failed")
	for _, i := range []int{1, 7, 8} {
		t.Columns[i].Right = true
	}
	for _, p := range c.Places {
		tokens := "unknown"
		if p.Tokens.Defined() {
			tokens = count(int(p.Tokens + 0.5))
		}
		for _, e := range p.Effects {
			per := "–"
			if e.PerThousand.Defined {
				per = plus(e.PerThousand.Value)
			}
			failed := count(e.Failed)
			if e.LeftOut > 0 {
				failed += fmt.Sprintf(", %d left out", e.LeftOut)
			}
			t.Row(p.At, tokens, e.Kind, signed(e.Change.Difference), pValue(e.Change.Corrected), per, e.Verdict(),
				fmt.Sprintf("%s/%s", count(e.Changed), count(e.Calls)), failed)
		}
	}
	t.Notes = []string{
		"tokens: of the " + c.By + " in a trial; per 1,000: the change for each 1,000 of them",
		"changed: calls with another reply than the recorded one",
		"failed: trials without an answer, which count as wrong",
		"drop: an empty reply; swap: that of another sample; resample: another draw; truth: the right one",
	}
	return t
}

// CreditGraph is a method's own graph of a trial with the effects at the node of
// each place, and a node for each place that the graph has none of. The trial may be
// nil, or without a graph.
func CreditGraph(c *compare.Credit, t *record.Trial) methods.Graph {
	g := methods.Graph{Kind: "credit"}
	own := methods.Graph{}
	if t != nil {
		own, _ = GraphOf(t)
	}
	shown := map[string]bool{}
	for i := range own.Nodes {
		n := &own.Nodes[i]
		n.Value, n.State, n.Layer = "", "", 0
		if j := slices.IndexFunc(c.Places, func(p compare.Place) bool { return n.Path != "" && p.At == record.Place(c.By, n.Path) }); j >= 0 {
			shown[c.Places[j].At] = true
			credited(n, c.Places[j])
		}
	}
	for _, p := range c.Places {
		if shown[p.At] {
			continue
		}
		n := methods.Node{ID: "place " + p.At, Label: p.At, Kind: c.By}
		credited(&n, p)
		if last := len(g.Nodes) - 1; last >= 0 {
			g.Edges = append(g.Edges, methods.Edge{From: g.Nodes[last].ID, To: n.ID})
		}
		g.Nodes = append(g.Nodes, n)
	}
	return under(g, own)
}

// under puts a graph below the last node of another.
func under(g, own methods.Graph) methods.Graph {
	below := map[string]bool{}
	for _, e := range own.Edges {
		below[e.To] = true
	}
	if last := len(g.Nodes) - 1; last >= 0 {
		for _, n := range own.Nodes {
			if !below[n.ID] {
				g.Edges = append(g.Edges, methods.Edge{From: g.Nodes[last].ID, To: n.ID})
			}
		}
	}
	g.Nodes, g.Edges = append(g.Nodes, own.Nodes...), append(g.Edges, own.Edges...)
	return g
}

// credited writes the effects on a place into its node. What counts for its state is
// the first intervention that is decided: one that takes the reply away, if the
// method is worse without it.
func credited(n *methods.Node, p compare.Place) {
	var short, long []string
	n.State = "undecided"
	for _, e := range p.Effects {
		if e.Kind == record.Drop || e.Kind == record.Truth { // as much as fits; the tooltip has all
			short = append(short, fmt.Sprintf("%s %s", e.Kind, plainChange(e.Change.Difference)))
		}
		long = append(long, fmt.Sprintf("%s: %s, %s", e.Kind, signed(e.Change.Difference), e.Verdict()))
		if e.Kind == record.Truth || e.Kind == record.Resample || n.State != "undecided" {
			continue
		}
		switch e.Verdict() {
		case "worse":
			n.State = "earns"
		case "better":
			n.State = "harms"
		}
	}
	n.Text, n.Value = p.At+"\n"+strings.Join(long, "\n"), strings.Join(short, ", ")
}

func plainChange(m score.Metric) string {
	if !m.Defined {
		return "–"
	}
	return plus(m.Value)
}
