package display

import (
	"math"
	"slices"
	"strings"
)

// Bar is an interval that is drawn beside a row, such as a difference's. One without a
// Value, which is then not a number, leaves its place empty.
type Bar struct {
	Value, Low, High float64
}

// The widths of a column of bars. With less room than the least, none is drawn.
const leastBars, mostBars = 12, 31

// withBars is the table with a column in which its bars are drawn to one scale, which has
// 0 in it, if there is room beside the others.
func (t Table) withBars(widths []int) (Table, []int) {
	room := t.limit() - len(gap)*len(widths)
	for _, w := range widths {
		room -= w
	}
	low, high := 0.0, 0.0
	for _, b := range t.Bars {
		if b.drawn() {
			low, high = min(low, b.Low, b.Value), max(high, b.High, b.Value)
		}
	}
	room = min(mostBars, room)
	if t.Width <= 0 || room < leastBars || low >= high {
		return t, widths
	}
	cells := make([]string, len(t.Bars))
	place := func(x float64) int { return int(math.Round((x - low) / (high - low) * float64(room-1))) }
	for i, b := range t.Bars {
		cells[i] = b.draw(room, place)
	}
	heading := []rune(strings.Repeat(" ", room))
	heading[place(0)] = '0'
	drawn := t
	drawn.Columns = append(append([]Column{}, t.Columns...), Column{Name: string(heading), Whole: true})
	drawn.Rows = make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		padded := append([]string{}, row...)
		for len(padded) < len(t.Columns) {
			padded = append(padded, "")
		}
		if i < len(cells) {
			padded = append(padded, cells[i])
		}
		drawn.Rows[i] = padded
	}
	return drawn, append(append([]int{}, widths...), room)
}

// drawn reports whether there is something to draw.
func (b Bar) drawn() bool {
	return !slices.ContainsFunc([]float64{b.Value, b.Low, b.High}, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// draw draws the bar in a row of that many characters, with a line at 0.
func (b Bar) draw(room int, place func(float64) int) string {
	row := []rune(strings.Repeat(" ", room))
	row[place(0)] = '│'
	if !b.drawn() {
		return string(row)
	}
	for i := place(b.Low); i <= place(b.High); i++ {
		row[i] = '─'
		if i == place(0) {
			row[i] = '┼'
		}
	}
	row[place(b.Value)] = '●'
	return string(row)
}
