// Package none is the provider that refuses every call. A replay runs on it, so
// that a missing record is an error and never a call: this package has no client
// that could make one.
package none

import (
	"context"
	"fmt"

	"noema/kernel/model/provider"
	"noema/methods"
)

// Provider refuses every request. It carries the identity of the model that it
// replaces, because keys are made from it.
type Provider struct{ info provider.Info }

var _ provider.Provider = Provider{}

// New makes a provider that replaces the model of info.
func New(info provider.Info) Provider { return Provider{info} }

// Info describes the model that the provider replaces.
func (p Provider) Info() provider.Info { return p.info }

// Complete fails: with ctx's error if ctx ended, and else with a final
// [*provider.Error] that wraps [methods.ErrMiss].
func (p Provider) Complete(ctx context.Context, r methods.Request) (methods.Completion, error) {
	if err := ctx.Err(); err != nil {
		return methods.Completion{}, fmt.Errorf("none: %w", err)
	}
	return methods.Completion{}, &provider.Error{
		Kind: provider.Rejected,
		Err:  fmt.Errorf("call %q needs %s, but a replay calls no model: %w", r.Path, p.name(), methods.ErrMiss),
		Hint: "run the experiment without replay to record it",
	}
}

func (p Provider) name() string {
	if name := p.info.ID.String(); name != "" {
		return name
	}
	return "no model"
}
