package sim

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// version is part of the model's identity: whoever changes what it answers
// changes it.
const version = "1"

// DefaultError is the error rate of every reading unless options say
// otherwise; format errors are off unless asked for.
const DefaultError = 0.05

// Options are the error rates, each a probability.
type Options struct {
	Error float64            // of every reading but "format"
	Rates map[string]float64 // of single readings, by name, such as "judge"
}

// DefaultOptions is what "sim" means without options.
func DefaultOptions() Options { return Options{Error: DefaultError} }

// OptionsDoc describes the options for listings.
func OptionsDoc() []methods.Option {
	out := []methods.Option{{
		Name: "error", Type: methods.NumberOption, Default: number(DefaultError),
		Doc: "probability that an elementary reading goes wrong, for all kinds but format",
	}}
	for _, k := range kinds() {
		o := methods.Option{Name: "error." + k.name, Type: methods.NumberOption, Doc: "probability that " + k.doc}
		if k.reading == format {
			o.Default = "0"
		}
		out = append(out, o)
	}
	return out
}

// Parse reads options as they stand after "sim?", for example
// "error=0.05&error.judge=0.1". It accepts what [Options.String] writes.
func Parse(query string) (Options, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return Options{}, fmt.Errorf("sim: options %q: %w", query, err)
	}
	single := make(map[string]string, len(values))
	for name, list := range values {
		if len(list) > 1 {
			return Options{}, fmt.Errorf("sim: option %q is given twice", name)
		}
		single[name] = list[0]
	}
	return ParseOptions(single)
}

// ParseOptions reads options by name. An unknown name is an error that lists
// the known ones.
func ParseOptions(values map[string]string) (Options, error) {
	o := DefaultOptions()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		kindName, single := strings.CutPrefix(name, "error.")
		switch {
		case name == "v":
			if value != version {
				return Options{}, fmt.Errorf("sim: version %q of the simulated model is not version %s, which this build has", value, version)
			}
			continue
		case name != "error" && !(single && slices.Contains(kindNames(), kindName)):
			return Options{}, fmt.Errorf("sim: unknown option %q (known are error and error.X with X one of %s)", name, strings.Join(kindNames(), ", "))
		}
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return Options{}, fmt.Errorf("sim: option %s: %q is no number", name, value)
		}
		if !single {
			o.Error = rate
			continue
		}
		if o.Rates == nil {
			o.Rates = map[string]float64{}
		}
		o.Rates[kindName] = rate
	}
	return o, o.check()
}

func (o Options) check() error {
	if !probability(o.Error) {
		return fmt.Errorf("sim: option error: %v is not between 0 and 1", o.Error)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rates)) {
		if !slices.Contains(kindNames(), name) {
			return fmt.Errorf("sim: unknown reading %q (known are %s)", name, strings.Join(kindNames(), ", "))
		}
		if !probability(o.Rates[name]) {
			return fmt.Errorf("sim: option error.%s: %v is not between 0 and 1", name, o.Rates[name])
		}
	}
	return nil
}

// probability is false for NaN as well.
func probability(x float64) bool { return x >= 0 && x <= 1 }

func (o Options) rates() [readings]float64 {
	var rates [readings]float64
	for _, k := range kinds() {
		if k.reading != format {
			rates[k.reading] = o.Error
		}
		if rate, ok := o.Rates[k.name]; ok {
			rates[k.reading] = rate
		}
	}
	return rates
}

// String is the canonical form of the options with the version, as in
// "error=0.05&error.judge=0.1&v=1". Rates that add nothing are left out.
func (o Options) String() string {
	parts := []string{"error=" + number(o.Error)}
	rates, plain := o.rates(), Options{Error: o.Error}.rates()
	sorted := slices.SortedFunc(slices.Values(kinds()), func(a, b kind) int { return strings.Compare(a.name, b.name) })
	for _, k := range sorted {
		if rates[k.reading] != plain[k.reading] {
			parts = append(parts, "error."+k.name+"="+number(rates[k.reading]))
		}
	}
	return strings.Join(append(parts, "v="+version), "&")
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
