package network

import (
	"math"

	"noema/kernel/model/provider/local/internal/checkpoint"
)

// frequencies are the angles per position of the dim/2 planes that rotary
// positions turn. They are 32-bit, and so are the angles, because the models
// were trained and are served elsewhere with angles of that precision.
func frequencies(r checkpoint.Rope, dim int) []float32 {
	f := make([]float32, dim/2)
	for i := range f {
		f[i] = r32(1 / math.Pow(r.Theta, float64(2*i)/float64(dim)))
		switch r.Type {
		case "linear":
			f[i] /= r32(r.Factor)
		case "llama3":
			f[i] = llama3(f[i], r)
		}
	}
	return f
}

func r32(x float64) float32 { return float32(x) }

// llama3 stretches long wavelengths, keeps short ones and blends between, as
// Llama 3.1 does (transformers, _compute_llama3_parameters).
func llama3(f float32, r checkpoint.Rope) float32 {
	length := 2 * math.Pi / float64(f)
	low, high := r.OldContext/r.LowFreq, r.OldContext/r.HighFreq
	switch {
	case length > low:
		return f / r32(r.Factor)
	case length < high:
		return f
	}
	smooth := r32((r.OldContext/length - r.LowFreq) / (r.HighFreq - r.LowFreq))
	return (1-smooth)*f/r32(r.Factor) + float32(smooth*f)
}

// angles gives the cosines and sines of a position, appended to cos and sin.
func angles(cos, sin, frequencies []float32, position int) (c, s []float32) {
	for _, f := range frequencies {
		a := float64(float32(position) * f)
		cos, sin = append(cos, r32(math.Cos(a))), append(sin, r32(math.Sin(a)))
	}
	return cos, sin
}
