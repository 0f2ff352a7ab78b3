package local

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// readPooling reads how sentence-transformers makes one vector of a model's
// states, and reports whether it takes the first token's. It is the mean of all
// where nothing is said.
func readPooling(dir string) (first bool, err error) {
	var modules []struct{ Type string }
	if err := readOptional(dir, "modules.json", &modules); err != nil {
		return false, err
	}
	for _, m := range modules {
		switch name := m.Type[strings.LastIndex(m.Type, ".")+1:]; name {
		case "Transformer", "Pooling", "Normalize":
		default:
			return false, fmt.Errorf("%s has a module %q: only Transformer, Pooling and Normalize are supported", filepath.Join(dir, "modules.json"), name)
		}
	}
	file := filepath.Join("1_Pooling", "config.json")
	var modes map[string]any
	if err := readOptional(dir, file, &modes); err != nil {
		return false, err
	}
	var on []string
	for name, set := range modes {
		if mode, ok := strings.CutPrefix(name, "pooling_mode_"); ok && set == true {
			on = append(on, mode)
		}
	}
	slices.Sort(on)
	switch strings.Join(on, "+") {
	case "", "mean_tokens":
		return false, nil
	case "cls_token":
		return true, nil
	}
	return false, fmt.Errorf("%s pools by %s: only mean_tokens and cls_token are supported", filepath.Join(dir, file), strings.Join(on, " and "))
}

// pooled is the mean of states, [n, width], scaled to length 1. It adds in 64
// bits.
func pooled(states []float32, width int) ([]float32, error) {
	mean := make([]float64, width)
	for i, s := range states {
		mean[i%width] += float64(s)
	}
	var square float64
	for i := range mean {
		mean[i] /= float64(len(states) / width)
		square += mean[i] * mean[i]
	}
	length := max(math.Sqrt(square), 1e-12)
	if math.IsNaN(length) || math.IsInf(length, 0) {
		return nil, errors.New("the model's states are not numbers: its weights are damaged")
	}
	vector := make([]float32, width)
	for i := range mean {
		vector[i] = float32(mean[i] / length)
	}
	return vector, nil
}
