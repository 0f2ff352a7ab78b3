package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"noema/cache"
	"noema/kernel/model/provider"
	"noema/methods"
)

// ask calls the provider until it answers or fails for good.
func (g *Gateway) ask(ctx context.Context, key cache.Key, r methods.Request) (cache.CompletionRecord, error) {
	g.gate.begin()
	defer g.gate.end()
	var rec cache.CompletionRecord
	err := g.opts.Retry.run(ctx, key, func(ctx context.Context) (verdict, error) {
		for {
			v, err := g.attempt(ctx, key, r, &rec)
			if !v.again {
				return v, err
			}
			g.count(func(s *Stats) { s.Failed++ })
		}
	}, func(a cache.Attempt) {
		rec.Attempts = append(rec.Attempts, a)
		g.count(func(s *Stats) { s.Failed++ })
	})
	if err != nil {
		return rec, g.providerError(ctx, err, len(rec.Attempts))
	}
	g.answered()
	return rec, nil
}

// canKeep makes sure that an answer could be stored: what cannot be kept is not asked for. Answers
// that are on their way then have the store's reserve.
func (g *Gateway) canKeep(ctx context.Context) error {
	if err := g.Fatal(); err != nil {
		return err
	}
	if g.opts.Mode == Off || g.opts.Store == nil {
		return nil
	}
	return g.storeError(ctx, g.opts.Store.Refusal())
}

// attempt asks once, when the gate lets it, and fills rec with the answer. Its
// latency is the provider's own: the wait at the gate is in no record.
func (g *Gateway) attempt(ctx context.Context, key cache.Key, r methods.Request, rec *cache.CompletionRecord) (v verdict, err error) {
	p, err := g.gate.enter(ctx)
	if err != nil {
		return verdict{final: true}, err
	}
	if err := g.canKeep(ctx); err != nil {
		g.gate.leave(p, key, outcome{})
		return verdict{final: true}, err
	}
	var o outcome
	defer func() { // also when the provider panics
		v = g.gate.leave(p, key, o)
		if v.err != nil {
			err = v.err
			g.count(func(s *Stats) { s.Failed++ })
		}
	}()
	start := time.Now()
	var c methods.Completion
	if r, err = provider.Spoken(g.opts.Provider, r); err == nil {
		c, err = g.opts.Provider.Complete(ctx, r)
	}
	if miscount, ok := errors.AsType[*provider.Miscount](err); ok {
		rec.Attempts = append(rec.Attempts, cache.Attempt{Kind: cache.Miscounted, Message: miscount.Provider + " reports " + miscount.Counts})
		err = nil
	}
	if err == nil {
		err = provider.CheckUsage(g.id.Provider, c.Usage)
	}
	o = outcomeOf(ctx, err)
	if err != nil {
		return verdict{}, g.opts.Redactor.Error(err)
	}
	if c.Usage.Latency == 0 {
		c.Usage.Latency = time.Since(start)
	}
	c.Text = valid(c.Text)
	c = g.cleanCompletion(c)
	rec.Completion, rec.At = c, start
	return verdict{}, nil
}

// providerError gives a final failure its words, and stops the run when every
// further call would fail the same way: see [maxDenials].
func (g *Gateway) providerError(ctx context.Context, err error, attempts int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if attempts > 1 {
		err = fmt.Errorf("after %d attempts: %w", attempts, err)
	}
	err = fmt.Errorf("%w: %s: %w", methods.ErrProvider, g.id.Provider, err)
	switch {
	case errors.Is(err, errDown):
		g.abort(fmt.Errorf("%w: run the same command to go on when it is back", err))
	case isDenial(err):
		g.denied(err)
	}
	return err
}
