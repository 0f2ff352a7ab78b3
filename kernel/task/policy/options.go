package policy

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/task/policy/words"
	"noema/methods"
)

// All stands for all policies.
const All = "all"

// Options choose a generated task. The zero value is the default task.
type Options struct {
	Policy      string // one of words.Names, or All; empty means All
	Restaurants int    // of each policy, 1..500; 0 means 20
	K           int    // reviews of each restaurant: 25, 50, 100 or 200; 0 means 25
	Seed        uint64 // of the restaurants and the reviews
}

const (
	defaultRestaurants = 20
	maxRestaurants     = 500
	defaultK           = 25
)

// sizes are the numbers of reviews that the public benchmark has, too.
func sizes() []string { return []string{"25", "50", "100", "200"} }

// OptionsDoc describes what ParseOptions takes.
func OptionsDoc() []methods.Option {
	return []methods.Option{
		{Name: "policy", Type: methods.StringOption, Default: All, Choices: append(words.Names(), All), Doc: "which policy to apply"},
		{Name: "restaurants", Type: methods.IntOption, Default: strconv.Itoa(defaultRestaurants), Doc: "restaurants for each policy, 1 to 500"},
		{Name: "k", Type: methods.IntOption, Default: strconv.Itoa(defaultK), Choices: sizes(), Doc: "reviews of each restaurant"},
		{Name: "seed", Type: methods.IntOption, Default: "0", Doc: "seed of the restaurants and the reviews"},
	}
}

// ParseOptions reads options as a user types them. What is not given has its
// default.
func ParseOptions(given map[string]string) (Options, error) {
	o := Options{Policy: given["policy"]}
	if err := known(given, OptionsDoc()); err != nil {
		return o, err
	}
	for name, to := range map[string]*int{"restaurants": &o.Restaurants, "k": &o.K} {
		if text, ok := given[name]; ok {
			v, err := whole(name, text)
			if err != nil {
				return o, err
			}
			if v == 0 { // it would be taken for the default
				return o, fmt.Errorf("parse task options: %s is 0", name)
			}
			*to = v
		}
	}
	if text, ok := given["seed"]; ok {
		var err error
		if o.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return o, fmt.Errorf("parse task options: seed is %q, not a whole number from 0", text)
		}
	}
	return o.withDefaults()
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("k=%d&policy=%s&restaurants=%d&seed=%d", o.K, o.Policy, o.Restaurants, o.Seed)
}

func (o Options) withDefaults() (Options, error) {
	if o.Policy == "" {
		o.Policy = All
	}
	if o.Restaurants == 0 {
		o.Restaurants = defaultRestaurants
	}
	if o.K == 0 {
		o.K = defaultK
	}
	if o.Policy != All && !slices.Contains(words.Names(), o.Policy) {
		return o, fmt.Errorf("parse task options: policy is %q; there are %s and %s", o.Policy, strings.Join(words.Names(), ", "), All)
	}
	if o.Restaurants < 1 || o.Restaurants > maxRestaurants {
		return o, fmt.Errorf("parse task options: restaurants is %d, not within 1..%d", o.Restaurants, maxRestaurants)
	}
	if !slices.Contains(sizes(), strconv.Itoa(o.K)) {
		return o, fmt.Errorf("parse task options: k is %d, not one of %s", o.K, strings.Join(sizes(), ", "))
	}
	return o, nil
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

func whole(name, text string) (int, error) {
	v, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("parse task options: %s is %q, not a whole number", name, text)
	}
	return v, nil
}
