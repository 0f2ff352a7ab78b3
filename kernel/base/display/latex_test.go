package display

import (
	"strings"
	"testing"
)

// TestLaTeXShowsTextAsText: no label is a command, ends its cell or its row, or
// unbalances the braces that BibTeX counts.
func TestLaTeXShowsTextAsText(t *testing.T) {
	var table Table
	table.Add(`a_b&c`)
	table.Columns = append(table.Columns, Column{Name: "n", Right: true})
	table.Row(`\input{/etc/passwd}`, "3")
	table.Row(`[2cm] 50% of $1 #2 ~^_ {`, "−1")
	table.Row("* } a--b---c \x1b[31m")
	table.Notes = []string{`p < 0.05 "quoted" 'x'' |`}
	want := `\begin{table}[ht]
\centering
\begin{tabular}{lr}
\toprule
a\_b\&c & n \\
\midrule
\textbackslash{}input\textbraceleft{}/etc/passwd\textbraceright{} & 3 \\
{[}2cm{]} 50\% of \$1 \#2 \textasciitilde{}\textasciicircum{}\_ \textbraceleft{} & $-$1 \\
{*} \textbraceright{} a-{}-b-{}-{}-c ESC & \\
\bottomrule
\end{tabular}
\par\smallskip{\footnotesize p \textless{} 0.05 \char34{}quoted\char34{} 'x'{}' \textbar{}}
\end{table}
`
	want = strings.Replace(want, "ESC", LaTeXText("\x1b[31m"), 1)
	got := table.LaTeX()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if strings.Count(got, "{") != strings.Count(got, "}") || strings.ContainsRune(got, '\x1b') {
		t.Errorf("unbalanced or with controls:\n%s", got)
	}
}
