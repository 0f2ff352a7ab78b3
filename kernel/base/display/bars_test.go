package display

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Whatever the intervals, every row of a terminal's table is within its width, the line
// at 0 stands in one place, a bar crosses it exactly where its interval does, up to the
// width of a character, and taking the bars away gives the table without them.
func TestBars(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	drawn := 0
	for range 600 {
		table := Table{Width: 20 + r.IntN(140)}
		table.AddWhole("pair", "difference")
		for range 1 + r.IntN(6) {
			table.Row(strings.Repeat("x", 1+r.IntN(20)), "0.1")
			b := Bar{Value: (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(6)-3))}
			b.Low, b.High = b.Value-r.Float64(), b.Value+r.Float64()
			if r.IntN(8) == 0 {
				b.Value = math.NaN()
			}
			table.Bars = append(table.Bars, b)
		}
		plain := table
		plain.Bars = nil
		lines, without := strings.Split(table.Text(), "\n"), strings.Split(plain.Text(), "\n")
		if len(lines[0]) == len(without[0]) {
			continue // no room
		}
		drawn++
		zero := strings.LastIndex(lines[0], "0")
		for i, line := range lines {
			runes := []rune(line)
			if len(runes) > table.Width {
				t.Fatalf("%d columns in a terminal of %d: %q", len(runes), table.Width, line)
			}
			if !strings.HasPrefix(line, strings.TrimRight(without[i], " ")) {
				t.Fatalf("%q does not begin with %q", line, without[i])
			}
			if i == 0 || i > len(table.Bars) {
				continue
			}
			b := table.Bars[i-1]
			at := runes[zero]
			switch {
			case at == '│' && b.drawn() && strings.ContainsRune(string(runes[:zero]), '─') && strings.ContainsRune(string(runes[zero+1:]), '─'):
				t.Fatalf("the bar %+v crosses 0 and the line is above it: %q", b, line)
			case at != '│' && at != '┼' && at != '●':
				t.Fatalf("no line at 0: %q", line)
			case !b.drawn() && strings.ContainsAny(line, "─●┼"):
				t.Fatalf("an undefined difference is drawn: %q", line)
			case b.drawn() && strings.Count(line, "●") != 1:
				t.Fatalf("the value of %+v is not drawn once: %q", b, line)
			}
		}
	}
	if drawn < 200 {
		t.Errorf("only %d tables had bars", drawn)
	}
}

// Colours change nothing but themselves, and pipes have neither colours nor bars.
func TestColoursAndPipes(t *testing.T) {
	table := Table{Width: 100, Bars: []Bar{{0.1, 0, 0.2}, {0, -1, 1}}, Strong: []bool{true, false}}
	table.Add("a", "b")
	table.Row("1", "2")
	table.Row("3", "4")
	plain := table.Text()
	table.Colour = true
	coloured := table.Text()
	if got := strings.NewReplacer(Green, "", Plain, "").Replace(coloured); got != plain || strings.Count(coloured, Green) != 1 {
		t.Errorf("coloured:\n%s\nplain:\n%s", coloured, plain)
	}
	table.Width, table.Colour = -1, false
	if piped := table.Text(); strings.ContainsAny(piped, "●│─\x1b") {
		t.Errorf("in a pipe:\n%s", piped)
	}
}
