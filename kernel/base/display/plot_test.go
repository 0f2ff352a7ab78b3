package display

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
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
		if !bytes.Equal(a[SVG], b[SVG]) || !bytes.Equal(a[PNG], b[PNG]) || len(a[PNG]) == 0 {
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
					raw, err := p.picture(SVG)
					if err != nil {
						t.Fatal(err)
					}
					wellFormed(t, raw)
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
	size, err := png.DecodeConfig(bytes.NewReader(b[PNG]))
	if err != nil || size.Width != maxSide || size.Height != 400 {
		t.Errorf("the picture is %d × %d, %v", size.Width, size.Height, err)
	}
	text := string(b[PlainText])
	if len(text) > MaxText || !strings.Contains(text, "… 99000 more") || !strings.Contains(text, "the first 5000 of 100000 points") {
		t.Errorf("a long table of %d bytes does not say what is missing", len(text))
	}
}

func TestPlotWithoutPicture(t *testing.T) {
	if _, err := (Plot{}).picture("image/unknown"); err == nil || !strings.Contains(err.Error(), "format") {
		t.Errorf("error is %v", err)
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
