package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"noema/kernel/base/score"
)

// Confidence is how far a method knows when it is right.
type Confidence struct {
	Method string `json:"method"`
	Source string `json:"source"` // of the confidence: stated by the method, or the share of its draws
	// Brier is the mean squared distance of confidence from worth: 0 is perfect, and always
	// saying one half earns 0.25.
	Brier score.Metric `json:"brier"`
	// ECE is the distance of confidence from worth within ten equal ranges of confidence. Noise
	// pushes it up: ByChance is about what a method shows whose confidences are right.
	ECE      score.Metric `json:"ece"`
	ByChance Number       `json:"ece_by_chance"`
	// Selective is the worth of the answers that the method is surest of.
	Selective []Selective `json:"selective"`
}

// Selective is the worth of a share of the answers.
type Selective struct {
	Answered float64      `json:"answered"` // share; equal confidences are answered together
	Value    score.Metric `json:"value"`    // its interval holds with those of the other shares
}

// fewestAnswers is how many it takes for an interval of their worth.
const fewestAnswers = 6

// surely is an answer with a confidence.
type surely struct {
	confidence, worth float64
	cluster           string
}

// confidence is that of each method which gives one in all its answers, or has several draws.
func (d Data) confidence(o plan) (all []Confidence) {
	v := view{metric: d.Metrics[0], envelope: envelopeOf(o.Budget)}
	for m, name := range d.Methods {
		found, source := d.stated(m, v), "stated by the method"
		if found == nil {
			found, source = d.shares(m, v), fmt.Sprintf("share of %d draws with the most frequent answer", d.epochs())
		}
		if len(found) < 2 || slices.ContainsFunc(found, func(s surely) bool { return s.worth < 0 || s.worth > 1 }) {
			continue
		}
		c := Confidence{Method: name, Source: source}
		c.ECE, c.ByChance = calibration(found, o.Level)
		squares, _, clusters := columns(found)
		c.Brier = shareMean("Brier score", squares, clusters, o.Level)
		slices.SortStableFunc(found, func(a, b surely) int { return cmp.Compare(b.confidence, a.confidence) })
		parts := []float64{0.25, 0.5, 0.75, 1}
		for _, share := range parts {
			n := max(1, int(share*float64(len(found))))
			for n < len(found) && found[n].confidence == found[n-1].confidence {
				n++
			}
			_, worth, clusters := columns(found[:n])
			value := metricOf(d.Metrics[0], worth, clusters, score.Options{Level: o.over(len(parts)).simultaneous()})
			if n < fewestAnswers {
				value.Low, value.High = math.NaN(), math.NaN()
			}
			c.Selective = append(c.Selective, Selective{float64(n) / float64(len(found)), value})
		}
		all = append(all, c)
	}
	return all
}

// stated are the confidences that a method states; nil if it does not in every answer.
func (d Data) stated(m int, v view) (all []surely) {
	for _, s := range d.Samples {
		for i, c := range s.Cells[m] {
			x, ok := c.Prediction.Answer.Confidence()
			worth := v.value(c)
			if !finite(worth) || i > 0 { // repeats of a sample are not further observations
				continue
			}
			if !ok {
				return nil
			}
			all = append(all, surely{x, worth, s.Cluster})
		}
	}
	return all
}

// shares are, by sample, the share of the draws that the most frequent answer has.
func (d Data) shares(m int, v view) (all []surely) {
	for _, s := range d.Samples {
		draws := drawsOf(s.Cells[m], v)
		if len(draws.votes) < 2 {
			continue
		}
		votes, most := make([]int, len(draws.votes)), 0
		for _, i := range draws.votes {
			if i >= 0 {
				votes[i]++
				most = max(most, votes[i])
			}
		}
		all = append(all, surely{float64(most) / float64(len(draws.votes)), draws.majority(len(draws.votes)), s.Cluster})
	}
	return all
}

// columns are the squared distances of confidence from worth, the worths and the clusters.
func columns(of []surely) (squares, worth []float64, clusters []string) {
	for _, s := range of {
		squares = append(squares, (s.confidence-s.worth)*(s.confidence-s.worth))
		worth, clusters = append(worth, s.worth), append(clusters, s.cluster)
	}
	return squares, worth, orAlone(clusters)
}

// calibration is the expected calibration error, and what chance alone makes of it where
// confidences are right. Its sum of absolute values is pushed up by noise, so that its interval
// is not around it: below, all noise is taken off that is as large as in 97.5 % of cases, since
// |θ̂| ≤ |θ| + |θ̂-θ|; above, the ranges keep the signs that they have, since |θ̂| ≥ Σ sθ̂, by t
// with an allowance for unseen samples.
func calibration(of []surely, level float64) (ece score.Metric, chance Number) {
	const ranges = 10
	names := make([]string, len(of))
	for i, s := range of {
		names[i] = s.cluster
	}
	unit, units := score.Units(names)
	n, sums, size := float64(len(of)), make([][ranges]float64, units), make([]float64, units)
	var all, expected [ranges]float64
	for i, s := range of {
		r := min(ranges-1, int(s.confidence*ranges))
		sums[unit[i]][r] += s.confidence - s.worth
		all[r] += s.confidence - s.worth
		size[unit[i]]++
		if units == len(of) && (s.worth == 0 || s.worth == 1) {
			expected[r] += s.confidence * (1 - s.confidence)
		}
	}
	ece = score.Metric{Name: "ECE", Defined: true, Low: math.NaN(), High: math.NaN(), N: len(of)}
	var spread [ranges]float64 // standard errors
	noise, largest := 0.0, slices.Max(size)/n
	signed := make([]float64, len(of)) // along the samples, with the sign of their range
	for r, sum := range all {
		ece.Value += math.Abs(sum) / n
		squares := 0.0
		for u := range sums {
			squares += sums[u][r] * sums[u][r]
		}
		spread[r] = math.Sqrt(max(squares, expected[r])) / n
		noise += spread[r] * math.Sqrt(2/math.Pi)
	}
	for i, s := range of {
		signed[i] = math.Copysign(1, all[min(ranges-1, int(s.confidence*ranges))]) * (s.confidence - s.worth)
	}
	if units > 2 {
		e := bounded{mean: ece.Value, weight: largest, bound: 1}
		e.se, e.df = score.CR2(signed, unit, units)
		ece.Low, ece.High = max(0, ece.Value-noiseQuantile(spread[:], (1+level)/2)), min(1, ece.Value+e.half(1-level))
	}
	return ece, Number(noise)
}

// noiseQuantile returns a quantile of the sum of the absolute values of independent normal variables with
// these standard deviations, by fixed draws.
func noiseQuantile(spread []float64, q float64) float64 {
	random := stream(0, "calibration")
	draws := make([]float64, 4000)
	for i := range draws {
		for _, s := range spread {
			draws[i] += s * math.Abs(random.NormFloat64())
		}
	}
	slices.Sort(draws)
	return draws[int(q*float64(len(draws)-1))]
}

// shareMean is the mean of values within 0 and 1 with the interval of [exact].
func shareMean(name string, values []float64, clusters []string, level float64) score.Metric {
	centred, none := make([]float64, len(values)), make([]float64, len(values))
	for i, x := range values {
		centred[i] = 2*x - 1
	}
	p := pair(centred, none, clusters)
	m := score.Metric{Name: name, Value: (p.bare("").Value + 1) / 2, Defined: true, Low: math.NaN(), High: math.NaN(), N: len(values)}
	if p.units > 1 {
		low, high := p.exact().interval(level)
		m.Low, m.High = (low+1)/2, (high+1)/2
	}
	return m
}
