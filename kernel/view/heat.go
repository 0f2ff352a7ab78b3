package view

import (
	"fmt"
	"net/url"
	"strings"
)

// maxColumns is how many columns a map has at most. Of more samples, a column holds several.
const maxColumns = 300

// heatRow and columnWidth are the sizes of a cell of the map, in pixels.
const heatRow, columnWidth = 16, 6

// heat is a map of all samples: a row a method, a column a sample or several.
type heat struct {
	Rows          []heatLine
	Columns, Per  int // samples a column
	Epochs        int
	Width, Height int
	Order         string
	Orders        []link
	Brackets      []bracket
	IDs           string // of the samples in the order of the map, a line each
	Grid          string // a path between the cells, where there is room
}

// heatLine is a method on the map: paths of its cells, and how many they are.
type heatLine struct {
	Method              string
	Right, Wrong, None  string
	Y                   int
	Rights, Fails, Nots int
	ToWrong, ToNone     string
}

// bracket names a block of columns, by places in percent.
type bracket struct {
	From, To float64
	Text     string
}

// heat draws the map in an order: by disagreement, group or id.
func (l *loaded) heat(c *cells, q url.Values) heat {
	order := c.ordered(q.Get("order"))
	n := len(order)
	per := max(1, (n+maxColumns-1)/maxColumns)
	columns := (n + per - 1) / per
	h := heat{Columns: columns, Per: per, Epochs: l.Run.Config.Epochs, Width: columns * columnWidth, Height: len(c.methods) * heatRow, Order: q.Get("order"), Brackets: c.brackets(q.Get("order"), order)}
	for _, name := range []string{"disagreement", "group", "id"} {
		if name == "group" && !c.grouped() {
			continue
		}
		to := name
		if name == "disagreement" {
			to = ""
		}
		h.Orders = append(h.Orders, link{name, runLink(l.Run.ID, "") + "?" + with(with(with(q, "from", ""), "to", ""), "order", to).Encode()})
	}
	var ids strings.Builder
	for _, i := range order {
		ids.WriteString(c.samples[i].ID + "\n")
	}
	h.IDs = ids.String()
	for m, name := range c.methods {
		line := c.line(m, order, per)
		line.Method, line.ToWrong, line.ToNone = name, runLink(l.Run.ID, "", "wrong", name), runLink(l.Run.ID, "", "outcome", noneOf)
		h.Rows = append(h.Rows, line)
	}
	if columns <= 120 {
		var grid strings.Builder
		for x := 1; x < columns; x++ {
			fmt.Fprintf(&grid, "M%d 0V%d", x*columnWidth, h.Height)
		}
		h.Grid = grid.String()
	}
	return h
}

// line draws a method: in a column the share that is right lies above that which is wrong.
func (c *cells) line(m int, order []int, per int) heatLine {
	line := heatLine{Y: m * heatRow}
	var yes, no, none strings.Builder
	for x := 0; x*per < len(order); x++ {
		var counts [noAnswer + 1]int
		all := 0
		for _, i := range order[x*per : min((x+1)*per, len(order))] {
			for how, n := range c.tally[m][i] {
				counts[how], all = counts[how]+int(n), all+int(n)
			}
		}
		line.Rights, line.Fails, line.Nots = line.Rights+counts[right], line.Fails+counts[wrong], line.Nots+counts[noAnswer]
		y := float64(line.Y)
		for _, part := range []struct {
			path *strings.Builder
			n    int
		}{{&yes, counts[right]}, {&none, counts[noAnswer]}, {&no, counts[wrong]}} {
			height := float64(part.n) / float64(max(all, 1)) * (heatRow - 1)
			if part.n > 0 {
				fmt.Fprintf(part.path, "M%d %.4gh%dv%.4gh-%dz", x*columnWidth, y, columnWidth, height, columnWidth)
			}
			y += height
		}
	}
	line.Right, line.Wrong, line.None = yes.String(), no.String(), none.String()
	return line
}

// brackets name the blocks of an order.
func (c *cells) brackets(by string, order []int) (list []bracket) {
	n := float64(len(order))
	if by == "id" || n == 0 {
		return nil
	}
	add := func(from, to int, text string) {
		if from == to {
			return
		}
		list = append(list, bracket{100 * float64(from) / n, 100 * float64(to) / n, text})
	}
	if by == "group" {
		from := 0
		for at := range order {
			if group := c.samples[order[from]].Group; at+1 == len(order) || c.samples[order[at+1]].Group != group {
				add(from, at+1, group)
				from = at + 1
			}
		}
		return list
	}
	for _, b := range c.blocks {
		all := len(c.methods)
		text := fmt.Sprintf("%d of %d right", b.agree, all)
		switch b.agree {
		case -1:
			text = "without a verdict"
		case all:
			text = "all right"
		case 0:
			text = "all wrong"
		}
		add(b.from, b.to, fmt.Sprintf("%s %d", text, b.to-b.from))
	}
	return list
}

// Width is how wide a bracket is, in percent.
func (b bracket) Width() float64 { return b.To - b.From }

// Fits reports whether a bracket has room for its text on a map of that many pixels.
func (b bracket) Fits(pixels float64) bool {
	return float64(len(b.Text))*5.6 < b.Width()/100*pixels
}

// Hatch is how wide a tile of four pixels is where the map is stretched to 600.
func (h heat) Hatch() float64 { return 4 * float64(max(h.Width, 1)) / 600 }
