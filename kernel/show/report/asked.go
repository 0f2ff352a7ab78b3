package report

import (
	"fmt"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/run/runner"
)

// What is shown of an answer before one looks into its trial.
const (
	shownQuestion = 1000 // characters
	shownText     = 6000 // characters
	shownEvidence = 8    // pieces
	evidenceText  = 400  // characters of a piece
	inFull        = 3    // questions shown with their whole answers; more are rows of a table
	askedRows     = 20   // of that table
)

// columnWidth is what a method's answer needs to be read beside others; where there
// is less room, answers stand below each other.
const columnWidth = 40

// DefaultWidth is the width of a sheet in columns of a terminal where it is not known.
const DefaultWidth = 100

// answers is what methods said to a question, side by side where there is room.
func answers(q runner.Asked, width int) string {
	query := q.Query
	if r := []rune(query); len(r) > shownQuestion { // it may be a whole document
		query = string(r[:shownQuestion]) + "…"
	}
	lines := display.Wrap(query, width)
	k := len(q.Answers)
	if k == 0 {
		return strings.Join(append(lines, "", "no trial finished"), "\n")
	}
	each := (width - 2*(k-1)) / k
	if k > 1 && each < columnWidth {
		for _, a := range q.Answers {
			lines = append(append(lines, ""), said(a, width, "  ")...)
		}
		return strings.Join(lines, "\n")
	}
	columns := make([][]string, k)
	for i, a := range q.Answers {
		columns[i] = said(a, each, "")
	}
	return strings.Join(append(append(lines, ""), display.SideBySide(columns, each)...), "\n")
}

// said is one answer with what it rests on, in lines, below the name of its method.
func said(a runner.Said, width int, indent string) []string {
	head := a.Method
	if a.Epoch > 1 {
		head += fmt.Sprintf(" · epoch %d", a.Epoch)
	}
	head += " · " + string(a.Outcome)
	lines := display.Wrap(head, width)
	add := func(text, indent string) {
		for _, l := range display.Wrap(text, width-len(indent)) {
			lines = append(lines, indent+l)
		}
	}
	if a.Reason != "" {
		add("("+display.Line(a.Reason, evidenceText)+")", indent)
	}
	text := a.Text
	if r := []rune(text); len(r) > shownText {
		text = string(r[:shownText]) + "… (runs show --trial has all)"
	}
	if text != "" {
		lines = append(lines, "")
		add(text, indent)
	}
	if len(a.Evidence) > 0 {
		lines = append(lines, "")
	}
	for i, e := range a.Evidence {
		if i == shownEvidence {
			add(fmt.Sprintf("… %d more pieces of evidence", len(a.Evidence)-i), indent)
			break
		}
		add(display.Line("- "+e.Source+": "+e.Text, evidenceText), indent)
	}
	return lines
}

// askedTable is a row a question, for when they are many.
func askedTable(s *runner.Summary) display.Table {
	var t display.Table
	t.Add("sample", "question")
	for _, m := range s.Methods {
		t.Add(m.Method)
	}
	for i, q := range s.Answers {
		if i == askedRows {
			break
		}
		cells := []string{q.Sample, display.Line(q.Query, 200)}
		said := map[string]string{}
		for _, a := range q.Answers {
			if _, have := said[a.Method]; have {
				continue // the first epoch stands for all
			}
			if said[a.Method] = display.Line(a.Text, 200); a.Text == "" {
				said[a.Method] = string(a.Outcome)
			}
		}
		for _, m := range s.Methods {
			cells = append(cells, said[m.Method])
		}
		t.Row(cells...)
	}
	if more := s.Unscored - len(t.Rows); more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s more without a target: \"noema runs export\" has all answers", count(more)))
	}
	return t
}

// AskSheet is a run whose samples have no target: what was answered, and what it
// took. Width is that of the terminal, in columns.
func AskSheet(s *runner.Summary, width int) Sheet {
	sheet := RunSheet(s, "")
	sheet.Head = head(s, width)
	return sheet
}

// unscoredOf says how many of the samples before it have no target.
func unscoredOf(n, samples int) string {
	switch n {
	case 0:
		return ""
	case samples:
		return " without a target"
	}
	return fmt.Sprintf(", %s without a target", count(n))
}

// head is what stands above the tables of a run.
func head(s *runner.Summary, width int) string {
	text := title(s)
	for _, note := range s.Notes {
		text += "\nnote: " + note
	}
	text += cutWarnings(s.Comparison)
	if s.Unscored == s.Samples && s.Unscored <= inFull {
		for _, q := range s.Answers {
			text += "\n\n" + answers(q, width)
		}
	}
	return text
}
