package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/kernel/run/gateway"
	"noema/methods"
)

// Again carries a finished run out again with e's methods, which may be varied by
// interventions. All else, such as samples, seeds and limits, is the run's, so that
// what does not depend on an intervention comes from the store.
func (e Setup) Again(ctx context.Context, store *cache.Store, observe Observer, of *Result) (*Result, error) {
	e, config, err := e.again(of)
	if err != nil {
		return nil, err
	}
	return newExecution(e, derived{of.Run, of.Run.Replaced}, store, observe, e.Task.Samples).carryOut(ctx, config)
}

// EstimateAgain says what Again would ask for, and returns the trials as far as the
// store answers them.
func (e Setup) EstimateAgain(ctx context.Context, store *cache.Store, observe Observer, of *Result) (*Estimate, []*record.Trial, error) {
	e, config, err := e.again(of)
	if err != nil {
		return nil, nil, err
	}
	return e.dryRun(ctx, derived{of.Run, of.Run.Replaced}, store, observe, config, e.Task.Samples)
}

// again is the configuration of the run with other methods.
func (e Setup) again(of *Result) (Setup, record.Config, error) {
	config := of.Run.Config
	if of.Run.Status != record.Finished {
		return e, config, fmt.Errorf("run %q is not finished: run its command again to finish it", of.Run.ID)
	}
	var err error
	if e.Experiment, err = e.Complete(); err != nil {
		return e, config, err
	}
	config.Methods, config.Design = nil, nil
	asked := 0 // where a design ended the run: samples of the methods at hand
	for _, m := range e.Methods {
		config.Methods = append(config.Methods, e.identity(m))
		for i, was := range of.Run.Config.Methods {
			if of.Run.Asked != nil && (was.Label == m.Label || m.Intervention != nil && was.Label == m.Intervention.Of) {
				asked = max(asked, of.Run.Asked[i])
			}
		}
	}
	if asked > 0 {
		config.Task.Samples = config.Task.Samples[:asked]
	}
	return e, config, Misused(checkNames(config))
}

// resampled is how far the draws of [record.Resample] are from the method's own, so
// that no method comes to them by itself.
const resampled = 1_000_000

// instead answers the calls of a trial that are replaced by hand, in a fork, or by
// the intervention on its method. It is nil where there are none.
func (x *execution) instead(ctx context.Context, id record.TrialID, m Method) (func(context.Context, gateway.Asked) (gateway.Substitute, error), error) {
	asItIs := id
	if m.Intervention != nil {
		asItIs.Method = m.Intervention.Of
	}
	hand, err := x.replaced(ctx, asItIs)
	if err != nil || hand == nil && m.Intervention == nil {
		return nil, err
	}
	return func(ctx context.Context, a gateway.Asked) (gateway.Substitute, error) {
		if v := m.Intervention; v != nil && v.Covers(cmp.Or(a.Seed, a.Path)) {
			return x.substitute(ctx, asItIs, m, a)
		}
		if c, ok := hand[a.CallID]; ok && a.Seed == "" {
			return gateway.Substitute{Reply: &c}, nil
		}
		return gateway.Substitute{}, nil
	}, nil
}

// substitute is what an intervention makes of a call; id is of the trial without it. Where there is nothing to put
// in the place of the reply, the call stays as it is.
func (x *execution) substitute(ctx context.Context, id record.TrialID, m Method, a gateway.Asked) (gateway.Substitute, error) {
	by, reply := methods.ModelID{Provider: m.Intervention.Kind}, &methods.Completion{Finish: methods.FinishStop}
	switch m.Intervention.Kind {
	case record.Resample:
		return gateway.Substitute{Draws: resampled}, nil
	case record.Swap:
		key, c, err := x.donor(ctx, id, a.Path)
		if c == nil || err != nil || a.Seed != "" {
			return gateway.Substitute{}, err
		}
		by.Config, reply.Text, reply.ToolCalls, reply.Finish = "of="+key, c.Text, c.ToolCalls, c.Finish
	case record.Truth:
		c, err := Known(ctx, m.Truth, a.Request)
		if c == nil || err != nil {
			return gateway.Substitute{}, err
		}
		by.Config, reply.Text, reply.ToolCalls, reply.Finish = "by="+m.Truth.Info().ID.String(), c.Text, c.ToolCalls, c.Finish
	}
	reply.Usage = methods.Usage{Calls: 1} // nobody is asked
	return gateway.Substitute{Reply: reply, By: by}, nil
}

// Known is the right reply to a request, as far as truth, a model that knows the
// task, understands it; nil if it does not.
func Known(ctx context.Context, truth provider.Provider, r methods.Request) (*methods.Completion, error) {
	if truth == nil {
		return nil, nil
	}
	r.Sampling.Logprobs = 0 // it has none to give
	c, err := truth.Complete(ctx, r)
	if err != nil || c.Text == provider.NotUnderstood {
		return nil, err
	}
	return &c, nil
}

// donor is the reply that the next other sample with an answered call at path got
// there, in the same epoch of the run as it is. It is nil if there is none.
func (x *execution) donor(ctx context.Context, id record.TrialID, path string) (string, *methods.Completion, error) {
	samples := x.run.Config.Task.Samples
	at := slices.Index(samples, id.Sample)
	for i := 1; i < len(samples); i++ {
		id.Sample = samples[(at+i)%len(samples)]
		c, err := x.baseCall(ctx, id, path)
		if err != nil {
			return "", nil, err
		}
		if c == nil {
			continue
		}
		key, err := cache.ParseKey(c.Key)
		if err != nil {
			return "", nil, err
		}
		rec, err := x.store.Completion(ctx, key)
		if err != nil {
			return "", nil, fmt.Errorf("swap the reply at %s: read that of sample %q: %w", path, id.Sample, err)
		}
		return c.Key, &rec.Completion, nil
	}
	return "", nil, nil
}

// baseCall is the answered model call at path of a trial as it was, or nil.
func (x *execution) baseCall(ctx context.Context, id record.TrialID, path string) (*record.Call, error) {
	t, err := Trial(ctx, x.store, x.origin.asItIs(x.run).ID, id)
	if t == nil || t.Infra {
		return nil, err
	}
	i := slices.IndexFunc(t.Calls, func(c record.Call) bool {
		return c.Path == path && c.Kind == record.CompletionCall && c.Fault == ""
	})
	if i < 0 {
		return nil, nil
	}
	return &t.Calls[i], nil
}

// limits are those of a trial. One under an intervention ends at four times the
// calls that it made without, and a few more: a method may ask for ever when it gets
// no reply of use.
func (x *execution) limits(ctx context.Context, id record.TrialID, m Method) (record.Limits, error) {
	l := x.run.Config.Limits
	if m.Intervention == nil {
		return l, nil
	}
	id.Method = m.Intervention.Of
	most := 16
	t, err := Trial(ctx, x.store, x.origin.asItIs(x.run).ID, id)
	if t != nil {
		most += 4 * len(t.Calls)
	}
	if l.Calls == 0 || most < l.Calls {
		l.Calls = most
	}
	return l, err
}

// variant sets apart the seeds that an intervention changes, which are those of the
// seed's path that it is on.
func variant(m Method) string {
	v := m.Intervention
	if phase, _, _ := strings.Cut(m.at(), "/"); v == nil || phase != "seed" {
		return ""
	}
	return string(methods.Must(json.Marshal(v))) // strings always encode
}

// at is the place of the method's intervention, if it has one.
func (m Method) at() string {
	if m.Intervention == nil {
		return ""
	}
	return m.Intervention.At
}

// seedsOf is the label of the method that the seeds that m uses are counted for.
func seedsOf(m Method) string {
	if m.Intervention == nil || variant(m) != "" {
		return m.Label
	}
	return m.Intervention.Of
}
