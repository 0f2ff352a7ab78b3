package lab

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"noema/kernel/base/display"
	"noema/kernel/show/report"
	"noema/methods"
)

// Ablation is a method against itself with one option changed at a time. Shown,
// it is what each option gains and costs.
type Ablation struct {
	*Comparison
	Method   string
	Variants []string // labels, along the options that were changed
	Result   *Result
}

// Variants lists the method with one option changed at a time. Over names the
// options: "retries" takes the option's opposite (of a yes-or-no option), all its
// other choices, or 0 (of a number), and "retries=5" that value. "shuffle" works
// for every method.
func (l *Lab) Variants(method string, over []string) ([]string, error) {
	return l.variants(method, over, nil)
}

// variants is Variants where shared options, as of an experiment, are set, too.
func (l *Lab) variants(method string, over []string, shared map[string]string) ([]string, error) {
	s, err := ParseSpec(method)
	if err != nil {
		return nil, Misused(err)
	}
	m, err := l.openMethod(l.o.Context(), s.Name, nil)
	if err != nil {
		return nil, err
	}
	if len(over) == 0 {
		return nil, Misused(fmt.Errorf("ablate %s: name the options to change with --over: the options are %s", method, strings.Join(optionNames(m.Description), ", ")))
	}
	now := sharedOptions(m.Description, m.Plugin.Method, shared, map[string]bool{})
	maps.Copy(now, s.Options)
	var out []string
	for _, text := range over {
		name, value, given := strings.Cut(text, "=")
		values := []string{value}
		if !given {
			if values, err = otherValues(m.Description, name, now[name]); err != nil {
				return nil, Misused(fmt.Errorf("ablate %s: %w", method, err))
			}
		} else if value == valueNow(m.Description, name, now[name]) {
			return nil, Misused(fmt.Errorf("ablate %s: option %q is %q already: name another value", method, name, value))
		}
		for _, v := range values {
			changed := Spec{Name: s.Name, Options: maps.Clone(s.Options)}
			changed.Options[name] = v
			label := changed.Label(s.Name)
			if slices.Contains(out, label) {
				return nil, Misused(fmt.Errorf("ablate %s: %s=%s is named twice", method, name, v))
			}
			out = append(out, label)
		}
	}
	return out, nil
}

// valueNow is what an option is: what it is set to, or its default.
func valueNow(d methods.Description, name, set string) string {
	if set != "" {
		return set
	}
	if name == shuffleOption {
		return "true"
	}
	for _, o := range d.Options {
		if o.Name == name {
			return o.Default
		}
	}
	return ""
}

// otherValues are what an option could be instead of what it is.
func otherValues(d methods.Description, name, now string) ([]string, error) {
	if name == shuffleOption {
		return []string{strconv.FormatBool(now == "false")}, nil
	}
	i := slices.IndexFunc(d.Options, func(o methods.Option) bool { return o.Name == name })
	if i < 0 {
		return nil, methods.UnknownOption(name, optionNames(d))
	}
	o := d.Options[i]
	now = valueNow(d, name, now)
	switch {
	case len(o.Choices) > 0:
		return slices.DeleteFunc(slices.Clone(o.Choices), func(c string) bool { return c == now }), nil
	case o.Type == methods.BoolOption:
		on, _ := strconv.ParseBool(now) // a default that is not a bool counts as false
		return []string{strconv.FormatBool(!on)}, nil
	case (o.Type == methods.IntOption || o.Type == methods.NumberOption) && now != "0":
		return []string{"0"}, nil
	}
	return nil, fmt.Errorf("option %q needs a value here, as in %s=VALUE", name, name)
}

// Ablate runs e, whose one method is the full one, with its variants, and compares
// each variant with the full method.
func (l *Lab) Ablate(e Experiment, over []string, o Comparing) (*Ablation, error) {
	a, err := l.ablation(&e, over)
	if err != nil {
		return nil, err
	}
	if a.Result, err = l.Run(e); err != nil {
		return nil, err
	}
	o.Baseline = a.Method
	a.Comparison, err = a.Result.Compare(o)
	return a, err
}

// ablation names the variants and puts them into e.
func (l *Lab) ablation(e *Experiment, over []string) (*Ablation, error) {
	if len(e.Methods) != 1 {
		return nil, Misused(fmt.Errorf("ablate: name one method, not %d", len(e.Methods)))
	}
	s, err := ParseSpec(e.Methods[0])
	if err != nil {
		return nil, Misused(err)
	}
	a := &Ablation{Method: s.Label(s.Name)}
	e.Baseline = a.Method
	if a.Variants, err = l.variants(e.Methods[0], over, e.MethodOptions); err != nil {
		return nil, err
	}
	e.Methods = append([]string{a.Method}, a.Variants...)
	return a, nil
}

// Display implements [Displayer].
func (a *Ablation) Display() Bundle {
	return display.Stack(report.AblationTable(a.Comparison.Comparison), a.Comparison)
}

// AblationOf is the experiment that Ablate would run, for its estimate.
func (l *Lab) AblationOf(e Experiment, over []string) (Experiment, error) {
	_, err := l.ablation(&e, over)
	return e, err
}
