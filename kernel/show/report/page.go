package report

import (
	"fmt"
	"html"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/run/runner"
)

// EstimateTable shows what a run would ask for.
func EstimateTable(e *runner.Estimate) display.Table {
	var t display.Table
	t.AddWhole("method")
	t.Add("trials", "stored", "stored calls", "new calls", "new tokens", "cost", "estimated from")
	for i := 1; i < 7; i++ {
		t.Columns[i].Right = true
	}
	for _, m := range e.Methods {
		from := "nothing: run a few samples first"
		switch {
		case m.Free == m.Trials:
			from = "everything is stored"
		case m.Basis > 0:
			from = fmt.Sprintf("%s of %s", Plural(m.Basis, "trial"), m.From)
		}
		t.Row(m.Method, count(m.Trials), count(m.Free), count(m.Hits), rough(m.Calls), rough(m.Tokens), money(m.Cost), from)
	}
	return t
}

// EstimateTotal adds an estimate up, for interventions: a reply that comes out as it
// was asks for nothing new.
func EstimateTotal(e *runner.Estimate) string {
	var calls, tokens, dollars float64
	unknown := false
	for _, m := range e.Methods {
		if unknown = unknown || m.Calls == nil; m.Calls != nil {
			calls += *m.Calls
		}
		if m.Tokens != nil {
			tokens += *m.Tokens
		}
		if m.Cost != nil {
			dollars += *m.Cost
		}
	}
	if calls == 0 && !unknown {
		return "nothing new is asked: the store has every answer"
	}
	s := fmt.Sprintf("in all up to about %s new calls, %s tokens, %s, and fewer where a changed reply changes nothing after it", rough(&calls), rough(&tokens), money(&dollars))
	if unknown {
		s += "; without what is unknown"
	}
	return s
}

func rough(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return count(int(*v + 0.5))
}

// Page is a self-contained HTML page of displays, one below the other: no
// script, nothing loaded from anywhere.
func Page(title string, parts ...display.Displayer) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<style>%s
main{padding:14px 20px 40px}main>*{margin-bottom:12px}@media(max-width:700px){main{padding:12px 14px 32px}}</style></head><body><main>
`, html.EscapeString(title), Style())
	for _, p := range parts {
		joined := display.Stack(p)
		b.Write(joined[display.HTML])
		b.WriteString("\n")
	}
	b.WriteString("</main></body></html>\n")
	return []byte(b.String())
}
