package display

import (
	"fmt"
	"strings"
)

// LaTeX is the table as LaTeX has it, with the rules of the package booktabs. No
// text of a cell is read as a command. Letters beyond Latin need LuaLaTeX or
// XeLaTeX.
func (t Table) LaTeX() string {
	var b strings.Builder
	b.WriteString("\\begin{table}[ht]\n\\centering\n")
	if t.Title != "" {
		fmt.Fprintf(&b, "\\caption{%s}\n", LaTeXText(t.Title))
	}
	spec, head := "", make([]string, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = c.Name
		spec += map[bool]string{false: "l", true: "r"}[c.Right]
	}
	fmt.Fprintf(&b, "\\begin{tabular}{%s}\n\\toprule\n", spec)
	t.latexRow(&b, -1, head)
	b.WriteString("\\midrule\n")
	for i, row := range t.Rows {
		t.latexRow(&b, i, row)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "\\par\\smallskip{\\footnotesize %s}\n", LaTeXText(n))
	}
	b.WriteString("\\end{table}\n")
	return b.String()
}

func (t Table) latexRow(b *strings.Builder, at int, row []string) {
	cells := make([]string, len(t.Columns))
	for i := range cells {
		if i < len(row) {
			cells[i] = LaTeXText(row[i])
		}
		if at >= 0 && t.best(at, i) {
			cells[i] = "\\textbf{" + cells[i] + "}"
		}
	}
	b.WriteString(strings.TrimRight(strings.Join(cells, " & "), " ") + " \\\\\n")
}

// LaTeXText is s as LaTeX and BibTeX print it, on one line: no character of it is
// a command, ends a cell or an argument, or makes a ligature.
func LaTeXText(s string) string {
	var b strings.Builder
	last := rune(0)
	for _, r := range oneLine(s) {
		if r == last && strings.ContainsRune("-,'", r) {
			b.WriteString("{}") // two of them would be another character
		}
		if text, ok := latexOf(r); ok {
			b.WriteString(text)
		} else {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

// latexOf writes a character that LaTeX reads as something else, or does not know.
func latexOf(r rune) (string, bool) {
	switch r {
	case '$', '&', '#', '_', '%':
		return `\` + string(r), true
	case '[', ']', '*': // behind the end of a row they would be its options
		return "{" + string(r) + "}", true
	}
	name, ok := map[rune]string{
		'\\': `\textbackslash{}`, '{': `\textbraceleft{}`, '}': `\textbraceright{}`,
		'~': `\textasciitilde{}`, '^': `\textasciicircum{}`, '`': `\textasciigrave{}`, '"': `\char34{}`,
		'<': `\textless{}`, '>': `\textgreater{}`, '|': `\textbar{}`,
		'−': "$-$", '≥': `$\ge$`, '≤': `$\le$`, '×': `$\times$`, '–': `\textendash{}`, '…': `\ldots{}`, '·': `$\cdot$`, '±': `$\pm$`,
	}[r]
	return name, ok
}
