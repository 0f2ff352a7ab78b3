package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"noema/cache"
	"noema/kernel/base/display"
	"noema/kernel/model/provider"
	"noema/kernel/result/compare"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/run/runner"
	"noema/methods"
)

// maxVaried bounds the interventions of one experiment: each takes a trial for each
// one recorded, and all share one error rate.
const maxVaried = 100

// design is r carried out again with a method as it is and under each intervention.
func (r *Result) design(method string, o *Crediting, how Experiment) (s runner.Setup, notes []string, err error) {
	for _, f := range methods.FieldsOf(o) {
		f.ApplyDefault()
		if err := f.Check(); err != nil {
			return s, nil, Misused(fmt.Errorf("credit: %s: %w", f.Name, err))
		}
	}
	for _, kind := range o.With {
		if !slices.Contains(record.Interventions(), kind) {
			return s, nil, Misused(fmt.Errorf("credit: unknown intervention %q: use %s", kind, strings.Join(record.Interventions(), ", ")))
		}
	}
	if s, err = r.lab.again(r, o.Model, how.Cache == string(gateway.Replay)); err != nil {
		if o.Model == "" {
			err = fmt.Errorf("%w: --run-model names the model where the record does not say how to open it", err)
		}
		return s, nil, err
	}
	label, err := r.credited(method)
	if err != nil {
		return s, nil, err
	}
	d, err := compare.FromTrials([]string{label}, r.Samples(), r.Result.Trials, o.Metrics...)
	if err == nil && len(d.Metrics) == 0 {
		err = fmt.Errorf("credit: no trial of %q has a score: what its steps earn cannot be told", label)
	}
	if err != nil {
		return s, nil, Misused(err)
	}
	how.Name, how.Question, how.Seed = cmp.Or(how.Name, "credit of "+label+" in "+r.ID()), s.Question, s.Seed
	s.Experiment = how
	base := s.Methods[slices.IndexFunc(s.Methods, func(m runner.Method) bool { return m.Label == label })]
	s.Methods, s.Fresh = []runner.Method{base}, fleeting(base)
	truth, err := r.lab.truth()
	if err != nil {
		return s, nil, err
	}
	all, notes, err := r.interventions(label, o, truth)
	if err != nil {
		return s, nil, err
	}
	for _, v := range all {
		m := base
		m.Label, m.Intervention, m.Truth = label+" "+v.Kind+" "+cmp.Or(v.At, "(no path)"), &v, truth
		s.Methods = append(s.Methods, m)
	}
	return s, notes, nil
}

// credited is the label of the method of the run that a name stands for.
func (r *Result) credited(name string) (string, error) {
	var named []string
	for _, m := range r.Run.Config.Methods {
		switch {
		case m.Label == name:
			return name, nil
		case m.Name == name:
			named = append(named, m.Label)
		}
	}
	switch len(named) {
	case 0:
		return "", Misused(fmt.Errorf("credit: run %s has no method %q%s: its methods are %s", r.ID(), name, methods.DidYouMean(name, r.Run.Labels()), strings.Join(r.Run.Labels(), ", ")))
	case 1:
		return named[0], nil
	}
	return "", Misused(fmt.Errorf("credit: run %s has several methods %q: name one of %s", r.ID(), name, strings.Join(named, ", ")))
}

// interventions lists those that can change something, place by place.
func (r *Result) interventions(label string, o *Crediting, truth provider.Provider) (all []record.Intervention, notes []string, err error) {
	places, err := r.places(label, o)
	if err != nil {
		return nil, nil, err
	}
	store, err := r.lab.Store()
	if err != nil {
		return nil, nil, err
	}
	for _, at := range slices.SortedFunc(maps.Keys(places), record.ComparePaths) {
		for _, kind := range record.Interventions() {
			if !slices.Contains(o.With, kind) {
				continue
			}
			why := ""
			switch kind {
			case record.Truth:
				why, err = unknown(r.lab.o.Context(), store, truth, places[at])
			case record.Swap:
				why = places[at].unswappable(r)
			}
			if err != nil {
				return nil, nil, err
			}
			if why != "" {
				notes = append(notes, fmt.Sprintf("%s of %s is left out: %s", kind, at, why))
				continue
			}
			all = append(all, record.Intervention{Of: label, Kind: kind, At: at, By: o.By})
		}
	}
	switch {
	case len(all) == 0:
		err = Misused(errors.New("credit: nothing is left to do: " + strings.Join(notes, "; ")))
	case len(all) > maxVaried:
		err = Misused(fmt.Errorf("credit: %d interventions on %d places are more than %d: use --by phase, or name places by --at and interventions by --with", len(all), len(places), maxVaried))
	}
	return all, notes, err
}

// calls are the recorded calls of one place.
type calls []Call

// places groups the answered calls of a method.
func (r *Result) places(label string, o *Crediting) (map[string]calls, error) {
	all := map[string]calls{}
	for _, t := range r.Result.Trials {
		for _, c := range t.Calls {
			if t.ID.Method == label && c.Kind != record.ToolCall && c.Fault == "" {
				at := record.Place(o.By, c.Path)
				all[at] = append(all[at], Call{c, &Trial{t, r}})
			}
		}
	}
	if len(all) == 0 {
		return nil, Misused(fmt.Errorf("credit: method %q has no answered model call in run %s: there is no step to intervene on", label, r.ID()))
	}
	known := slices.SortedFunc(maps.Keys(all), record.ComparePaths)
	for _, at := range o.At {
		if all[at] == nil {
			return nil, Misused(fmt.Errorf("credit: the calls of %s have no %s %q%s: they have %s", label, o.By, at, methods.DidYouMean(at, known), display.Line(strings.Join(known, ", "), 300)))
		}
	}
	maps.DeleteFunc(all, func(at string, _ calls) bool { return len(o.At) > 0 && !slices.Contains(o.At, at) })
	return all, nil
}

// unknown says why no reply of a place has a truth; empty if one has, or may have.
func unknown(ctx context.Context, store *cache.Store, truth provider.Provider, at calls) (string, error) {
	for _, c := range at {
		if c.Kind == record.SeedCall { // which calls build it is in no transcript
			return "", nil
		}
		x, err := runner.ReadExchange(ctx, store, c.of.of.Run, c.of.ID, c.Call)
		if err != nil {
			return "", fmt.Errorf("read call %s of trial %s: %w", c.Path, c.of.ID, err)
		}
		if reply, err := runner.Known(ctx, truth, x.Request); reply != nil || err != nil {
			return "", err
		}
	}
	return "the task does not know the right replies", nil
}

// unswappable says why no reply of a place can be another sample's.
func (at calls) unswappable(r *Result) string {
	samples := map[string]map[string]bool{}
	for _, c := range at {
		if c.Kind == record.SeedCall {
			return "the calls that build a method seed are in no transcript"
		}
		if samples[c.Path] == nil {
			samples[c.Path] = map[string]bool{}
		}
		if samples[c.Path][c.of.ID.Sample] = true; len(samples[c.Path]) > 1 {
			return ""
		}
	}
	return "no other sample has a call at its paths"
}
