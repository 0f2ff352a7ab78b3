package display

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// scale is an axis as it is drawn, in pixels. On a logarithmic one low and high are logarithms.
type scale struct {
	low, high, from, to float64
	log                 bool
	ticks               []tick
}

// tick is a number at its place beside an axis.
type tick struct {
	at    float64
	label string
}

// scaleOf is an axis as long as it says, or else as the values need.
func scaleOf(a Axis, values []float64) scale {
	if len(values) == 0 {
		values = []float64{1, 10}
	}
	s := scale{low: slices.Min(values), high: slices.Max(values), log: a.Log}
	if bounded(a) && (!a.Log || a.Min > 0) {
		s.low, s.high = a.Min, a.Max
	}
	if a.Log {
		s.low, s.high = math.Log10(s.low), math.Log10(s.high)
	}
	size := max(math.Abs(s.low), math.Abs(s.high))
	if s.high-s.low <= max(1e-9*size, 1e-300) { // numbers that cannot be told apart have a part of the axis
		around := size / 10
		if a.Log || around < 1e-290 {
			around = 0.3
		}
		s.low, s.high = s.low-around, s.high+around
	}
	return s
}

// at is the place of a number.
func (s *scale) at(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return s.from + (s.to-s.from)*min(max((v-s.low)/(s.high-s.low), 0), 1)
}

// mark puts as many round numbers beside an axis as have room.
func (s *scale) mark(room func(label string) float64) {
	low, high := s.low, s.high
	tens := s.log && high-low >= 1
	if s.log && !tens {
		low, high = math.Pow(10, low), math.Pow(10, high)
	}
	for step := Round125((high - low) / 10); ; step = Round125(1.01 * step) {
		s.ticks = nil
		fits := true
		for _, v := range multiples(low, high, step, tens) {
			t := tick{s.at(v), numeral(v, step)}
			if tens {
				t.label = numeral(v, v)
			}
			if n := len(s.ticks); n > 0 {
				fits = fits && math.Abs(t.at-s.ticks[n-1].at) >= (room(t.label)+room(s.ticks[n-1].label))/2
			}
			s.ticks = append(s.ticks, t)
		}
		if fits {
			return
		}
	}
}

// multiples are those of a step from low to high, of which there are about ten. Of tens they
// are the exponents: a small step there is one to 2, 5 and 10 times a number.
func multiples(low, high, step float64, tens bool) (values []float64) {
	factors := []float64{1}
	if tens && step < 0.5 {
		factors = []float64{1, 2, 5}
	}
	if tens {
		step = max(step, 1)
	}
	first := math.Floor(low / step)
	for i := 0.0; i <= 12 && step > 0; i++ {
		for _, f := range factors {
			v := (first+i)*step + math.Log10(f)
			switch {
			case v < low-1e-9*step || v > high+1e-9*step:
			case tens:
				values = append(values, f*math.Pow(10, (first+i)*step))
			default:
				values = append(values, v+0) // + 0 makes -0 into 0
			}
		}
	}
	return values
}

// Round125 is the least number of 1, 2, 5 and their tens that is not below x.
func Round125(x float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*ten >= x*(1-1e-9) {
			return f * ten
		}
	}
	return 10 * ten
}

// numeral writes a number as exactly as the step to the next one asks for.
func numeral(v, step float64) string {
	if step >= 1e-4*(1-1e-9) && step < 1e6 {
		decimals := int(math.Ceil(-math.Log10(step) - 1e-9))
		if decimals <= 0 {
			return Count(int(math.Round(v)))
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 11, 64), 64) // 0.30000000000000004 is 0.3
	return strings.NewReplacer("e+00", "", "e+0", "e", "e+", "e", "e-0", "e-").Replace(strconv.FormatFloat(v, 'e', -1, 64))
}

// bounded reports whether an axis says how long it is.
func bounded(a Axis) bool { return finite(a.Min) && finite(a.Max) && a.Min < a.Max }

// finite reports whether x can be drawn: sums and differences of such numbers
// are numbers.
func finite(x float64) bool { return math.Abs(x) < 1e300 }

// drawable reports whether v has a place on an axis.
func drawable(v float64, a Axis) bool {
	return finite(v) && (!a.Log || v > 0) && (!bounded(a) || a.Min <= v && v <= a.Max)
}

// reach are the ends of an interval around a value, as far as the axis has room for it: to
// 0, on a logarithmic axis, would be without end.
func reach(v, low, high float64, a Axis) (from, to float64) {
	if !(low < high) || !finite(low) || !finite(high) {
		return v, v
	}
	if bounded(a) {
		low, high = max(low, a.Min), min(high, a.Max)
	}
	if a.Log && low <= 0 {
		low = max(v/10, math.SmallestNonzeroFloat64)
	}
	return min(low, v), max(high, v)
}
