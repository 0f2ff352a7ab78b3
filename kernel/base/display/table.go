package display

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"unicode"

	xwidth "golang.org/x/text/width"
)

// Table is rows under columns. The zero value is ready to be filled.
type Table struct {
	Title   string
	Columns []Column
	Rows    [][]string // a row may be shorter than Columns
	Notes   []string   // below the table, a line each
	Best    [][]bool   // cells that stand out, along Rows: bold, and in text with a star
	Width   int        // of the text form, in characters; 0 is 100, and below 0 nothing is cut

	// What only a terminal shows, where Width is above 0.
	Bars   []Bar  // drawn beside the rows, where there is room
	Strong []bool // rows that stand out, where Colour allows
	Colour bool
}

// Column is the head of a column.
type Column struct {
	Name  string
	Right bool   // aligned to the right, as numbers are
	Whole bool   // never cut to make the table fit: half a number is not a number
	Help  string // what its cells say, for who points at it on a page
}

// Add appends columns by name.
func (t *Table) Add(names ...string) {
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name})
	}
}

// AddWhole appends columns that are never cut.
func (t *Table) AddWhole(names ...string) {
	for _, name := range names {
		t.Columns = append(t.Columns, Column{Name: name, Whole: true})
	}
}

// Row appends a row.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, cells) }

// Display implements [Displayer]. Of a long table a page gets the first rows.
func (t Table) Display() Bundle {
	b := Bundle{PlainText: []byte(cut(t.Text()))}
	if more := len(t.Rows) - maxPageRows; more > 0 {
		t.Rows = t.Rows[:maxPageRows]
		t.Notes = append([]string{fmt.Sprintf("… %d more rows", more)}, t.Notes...)
	}
	b[HTML], b[Markdown] = []byte(t.html(` style="text-align:left"`)), []byte(t.Markdown())
	return b
}

const (
	defaultWidth = 100
	gap          = "  "
	maxPageRows  = 1000 // of the forms for pages, which browsers must lay out
	maxPageCell  = 2000 // characters of a cell there
)

// To make a table fit, its columns are cut to the first of these widths, and
// only if that is not enough to the second.
var narrowest = [...]int{8, 3}

// Text is the table with aligned columns. If it is wider than Width, its widest
// columns are cut, with an ellipsis, but for those that must stay whole; and if that is
// not enough, columns go below the others, beside the first one again.
func (t Table) Text() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(Visible(t.Title) + "\n")
	}
	t = t.starred()
	if len(t.Columns) > 0 {
		t, widths := t.withBars(t.widths())
		head := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			head[i] = c.Name
		}
		rows := append([][]string{head}, t.Rows...)
		if t.headless() {
			rows = t.Rows
		}
		for i, columns := range t.blocks(widths) {
			if i > 0 {
				b.WriteString("\n")
			}
			for at, row := range rows {
				line := t.line(row, columns, widths)
				if n := at - (len(rows) - len(t.Rows)); t.Colour && n >= 0 && n < len(t.Strong) && t.Strong[n] {
					line = Green + line + Plain
				}
				b.WriteString(line + "\n")
			}
		}
	}
	for _, n := range t.Notes {
		if t.Width > 0 {
			n = strings.Join(Wrap(n, t.Width), "\n")
		}
		b.WriteString(Visible(n) + "\n")
	}
	return b.String()
}

// What a terminal is told to write in another way, and that it is over.
const (
	Green = "\x1b[32m"
	Bold  = "\x1b[1m"
	Plain = "\x1b[0m"
)

// best reports whether a cell stands out.
func (t Table) best(row, column int) bool {
	return row < len(t.Best) && column < len(t.Best[row]) && t.Best[row][column]
}

// starred is the table with a star behind the cells that stand out.
func (t Table) starred() Table {
	if t.Best == nil {
		return t
	}
	rows := slices.Clone(t.Rows)
	for r := range rows {
		rows[r] = slices.Clone(rows[r])
		for c := range rows[r] {
			if t.best(r, c) {
				rows[r][c] += " *"
			}
		}
	}
	t.Rows = rows
	return t
}

// headless reports whether no column has a name.
func (t Table) headless() bool {
	return !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name != "" })
}

// limit is how wide the text may be.
func (t Table) limit() int {
	switch {
	case t.Width < 0:
		return math.MaxInt
	case t.Width == 0:
		return defaultWidth
	}
	return t.Width
}

// blocks are the columns that stand side by side: all where there is room, else the first
// one with as many others as fit, again and again. A table without a head or without a
// width of its own is not divided.
func (t Table) blocks(widths []int) (blocks [][]int) {
	block, used := []int{0}, widths[0]
	for i := 1; i < len(widths); i++ {
		need := len(gap) + widths[i]
		if t.Width > 0 && !t.headless() && used+need > t.limit() && len(block) > 1 {
			blocks = append(blocks, block)
			block, used = []int{0}, widths[0]
		}
		block, used = append(block, i), used+need
	}
	return append(blocks, block)
}

// widths fits the columns into Width.
func (t Table) widths() []int {
	limit := t.limit()
	widths := make([]int, len(t.Columns))
	total := len(gap) * (len(widths) - 1)
	for i, c := range t.Columns {
		widths[i] = Width(oneLine(c.Name))
		for _, row := range t.Rows {
			if i < len(row) {
				widths[i] = max(widths[i], Width(oneLine(row[i])))
			}
		}
		total += widths[i]
	}
	for _, least := range narrowest {
		for i := t.widest(widths, least); total > limit && i >= 0; i = t.widest(widths, least) {
			widths[i]--
			total--
		}
	}
	return widths
}

// widest is the widest column that may be cut and is wider than least; -1 if
// there is none.
func (t Table) widest(widths []int, least int) int {
	widest := -1
	for i, w := range widths {
		if !t.Columns[i].Whole && w > least && (widest < 0 || w > widths[widest]) {
			widest = i
		}
	}
	return widest
}

func (t Table) line(row []string, columns, widths []int) string {
	cells := make([]string, len(columns))
	for at, i := range columns {
		text := ""
		if i < len(row) {
			text = clip(oneLine(row[i]), widths[i])
		}
		pad := strings.Repeat(" ", widths[i]-Width(text))
		if t.Columns[i].Right {
			cells[at] = pad + text
		} else {
			cells[at] = text + pad
		}
	}
	return strings.TrimRight(strings.Join(cells, gap), " ")
}

// oneLine is a cell's text on one line, with its inner spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, Visible(s))
}

// clip cuts s to a width.
func clip(s string, limit int) string {
	if Width(s) <= limit {
		return s
	}
	w := 0
	for i, r := range s {
		w += runeWidth(r)
		if w > limit-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// Width is how many columns of a terminal s takes.
func Width(s string) int {
	w := 0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w
}

// runeWidth is 2 for the wide characters of East Asia and for pictures, 0 for
// marks that sit on the character before, and else 1.
func runeWidth(r rune) int {
	if r < 0x300 { // the common case, quickly
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch xwidth.LookupRune(r).Kind() {
	case xwidth.EastAsianWide, xwidth.EastAsianFullwidth:
		return 2
	}
	return 1
}

// HTML is the table as HTML, without scripts and with every text escaped.
func (t Table) HTML() string { return t.html("") }

// html is the table with an attribute for cells that are aligned to the left, where
// no style sheet of ours is in force.
func (t Table) html(left string) string {
	var b strings.Builder
	b.WriteString(`<table class="noema">`)
	if t.Title != "" {
		b.WriteString("<caption>" + prose(t.Title) + "</caption>")
	}
	if !t.headless() {
		b.WriteString("<thead><tr>")
		for _, c := range t.Columns {
			help := ""
			if c.Help != "" {
				help = ` title="` + text(c.Help) + `"`
			}
			b.WriteString(`<th scope="col"` + align(c, left) + help + ">" + prose(c.Name) + "</th>")
		}
		b.WriteString("</tr></thead>")
	}
	b.WriteString("<tbody>")
	for r, row := range t.Rows {
		b.WriteString("<tr>")
		for i, c := range t.Columns {
			cell := ""
			if i < len(row) {
				cell = prose(shorten(row[i], maxPageCell))
			}
			if t.best(r, i) {
				cell = "<b>" + cell + "</b>"
			}
			b.WriteString("<td" + align(c, left) + ">" + cell + "</td>")
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</tbody></table>")
	for _, n := range t.Notes {
		b.WriteString("<p>" + prose(n) + "</p>")
	}
	return b.String()
}

func text(s string) string { return html.EscapeString(Visible(s)) }

// prose is text between tags. Notebooks typeset what stands between two dollars of one text
// as a formula, so that each is a text of its own.
func prose(s string) string { return strings.ReplaceAll(text(s), "$", "<span>$</span>") }

func align(c Column, left string) string {
	if c.Right {
		return ` class="right"`
	}
	return left
}

// Markdown is the table as GitHub's Markdown has it.
func (t Table) Markdown() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString("**" + escape(t.Title) + "**\n\n")
	}
	row := func(at int, cells []string) {
		b.WriteString("|")
		for i := range t.Columns {
			cell := ""
			if i < len(cells) {
				cell = escape(shorten(cells[i], maxPageCell))
			}
			if at >= 0 && t.best(at, i) {
				cell = "**" + cell + "**"
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	head, rule := make([]string, len(t.Columns)), "|"
	for i, c := range t.Columns {
		head[i] = c.Name
		if c.Right {
			rule += " ---: |"
		} else {
			rule += " --- |"
		}
	}
	row(-1, head)
	b.WriteString(rule + "\n")
	for i, r := range t.Rows {
		row(i, r)
	}
	for _, n := range t.Notes {
		b.WriteString("\n" + escape(n) + "\n")
	}
	return b.String()
}

// escape keeps a text from being read as Markdown, mathematics or HTML. A
// bracket alone says nothing, so intervals stay readable; what makes a link or
// a picture of it is escaped.
func escape(s string) string { return inert.Replace(oneLine(s)) }

var inert = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "$", `\$`, "#", `\#`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;",
	"![", `\![`, "](", `\](`, "][", `\]\[`, "]:", `\]:`,
)
