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
	docs := []string{
		"phase 1 misreads or loses a condition",
		"phase 2 leaves an item out of a step or names a wrong field",
		"phase 3 reverses its verdict on one item and one condition",
		"the final step swaps two neighbours in the ranking",
		"direct and cot reverse their verdict on one item and one condition",
		"a reply is prose without an answer",
	}
	out := []methods.Option{{
		Name: "error", Type: methods.NumberOption, Default: number(DefaultError),
		Doc: "probability that an elementary reading goes wrong, for all kinds but format",
	}}
	for i, name := range names {
		o := methods.Option{Name: "error." + name, Type: methods.NumberOption, Doc: "probability that " + docs[i]}
		if reading(i) == format {
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
		kind, single := strings.CutPrefix(name, "error.")
		switch {
		case name == "v":
			if value != version {
				return Options{}, fmt.Errorf("sim: version %q of the simulated model is not version %s, which this build has", value, version)
			}
			continue
		case name != "error" && !(single && slices.Contains(names[:], kind)):
			return Options{}, fmt.Errorf("sim: unknown option %q (known are error and error.X with X one of %s)", name, strings.Join(names[:], ", "))
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
		o.Rates[kind] = rate
	}
	return o, o.check()
}

func (o Options) check() error {
	if !probability(o.Error) {
		return fmt.Errorf("sim: option error: %v is not between 0 and 1", o.Error)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Rates)) {
		if !slices.Contains(names[:], name) {
			return fmt.Errorf("sim: unknown reading %q (known are %s)", name, strings.Join(names[:], ", "))
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
	for i, name := range names {
		if reading(i) != format {
			rates[i] = o.Error
		}
		if rate, ok := o.Rates[name]; ok {
			rates[i] = rate
		}
	}
	return rates
}

// String is the canonical form of the options with the version, as in
// "error=0.05&error.judge=0.1&v=1". Rates that add nothing are left out.
func (o Options) String() string {
	parts := []string{"error=" + number(o.Error)}
	rates, plain := o.rates(), Options{Error: o.Error}.rates()
	for _, i := range []reading{build, extract, format, judge, rank, read} { // sorted by name
		if rates[i] != plain[i] {
			parts = append(parts, "error."+names[i]+"="+number(rates[i]))
		}
	}
	return strings.Join(append(parts, "v="+version), "&")
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
