package compare

import (
	"fmt"
	"math"
	"math/rand/v2"

	"noema/kernel/base/score"
	"noema/methods"
)

// drawn makes data of cells that are drawn sample by sample.
func drawn(count int, metric string) Data {
	d := Data{Metrics: []string{metric}}
	for m := range count {
		d.Methods = append(d.Methods, fmt.Sprint("m", m))
	}
	return d
}

func (d *Data) draw(cluster string, cell func(m int) Cell) {
	s := Sample{ID: fmt.Sprint(len(d.Samples)), Cluster: cluster}
	for m := range d.Methods {
		c := cell(m)
		c.Outcome, c.Usage = methods.Answered, methods.Usage{Calls: 1 + m, InputTokens: int64(10 + m)}
		s.Cells = append(s.Cells, []Cell{c})
	}
	d.Samples = append(d.Samples, s)
}

// effectBySize has clusters of ten samples and as many samples alone. Every second method
// gains on the small ones what it loses on the large ones, so that over samples all are equal.
func effectBySize(random *rand.Rand, n, count int) Data {
	d := drawn(count, "x")
	large := (n + 10) / 20
	small := n - 10*large
	effects := []float64{0.6 * float64(10*large) / float64(n), -0.6 * float64(small) / float64(n)}
	for g := range large + small {
		size, effect := 1, effects[0]
		if g < large {
			size, effect = 10, effects[1]
		}
		d.cluster(random, g, size, effect)
	}
	return d
}

// effectByDrawnSize has n clusters of one, two, five or ten samples, as likely each: a gain
// on the small ones, and a loss on the large ones.
func effectByDrawnSize(random *rand.Rand, n, count int) Data {
	d := drawn(count, "x")
	for g := range n {
		i := random.IntN(4)
		d.cluster(random, g, []int{1, 2, 5, 10}[i], []float64{0.3, 0.3, -0.06, -0.06}[i])
	}
	return d
}

// cluster draws one in which every second method has the effect.
func (d *Data) cluster(random *rand.Rand, g, size int, effect float64) {
	for range size {
		d.draw(fmt.Sprint("c", g), func(m int) Cell {
			return Cell{Values: map[string]float64{"x": 0.5 + effect*float64(m%2) + 0.2*(random.Float64()-0.5)}}
		})
	}
}

// rareLevel has levels of which the last is the right one in one of twenty samples. Every
// second method never names it; the others err on all levels, as often as gives them the
// same macro-F1.
func rareLevel(random *rand.Rand, n, count int) Data {
	d := drawn(count, score.MacroF1)
	for range n {
		gold := 0
		switch x := random.Float64(); {
		case x > 0.95:
			gold = 2
		case x > 0.8:
			gold = 1
		}
		d.draw("", func(m int) Cell {
			if m%2 == 0 {
				return Cell{Prediction: verdict(gold, neverRare(gold, random))}
			}
			return Cell{Prediction: verdict(gold, named(gold, random.Float64() < 0.6863, random))}
		})
	}
	return d
}

func neverRare(gold int, random *rand.Rand) int {
	switch {
	case gold == 2:
		return 1
	case gold == 1:
		return int(oneIf(random.Float64() < 0.8))
	}
	return int(oneIf(random.Float64() < 0.05))
}

// skewedCosts has methods that are always right. On each sample either of two is as likely
// to cost less, with a tail that one in two methods has.
func skewedCosts(random *rand.Rand, n, count int) Data {
	d := drawn(count, "x")
	for range n {
		size := 0.5 * random.NormFloat64() // of the sample's problem
		d.draw("", func(m int) Cell { return Cell{Values: map[string]float64{"x": 1}} })
		for m, cells := range d.Samples[len(d.Samples)-1].Cells {
			tail := []float64{0.4, 2}[m%2]
			cells[0].Usage = methods.Usage{Calls: 1, Cost: methods.NanoUSD(1e6 * math.Exp(size+tail*random.NormFloat64()))}
		}
	}
	return d
}
