package cafes

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/methods"
)

// Options choose a generated task. The zero value is the default task.
type Options struct {
	N        int    // items in each problem, 2..50; 0 means 10
	Requests int    // 1..500; 0 means 100
	Seed     uint64 // of the world and the requests
}

const (
	worldSize       = 50
	defaultN        = 10
	defaultRequests = 100
	maxRequests     = 500
)

// OptionsDoc describes what ParseOptions takes.
func OptionsDoc() []methods.Option {
	return []methods.Option{
		{Name: "n", Type: methods.IntOption, Default: strconv.Itoa(defaultN), Doc: "items in each problem, 2 to 50"},
		{Name: "requests", Type: methods.IntOption, Default: strconv.Itoa(defaultRequests), Doc: "how many requests, 1 to 500, spread evenly over the groups"},
		{Name: "seed", Type: methods.IntOption, Default: "0", Doc: "seed of the world and the requests"},
	}
}

// ParseOptions reads options as a user types them. What is not given has its
// default.
func ParseOptions(given map[string]string) (Options, error) {
	var o Options
	if err := known(given, OptionsDoc()); err != nil {
		return o, err
	}
	var err error
	if o.N, err = number(given, "n", defaultN, 2, worldSize); err != nil {
		return o, err
	}
	if o.Requests, err = number(given, "requests", defaultRequests, 1, maxRequests); err != nil {
		return o, err
	}
	o.Seed, err = seedOption(given)
	return o, err
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("n=%d&requests=%d&seed=%d", o.N, o.Requests, o.Seed)
}

func (o Options) withDefaults() (Options, error) {
	if o.N == 0 {
		o.N = defaultN
	}
	if o.Requests == 0 {
		o.Requests = defaultRequests
	}
	if err := within("n", o.N, 2, worldSize); err != nil {
		return o, err
	}
	return o, within("requests", o.Requests, 1, maxRequests)
}

// known reports option names that doc does not list.
func known(given map[string]string, doc []methods.Option) error {
	names := make([]string, len(doc))
	for i, d := range doc {
		names[i] = d.Name
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(names, name) {
			return fmt.Errorf("parse task options: unknown option %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

func number(given map[string]string, name string, def, low, high int) (int, error) {
	text, ok := given[name]
	if !ok {
		return def, nil
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("parse task options: %s is %q, not a whole number", name, text)
	}
	return v, within(name, v, low, high)
}

func within(name string, v, low, high int) error {
	if v < low || v > high {
		return fmt.Errorf("parse task options: %s is %d, not within %d..%d", name, v, low, high)
	}
	return nil
}

func seedOption(given map[string]string) (uint64, error) {
	text, ok := given["seed"]
	if !ok {
		return 0, nil
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse task options: seed is %q, not a whole number from 0", text)
	}
	return v, nil
}
