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
	// ECE is the distance of confidence from worth within ten equal ranges of confidence. Of few
	// samples it is too high on average.
	ECE score.Metric `json:"ece"`
	// Selective is the worth of the answers that the method is surest of.
	Selective []Selective `json:"selective"`
}

// Selective is the worth of a share of the answers.
type Selective struct {
	Answered float64      `json:"answered"` // share; equal confidences are answered together
	Value    score.Metric `json:"value"`    // its interval holds with those of the other shares
}

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
		c := Confidence{Method: name, Source: source, ECE: calibration(found, o.Level)}
		squares, _, clusters := columns(found)
		c.Brier = metricOf("Brier score", squares, clusters, score.Options{Level: o.Level})
		slices.SortStableFunc(found, func(a, b surely) int { return cmp.Compare(b.confidence, a.confidence) })
		parts := []float64{0.25, 0.5, 0.75, 1}
		for _, share := range parts {
			n := max(1, int(share*float64(len(found))))
			for n < len(found) && found[n].confidence == found[n-1].confidence {
				n++
			}
			_, worth, clusters := columns(found[:n])
			c.Selective = append(c.Selective, Selective{float64(n) / float64(len(found)),
				metricOf(d.Metrics[0], worth, clusters, score.Options{Level: o.over(len(parts)).simultaneous()})})
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

// calibration is the expected calibration error, with the interval of a jackknife of the
// independent units.
func calibration(of []surely, level float64) score.Metric {
	const ranges = 10
	names := make([]string, len(of))
	for i, s := range of {
		names[i] = s.cluster
	}
	unit, units := score.Units(names)
	sums, size := make([][ranges]float64, units), make([]float64, units)
	var all [ranges]float64
	for i, s := range of {
		r := min(ranges-1, int(s.confidence*ranges))
		sums[unit[i]][r] += s.confidence - s.worth
		all[r] += s.confidence - s.worth
		size[unit[i]]++
	}
	without := func(u int) (x float64) {
		n := float64(len(of))
		for r, sum := range all {
			if u >= 0 {
				sum -= sums[u][r]
			}
			x += math.Abs(sum)
		}
		if u >= 0 {
			n -= size[u]
		}
		return x / n
	}
	left := make([]float64, units)
	mean := 0.0
	for u := range left {
		left[u] = without(u)
		mean += left[u] / float64(units)
	}
	squares := 0.0
	for _, x := range left {
		squares += (x - mean) * (x - mean)
	}
	out := score.Metric{Name: "ECE", Value: without(-1), Defined: true, Low: math.NaN(), High: math.NaN(), N: len(of)}
	if units > 2 {
		half := student(float64(units-1)).Quantile((1+level)/2) * math.Sqrt(squares*float64(units-1)/float64(units))
		out.Low, out.High = max(0, out.Value-half), min(1, out.Value+half)
	}
	return out
}
