package arithmetic

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
	N     int    // problems, 1..10000; 0 means 100
	Level int    // 1..5; 0 means all five in turn
	Seed  uint64 // of the problems
}

const (
	defaultN = 100
	maxN     = 10_000
	levels   = 5
)

// OptionsDoc describes what ParseOptions takes.
func OptionsDoc() []methods.Option {
	return []methods.Option{
		{Name: "n", Type: methods.IntOption, Default: strconv.Itoa(defaultN), Doc: "how many problems, 1 to 10000, spread evenly over the levels"},
		{Name: "level", Type: methods.IntOption, Default: "0", Choices: []string{"0", "1", "2", "3", "4", "5"}, Doc: "how hard: 1 to 5, or 0 for all levels"},
		{Name: "seed", Type: methods.IntOption, Default: "0", Doc: "seed of the problems"},
	}
}

// ParseOptions reads options as a user types them. What is not given has its
// default.
func ParseOptions(given map[string]string) (Options, error) {
	var o Options
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var err error
		switch text := given[name]; name {
		case "n":
			o.N, err = whole(name, text, 1, maxN)
		case "level":
			o.Level, err = whole(name, text, 0, levels)
		case "seed":
			if o.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
				err = fmt.Errorf("parse task options: seed is %q, not a whole number from 0", text)
			}
		default:
			err = fmt.Errorf("parse task options: unknown option %q; there are n, level, seed", name)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// String is the options in the form of Task.Config.
func (o Options) String() string {
	return fmt.Sprintf("level=%d&n=%d&seed=%d", o.Level, o.N, o.Seed)
}

func (o Options) withDefaults() (Options, error) {
	if o.N == 0 {
		o.N = defaultN
	}
	if o.N < 1 || o.N > maxN {
		return o, fmt.Errorf("generate arithmetic: n is %d, not within 1..%d", o.N, maxN)
	}
	if o.Level < 0 || o.Level > levels {
		return o, fmt.Errorf("generate arithmetic: level is %d, not within 0..%d", o.Level, levels)
	}
	return o, nil
}

func whole(name, text string, low, high int) (int, error) {
	v, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || v < low || v > high {
		return 0, fmt.Errorf("parse task options: %s is %q, not a whole number within %d..%d", name, text, low, high)
	}
	return v, nil
}
