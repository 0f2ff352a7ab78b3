package runner

import (
	"context"
	"fmt"
	"slices"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/model/provider/none"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/kernel/task"
	"noema/methods"
)

// Estimate says what a run will ask a provider for, as far as that can be known
// beforehand.
type Estimate struct {
	Methods []MethodEstimate `json:"methods"`
	// AtMost says that the run may stop earlier, by the rule that it declares.
	AtMost bool `json:"at_most,omitempty"`
	// Refusal is why the run could not begin, though the store could be asked:
	// a key that is missing, for example.
	Refusal string `json:"refusal,omitempty"`
}

// Missing reports whether a trial needs the provider.
func (e *Estimate) Missing() bool {
	return slices.ContainsFunc(e.Methods, func(m MethodEstimate) bool { return m.Free < m.Trials })
}

// MethodEstimate is one method of an [Estimate]. Estimates are nil where there is
// nothing to estimate from.
type MethodEstimate struct {
	Method string `json:"method"`
	Trials int    `json:"trials"`
	Free   int    `json:"free"` // trials that the store answers whole
	Hits   int    `json:"hits"` // calls that the store answers, those of other trials up to their first miss included
	// Basis counts the trials behind the estimate, and From tells where they
	// are from: "these trials" or the id of an earlier run.
	Basis  int      `json:"basis"`
	From   string   `json:"from,omitempty"`
	Calls  *float64 `json:"calls"`  // new model calls
	Tokens *float64 `json:"tokens"` // of the new calls
	Cost   *float64 `json:"cost_usd"`
}

// DryRun carries s out with the store alone and keeps nothing of it: it counts
// the trials that need no provider, and estimates the calls of the others from
// trials of the same method that are whole, here or in earlier runs over the
// same task. A trial's calls after its first miss cannot be foreseen, only
// estimated.
func (s Setup) DryRun(ctx context.Context, store *cache.Store, observe Observer) (*Estimate, error) {
	config, samples, err := s.resolve()
	if err != nil {
		return nil, err
	}
	found, _, err := s.dryRun(ctx, declared{}, store, observe, config, samples)
	return found, err
}

// dryRun also returns the trials, in canonical order.
func (s Setup) dryRun(ctx context.Context, from origin, store *cache.Store, observe Observer, config record.Config, samples []task.Sample) (*Estimate, []*record.Trial, error) {
	config.Limits = record.Limits{}
	info := s.Provider.Info()
	s.Provider = none.New(provider.Info{ID: info.ID, Simulated: info.Simulated, Price: info.Price})
	s.Graders = recordedGraders(config.Graders)
	x := newExecution(s, from, store, observe, samples)
	x.run = &record.Run{Config: config}
	from.begin(x.run)
	if was := from.asItIs(x.run); was != x.run {
		x.follow(was)
	}
	if err := x.openGateways(gateway.Options{Store: store, Provider: s.Provider, Mode: gateway.Replay, RunSeed: config.Seed, Redactor: s.Redactor}); err != nil {
		return nil, nil, err
	}
	observe.Start(x.run, 0, config.Size())
	x.keep = func(_ context.Context, t *record.Trial) (*record.Trial, error) { return t, nil }
	if err := x.runAll(ctx); err != nil {
		return nil, nil, err
	}
	e := &Estimate{AtMost: config.Design != nil}
	for _, m := range config.Methods {
		one, err := x.estimate(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		e.Methods = append(e.Methods, one)
	}
	var trials []*record.Trial
	for _, id := range config.Trials() {
		trials = append(trials, x.trials[id])
	}
	return e, trials, nil
}

func (x *execution) estimate(ctx context.Context, m record.Method) (MethodEstimate, error) {
	e := MethodEstimate{Method: m.Label}
	var whole []*record.Trial
	unbuilt := map[string]bool{} // method seeds that the store does not have
	for _, id := range x.run.Config.Trials() {
		if id.Method != m.Label {
			continue
		}
		t := x.trials[id]
		e.Trials++
		missed := false
		for _, c := range slices.Concat(t.Calls, t.Grading) {
			if c.Fault == record.MissFault {
				missed = true
				if c.Kind == record.SeedCall {
					unbuilt[c.Key] = true
				}
			} else if c.Kind == record.CompletionCall {
				e.Hits++
			}
		}
		if !missed {
			e.Free++
			whole = append(whole, t)
		}
	}
	e.From = "these trials"
	if v := m.Intervention; v != nil && len(whole) == 0 {
		for t, err := range Trials(ctx, x.store, x.origin.asItIs(x.run)) {
			if err != nil {
				return e, err
			}
			if t.ID.Method == v.Of && !t.Infra {
				whole = append(whole, t)
			}
		}
	}
	if len(whole) == 0 && e.Free < e.Trials {
		var err error
		if whole, e.From, err = x.earlier(ctx, m, true); err == nil && len(whole) == 0 {
			whole, e.From, err = x.earlier(ctx, m, false)
		}
		if err != nil {
			return e, err
		}
	}
	e.fill(whole)
	e.addGrading(whole, x.verdicts())
	return e, x.addSeeds(ctx, &e, len(unbuilt), whole)
}

// addGrading adds the calls that grading a trial takes where the trials behind the
// estimate were not graded. What these calls cost is then unknown.
func (e *MethodEstimate) addGrading(whole []*record.Trial, calls int) {
	graded := slices.ContainsFunc(whole, func(t *record.Trial) bool { return len(t.Grading) > 0 })
	if missing := e.Trials - e.Free; e.Calls != nil && calls > 0 && !graded && missing > 0 {
		*e.Calls += float64(missing * calls)
		e.Tokens, e.Cost = nil, nil
	}
}

// addSeeds adds what method seeds that must be built will take, as much each as
// the seeds of the whole trials took.
func (x *execution) addSeeds(ctx context.Context, e *MethodEstimate, unbuilt int, whole []*record.Trial) error {
	if unbuilt == 0 || e.Calls == nil {
		return nil
	}
	var u methods.Usage
	known := map[string]bool{}
	for _, t := range whole {
		for _, c := range t.Calls {
			if c.Kind != record.SeedCall || c.Fault != "" || known[c.Key] {
				continue
			}
			key, err := cache.ParseKey(c.Key)
			if err != nil {
				return fmt.Errorf("estimate the seeds of method %q: %w", e.Method, err)
			}
			if rec, err := x.store.Seed(ctx, key); err == nil { // one that is damaged tells nothing
				known[c.Key] = true
				u = u.Plus(rec.Usage)
			}
		}
	}
	if len(known) == 0 {
		e.Calls, e.Tokens, e.Cost = nil, nil, nil
		return nil
	}
	more := float64(unbuilt) / float64(len(known))
	*e.Calls += more * float64(u.Calls)
	if e.Tokens != nil {
		*e.Tokens += more * float64(u.Tokens())
	}
	if e.Cost != nil {
		*e.Cost += more * u.Cost.USD()
	}
	return nil
}

// fill computes the estimate from whole trials.
func (e *MethodEstimate) fill(whole []*record.Trial) {
	if e.Basis = len(whole); e.Basis == 0 {
		e.From = ""
		if e.Free < e.Trials {
			return
		}
	}
	var u methods.Usage
	for _, t := range whole {
		u = u.Plus(t.Usage).Plus(t.Facts().Grading)
	}
	n := float64(max(e.Basis, 1))
	missing := float64(e.Trials - e.Free)
	share := 1.0 // of the missing trials' calls that are new
	if u.Calls > 0 && missing > 0 {
		known := float64(e.Hits) - float64(e.Free)*float64(u.Calls)/n // hits within trials that miss
		if e.From != "these trials" {
			known = float64(e.Hits)
		}
		share = max(0, 1-max(0, known)/(missing*float64(u.Calls)/n))
	}
	calls, tokens := missing*float64(u.Calls)/n*share, missing*float64(u.Tokens())/n*share
	e.Calls, e.Tokens = &calls, &tokens
	if u.Unmetered > 0 {
		e.Tokens = nil
	}
	if u.Unpriced == 0 {
		cost := missing * u.Cost.USD() / n * share
		e.Cost = &cost
	}
}

// earlier finds trials of the method over the same kind of task, on the same model or on any
// other, in the newest earlier run that has any. Those of another model have its tokens at
// this model's price.
func (x *execution) earlier(ctx context.Context, m record.Method, sameModel bool) ([]*record.Trial, string, error) {
	runs, err := Runs(ctx, x.store)
	if err != nil {
		return nil, "", err
	}
	for _, r := range runs {
		if r.Config.Task.Name != x.run.Config.Task.Name || (r.Config.Model.ID == x.run.Config.Model.ID) != sameModel {
			continue
		}
		same := map[string]bool{}
		for _, have := range r.Config.Methods {
			if have.Name == m.Name && have.Intervention == nil && string(have.Options) == string(m.Options) {
				same[have.Label] = true
			}
		}
		if len(same) == 0 {
			continue
		}
		var trials []*record.Trial
		for t, err := range Trials(ctx, x.store, r) {
			if err != nil {
				return nil, "", err
			}
			if !t.Infra && same[t.ID.Method] {
				trials = append(trials, t)
			}
		}
		if len(trials) > 0 && sameModel {
			return trials, r.ID, nil
		}
		if len(trials) > 0 {
			return x.repriced(trials), fmt.Sprintf("%s on %s, at this model's price", r.ID, r.Config.Model.ID), nil
		}
	}
	return nil, "", nil
}

// repriced are trials of another model at the price of this one.
func (x *execution) repriced(trials []*record.Trial) (all []*record.Trial) {
	for _, t := range trials {
		one := *t
		cost, known := x.exp.Provider.Info().Price.Cost(t.Usage)
		if one.Usage.Cost, one.Usage.Unpriced = cost, t.Usage.Unmetered; !known {
			one.Usage.Unpriced = max(1, one.Usage.Calls)
		}
		all = append(all, &one)
	}
	return all
}

// Labels lists the methods of a run in its order.
func Labels(run *record.Run) []string { return run.Labels() }
