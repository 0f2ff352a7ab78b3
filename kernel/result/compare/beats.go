package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Winners returns what lists the samples on which method a is better than b on the headline
// measure, in the order of the data: those that a comparison of the two counts as wins of a.
// Epochs of a sample are averaged first. An error says that a method is unknown, or that the
// measure is one of all samples together, such as macro-F1.
func (d Data) Winners() (func(a, b string) ([]string, error), error) {
	d = d.scored()
	if len(d.Metrics) == 0 {
		return nil, errors.New("list wins: no trial has a score")
	}
	metric := d.Metrics[0]
	if isCorpus(metric) {
		return nil, fmt.Errorf("list wins: %s is a measure of all samples together: no single one wins", metric)
	}
	values := map[string][]float64{}
	return func(a, b string) ([]string, error) {
		for _, name := range []string{a, b} {
			at := slices.Index(d.Methods, name)
			if at < 0 {
				return nil, fmt.Errorf("list wins: no method %q: use two of %s", name, strings.Join(d.Methods, ", "))
			}
			if values[name] == nil {
				values[name] = d.values(at, view{metric: metric})
			}
		}
		var better []string
		for i, s := range d.Samples {
			if x, y := values[a][i], values[b][i]; finite(x) && finite(y) && apart(x, y) > 0 {
				better = append(better, s.ID)
			}
		}
		return better, nil
	}, nil
}
