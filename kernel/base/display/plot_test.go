package display

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestPlotsAreTheSameTwice(t *testing.T) {
	p := Plot{Title: `accuracy "and" <cost>`, X: Axis{Label: "cost"}, Y: Axis{Label: "accuracy", Max: 1}, Series: []Series{
		{"anot", []Point{{X: 1, Y: 0.5, Low: 0.4, High: 0.6, Label: "first"}, {X: math.NaN(), Y: 1}, {X: 2, Y: 0.7}}},
		{"nobody", nil}, {"infinite", []Point{{X: 1, Y: math.Inf(1)}}},
		{`style="fill:red"`, []Point{{X: 1, Y: 0.1}}},
	}}
	for _, style := range []Style{Lines, Dots, Bars} {
		p.Style = style
		a, b := p.Display(), p.Display()
		if !bytes.Equal(a[SVG], b[SVG]) || len(a[SVG]) == 0 {
			t.Errorf("style %d: two drawings differ, or there is none", style)
		}
		texts := strings.Join(wellFormed(t, a[SVG]), "")
		if !strings.Contains(texts, `style="fill:red"`) || strings.Contains(texts, "nobody") {
			t.Errorf("style %d: texts are %q", style, texts)
		}
		text := string(a[PlainText])
		if !strings.Contains(text, "0.5 [0.4, 0.6]") || !strings.Contains(text, "first") {
			t.Errorf("style %d: text is %s", style, text)
		}
	}
}

// TestPlotsHoldInTheDark: in a page a plot has the page's colours, and no ground of its own;
// alone it is black on white.
func TestPlotsHoldInTheDark(t *testing.T) {
	for _, style := range []Style{Lines, Dots, Bars} {
		p := Plot{Title: `"#000000" > b`, X: Axis{Label: "x"}, Style: style, Series: []Series{{"a", []Point{{X: 1, Y: 0.5, Low: 0.4, High: 0.6, Label: "one"}, {X: 2, Y: 0.7, Label: "two"}}}}}
		alone, page := string(p.Display()[SVG]), string(Stack(p)[HTML])
		wellFormed(t, []byte(page))
		for _, fixed := range []string{`"#000000"`, `"#FFFFFF"`, "color=\"black\"", "paper"} {
			if strings.Contains(page, fixed) {
				t.Errorf("style %d: in a page there is %s", style, fixed)
			}
		}
		if strings.Count(alone, onPaper) != 1 || strings.Count(alone, `"currentColor"`) != strings.Count(page, `"currentColor"`) || strings.Count(page, `stroke="currentColor"`) < 4 {
			t.Errorf("style %d: alone it is\n%s", style, alone)
		}
	}
}

// TestPlotsOfOddNumbers draws what people and programs come up with. Whatever
// it is, there is a text, and a picture.
func TestPlotsOfOddNumbers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	series := map[string][]Point{
		"none":     nil,
		"one":      {{X: 3, Y: 0.5}},
		"same":     {{X: 3, Y: 0.5}, {X: 3, Y: 0.5}},
		"zero":     {{}, {X: 1, Y: 1, Low: -1, High: 2, XLow: -1, XHigh: 3}},
		"negative": {{X: -1, Y: -2, Low: -5, High: -1}, {X: -3, Y: 0}},
		"tiny":     {{X: 5e-324, Y: 5e-324}, {X: 1, Y: 1}},
		"huge":     {{X: 1e299, Y: -1e299}, {X: -1e299, Y: 1e299}},
		"odd":      {{X: nan, Y: inf, Low: nan, High: inf}, {X: 1, Y: 2, Low: -inf, High: inf}, {X: 2, Y: 1, Low: 3, High: 2}},
		"outside":  {{X: 50, Y: 50, Low: 0, High: 100}, {X: 0.5, Y: 0.5, Low: -9, High: 9}},
	}
	axes := []Axis{{}, {Log: true}, {Max: 1}, {Min: 0.1, Max: 1, Log: true}, {Min: nan, Max: inf}, {Min: 1, Max: 0}, {Min: -1, Max: 1, Log: true}}
	for what, points := range series {
		for i, axis := range axes {
			for _, style := range []Style{Lines, Dots, Bars} {
				p := Plot{X: axis, Y: axis, Style: style, Series: []Series{{"s", points}}, Width: 200, Height: 150}
				t.Run(fmt.Sprintf("%s/%d/%d", what, i, style), func(t *testing.T) {
					soundPlot(t, p)
					if len(p.table().Text()) == 0 {
						t.Error("no text")
					}
				})
			}
		}
	}
}

func TestPlotsAreBounded(t *testing.T) {
	p := Plot{Style: Dots, Width: 1 << 30, Height: -1, Series: []Series{{Name: "many"}}}
	for i := range 100_000 {
		p.Series[0].Points = append(p.Series[0].Points, Point{X: float64(i), Y: 1})
	}
	b := p.Display()
	if !bytes.Contains(b[SVG], []byte(`width="4000" height="400"`)) || len(b[SVG]) > 1<<20 {
		t.Errorf("the picture of %d bytes begins with %.300s", len(b[SVG]), b[SVG])
	}
	text := string(b[PlainText])
	if len(text) > MaxText || !strings.Contains(text, "… 99000 more") || !strings.Contains(text, "the first 5000 of 100000 points") {
		t.Errorf("a long table of %d bytes does not say what is missing", len(text))
	}
}

// soundPlot checks that a plot is drawn, the same twice, with all its numbers inside.
func soundPlot(t *testing.T, p Plot) {
	t.Helper()
	raw, c := p.svg(), p.chart()
	if !bytes.Equal(raw, p.svg()) {
		t.Error("two drawings differ")
	}
	wellFormed(t, raw)
	for _, wrong := range []string{"NaN", "Inf", "%!"} {
		if bytes.Contains(raw, []byte(wrong)) {
			t.Errorf("there is %s in %s", wrong, raw)
		}
	}
	for _, points := range c.drawn {
		for _, pt := range points {
			for _, x := range []float64{pt.X, pt.XLow, pt.XHigh} {
				if !(c.left <= x && x <= c.right) {
					t.Fatalf("%v is not from %v to %v", x, c.left, c.right)
				}
			}
			for _, y := range []float64{pt.Y, pt.Low, pt.High} {
				if !(c.top <= y && y <= c.bottom) {
					t.Fatalf("%v is not from %v to %v", y, c.top, c.bottom)
				}
			}
		}
	}
	if !(0 < c.left && c.left+10 < c.right && int(c.right) < c.of.Width && 0 < c.top && c.top+10 < c.bottom && int(c.bottom) < c.of.Height) {
		t.Errorf("the axes are from %v to %v and %v to %v", c.left, c.right, c.top, c.bottom)
	}
	for _, m := range regexp.MustCompile(`[MHL](-?[0-9.]+)|[V ](-?[0-9.]+)[VHhMmLZ"]`).FindAllSubmatch(raw, -1) {
		if bytes.HasPrefix(m[1], []byte("-")) || bytes.HasPrefix(m[2], []byte("-")) {
			t.Errorf("%s is outside", m[0])
		}
	}
}

// TestGeneratedPlots draws what nobody comes up with: every point that has a place on both axes
// is drawn, within the drawing.
func TestGeneratedPlots(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, -5e-324, 1e299, -1e299, 9e299, math.MaxFloat64, 0, math.Copysign(0, -1), 1, 1 + 1e-15, 1e-300}
	number := func() float64 {
		switch r.IntN(4) {
		case 0:
			return odd[r.IntN(len(odd))]
		case 1:
			return math.Pow(10, r.Float64()*20-10)
		case 2:
			return float64(r.IntN(20) - 5)
		}
		return r.NormFloat64()
	}
	word := func() string {
		return strings.Repeat([]string{"", "a", "<&>", "漢字", "name of a method ", "\x00\"'"}[r.IntN(6)], r.IntN(5))
	}
	axis := func() Axis {
		return Axis{Label: word(), Min: number(), Max: number(), Log: r.IntN(2) == 0}
	}
	for range 1000 {
		p := Plot{Title: word(), X: axis(), Y: axis(), Style: Style(r.IntN(3)), Width: r.IntN(900), Height: r.IntN(600)}
		for range r.IntN(9) {
			s := Series{Name: word()}
			for range r.IntN(12) {
				s.Points = append(s.Points, Point{number(), number(), number(), number(), number(), number(), word()})
			}
			p.Series = append(p.Series, s)
		}
		soundPlot(t, p)
		drawn := p.chart().drawn
		if p.Style == Bars {
			p.X, p.Y.Log = Axis{}, false
		}
		for i, s := range p.Series {
			want := 0
			for _, pt := range s.Points {
				if (p.Style == Bars || drawable(pt.X, p.X)) && drawable(pt.Y, p.Y) {
					want++
				}
			}
			if got := len(drawn[i]); got != want {
				t.Fatalf("%d of %d points are drawn of %+v", got, want, p)
			}
		}
		if t.Failed() {
			t.Fatalf("%+v", p)
		}
	}
}

// TestTicks: numbers beside an axis are round, and have room.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis      Axis
		low, high float64
		want      string
	}{
		{Axis{}, 0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"}, {Axis{}, 0.37, 0.92, "0.4 0.5 0.6 0.7 0.8 0.9"}, {Axis{}, -3, 12000, "0 2,000 4,000 6,000 8,000 10,000 12,000"},
		{Axis{}, 1_700_000_000, 1_700_000_100, "1,700,000,000 1,700,000,020 1,700,000,040 1,700,000,060 1,700,000,080 1,700,000,100"},
		{Axis{}, 0, 4e8, "0 1e8 2e8 3e8 4e8"}, {Axis{}, -2e-7, 2e-7, "-2e-7 -1e-7 0 1e-7 2e-7"},
		{Axis{Log: true}, 0.001, 100, "0.001 0.01 0.1 1 10 100"}, {Axis{Log: true}, 700, 20000, "1,000 2,000 5,000 10,000 20,000"}, {Axis{Log: true}, 20, 90, "20 40 60 80"},
		{Axis{Log: true}, 1e-200, 1e200, "1e-200 1e-100 1 1e100 1e200"}, {Axis{Min: 1, Max: 5}, 2, 3, "1 2 3 4 5"},
	} {
		s := scaleOf(c.axis, []float64{c.low, c.high})
		s.to = 300
		s.mark(func(string) float64 { return 40 })
		var got []string
		for _, tick := range s.ticks {
			got = append(got, tick.label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v to %v: %q", c.low, c.high, got)
		}
	}
}

// Names that differ are still told apart when they are cut, wherever they differ.
func TestShortNames(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		common := strings.Repeat("direct @ openai/gpt ", 1+r.IntN(5))
		var names []string
		for range 2 + r.IntN(5) {
			at := r.IntN(len(common))
			names = append(names, common[:at]+string(rune('a'+r.IntN(6)))+common[at:])
		}
		short := shortNames(names, 24)
		for _, a := range names {
			for _, b := range names {
				if Line(a, 0) != Line(b, 0) && short[a] == short[b] {
					t.Fatalf("%q and %q are both %q", a, b, short[a])
				}
			}
		}
	}
	if got := shortNames([]string{"direct @ sim?error=0.3&v=2", "direct @ sim?error=0.05&v=2"}, 24); got["direct @ sim?error=0.3&v=2"] != "direct @ si…rror=0.3&v=2" {
		t.Errorf("%q", got)
	}
}
