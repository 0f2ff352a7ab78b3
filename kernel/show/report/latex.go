package report

import (
	"cmp"
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/result/record"
)

// LaTeX is the sheet for a paper: what stands above the tables is their caption,
// what stands below them is small print, and the numbers are those of the text.
func (s Sheet) LaTeX() string {
	var b strings.Builder
	b.WriteString("% needs \\usepackage{booktabs}\n")
	for i, t := range s.Tables {
		if i == 0 && t.Title == "" {
			t.Title = strings.ReplaceAll(strings.TrimPrefix(s.Verdict+"\n"+s.Head, "\n"), "\n", ". ")
		}
		b.WriteString(t.LaTeX() + "\n")
	}
	if tail := strings.ReplaceAll(strings.TrimSpace(s.Tail), "\n  ", " "); tail != "" {
		b.WriteString("{\\footnotesize\\noindent\n")
		for line := range strings.Lines(tail) {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString(display.LaTeXText(line) + "\\par\n")
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// BibTeX is an entry to cite a run by: its task, methods and model, and the root
// hash by which others can tell that they have the same.
func BibTeX(r *record.Run) string {
	note := "run " + r.ID
	if r.Root != "" {
		note += ", root hash " + r.Root
	}
	note += ", task digest " + r.Config.Task.Digest
	var b strings.Builder
	fmt.Fprintf(&b, "@misc{noema-%s,\n", bibKey(r.ID))
	for _, f := range [][2]string{
		{"title", fmt.Sprintf("%s on %s with %s", strings.Join(r.Labels(), ", "), r.Config.Task, ModelName(r.Config.Model))},
		{"author", "noema"}, {"year", r.Created.UTC().Format("2006")}, {"month", r.Created.UTC().Format("1")}, {"note", note},
	} {
		fmt.Fprintf(&b, "  %-6s = {{%s}},\n", f[0], display.LaTeXText(f[1]))
	}
	return b.String() + "}\n"
}

// bibKey keeps of a run's id what a key of BibTeX may hold.
func bibKey(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, id)
}

// Provenance is a table of what is compared: each run with its root hash, task and
// model.
func Provenance(runs []*record.Run) display.Table {
	var t display.Table
	t.AddWhole("run", "root hash", "task", "model")
	for _, r := range runs {
		t.Row(r.ID, cmp.Or(rootOf(r), "none"), r.Config.Task.String(), ModelName(r.Config.Model))
	}
	return t
}
