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
<style>
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem;border-bottom:1px solid #8884;text-align:left}
.right{text-align:right}
pre{white-space:pre-wrap;font-size:13px}
svg{max-width:100%%;height:auto;margin:.5rem 0;display:block}
</style></head><body>
`, html.EscapeString(title))
	for _, p := range parts {
		joined := display.Stack(p)
		b.Write(joined[display.HTML])
		b.WriteString("\n")
	}
	b.WriteString("</body></html>\n")
	return []byte(b.String())
}
