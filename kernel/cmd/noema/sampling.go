package main

import (
	"fmt"
	"math"
	"strconv"

	"noema/kernel/record"
)

// samplingOverride reads -S and --temperature.
func (c *comparison) samplingOverride() (record.Sampling, error) {
	var s record.Sampling
	pairs, err := parsePairs("-S", c.sampling)
	if err != nil {
		return s, err
	}
	if !math.IsNaN(c.temperature) {
		if _, twice := pairs["temperature"]; twice {
			return s, fmt.Errorf("temperature is given by --temperature and by -S")
		}
		pairs["temperature"] = strconv.FormatFloat(c.temperature, 'g', -1, 64)
	}
	for name, text := range pairs {
		if err := setSampling(&s, name, text); err != nil {
			return s, err
		}
	}
	return s, nil
}

func setSampling(s *record.Sampling, name, text string) error {
	switch name {
	case "temperature", "top_p":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > 100 {
			return fmt.Errorf("-S %s=%s: use a number from 0 up", name, text)
		}
		if name == "temperature" {
			s.Temperature = &v
		} else {
			s.TopP = &v
		}
	case "top_k", "max_tokens":
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 {
			return fmt.Errorf("-S %s=%s: use a whole number from 1 up", name, text)
		}
		if name == "top_k" {
			s.TopK = &v
		} else {
			s.MaxTokens = &v
		}
	default:
		return fmt.Errorf("-S %s: use temperature, top_p, top_k or max_tokens", name)
	}
	return nil
}

// contentDefaults sets what contentFlags would, for a comparison that does
// not come from flags.
func (c *comparison) contentDefaults() { c.temperature = math.NaN() }
