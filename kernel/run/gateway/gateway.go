// Package gateway is the only road from a method to a model or a tool. Every
// call gets its key, is answered from the store where possible, is made once
// when several ask for the same at once, is charged to the trial's limits at its
// recorded cost, and is written into the trial's transcript under its call path.
//
// Because a hit is charged like the call that it repeats, a warm run meets
// every limit at the same call as the cold one. Calls that really reached a
// provider are counted apart, in [Stats].
package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"noema/cache"
	"noema/kernel/base/redact"
	"noema/kernel/model/provider"
	"noema/kernel/result/record"
	"noema/methods"
	"noema/methods/reply"
)

// Mode says how the store is used.
type Mode string

// The modes.
const (
	Auto    Mode = "auto"    // from the store, or from the provider and then stored
	Replay  Mode = "replay"  // from the store; what is not there is an error
	Refresh Mode = "refresh" // from the provider, once per key; the old version is kept, and so are method seeds
	Verify  Mode = "verify"  // from the store, and asked again where temperature is 0; see Gateway.Drifts
	Off     Mode = "off"     // from the provider, nothing read or stored
)

// ParseMode reads a mode's name.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case Auto, Replay, Refresh, Verify, Off:
		return m, nil
	}
	return "", fmt.Errorf("parse cache mode: unknown mode %q: use auto, replay, refresh, verify or off", s)
}

// Options configure a Gateway.
type Options struct {
	Store          *cache.Store
	Provider       provider.Provider
	Mode           Mode          // default Auto
	MaxConnections int           // most provider calls at once; 0 takes the provider's own, or 64; see the package
	Begin          int           // calls at once to begin with, where a user named a number; 0 begins slowly
	Retry          Retry         // zero fields take defaults
	RunLimits      record.Limits // of all trials together; reaching one stops the run
	Spent          methods.Usage // charged to RunLimits before this execution, by the run that it resumes
	Purse          *Gateway      // of the same run: pays for the calls of this one, so that both meet one limit; may be nil
	Seeds          []record.Seed // the method seeds in Spent, which are not charged again
	Since          time.Time     // when the run began: Refresh asks again for what is older; zero means now
	RunSeed        uint64
	DownAfter      int              // failures in a row by which a provider is down; default 5
	Patience       time.Duration    // longest pause for a provider that is down; default 30 min
	Redactor       *redact.Redactor // takes the user's keys out of what is asked, answered and emitted; may be nil
	Verbatim       bool             // methods get thoughts beside what was said: in runs of the first rules of reading
	Thoughts       string           // the marks of the model's thoughts; empty for those of the provider
	Warn           func(string)     // told what a user should know, such as a damaged record; may be nil
}

// Stats counts where answers came from, in this execution.
type Stats struct {
	Provider int // answered by the provider
	Tools    int // tools that ran
	Cached   int // answered by the store
	Failed   int // attempts that failed
	Corrupt  int // damaged records found

	Limit  int           // provider calls that may be under way at once now
	Pauses int           // times that the provider was down
	Paused time.Duration // how long that was in all, up to now
}

// Drift is a recorded answer that the provider no longer gives.
type Drift struct {
	Path, Key     string
	Recorded, Now string
}

// Gateway serves all trials of one execution of a run. It is safe for
// concurrent use.
type Gateway struct {
	opts    Options
	id      methods.ModelID
	marks   []reply.Marks // of thoughts, beside the known ones
	gate    gate
	running sync.WaitGroup // the flights of both kinds
	flights flights[cache.CompletionRecord]
	tools   flights[cache.ToolRecord]
	seeds   seedLocks

	mu      sync.Mutex
	stats   Stats
	spent   methods.Usage
	done    map[cache.Key]bool // keys asked again in this execution, in Refresh and Verify
	bad     map[cache.Key]bool // keys whose damaged record was reported
	drifts  []Drift
	built   map[string]record.Seed         // by key
	paid    map[string]bool                // keys of seeds that were built here, call by call
	kept    map[cache.Key]cache.SeedRecord // in mode Off, instead of the store
	fatal   error
	denials denials
}

// defaultConnections is the most calls at once if neither the user nor the
// provider sets it. A server that queues calls refuses none, so that no refusal
// would end the search for a higher limit.
const defaultConnections = 64

// New returns a Gateway.
func New(opts Options) (*Gateway, error) {
	opts.Mode = cmp.Or(opts.Mode, Auto)
	if _, err := ParseMode(string(opts.Mode)); err != nil {
		return nil, err
	}
	info := opts.Provider.Info()
	opts.MaxConnections = cmp.Or(max(opts.MaxConnections, 0), info.MaxConnections, defaultConnections)
	opts.DownAfter = cmp.Or(opts.DownAfter, 5)
	opts.Patience = cmp.Or(opts.Patience, 30*time.Minute)
	opts.Retry = opts.Retry.withDefaults()
	if opts.Warn == nil {
		opts.Warn = func(string) {}
	}
	if opts.Since.IsZero() {
		opts.Since = time.Now()
	}
	g := &Gateway{
		opts: opts, id: info.ID, spent: opts.Spent,
		done: map[cache.Key]bool{}, bad: map[cache.Key]bool{},
		built: map[string]record.Seed{}, paid: map[string]bool{}, kept: map[cache.Key]cache.SeedRecord{},
	}
	if own, ok := reply.ParseMarks(cmp.Or(opts.Thoughts, info.Thoughts)); ok {
		g.marks = []reply.Marks{own}
	}
	g.gate.retry, g.gate.warn = opts.Retry, opts.Warn
	g.gate.limit = newLimiter(opts.MaxConnections, opts.Begin)
	g.gate.breaker = breaker{after: opts.DownAfter, patience: opts.Patience}
	g.flights.running, g.tools.running = &g.running, &g.running
	g.flights.abandoned = func(rec cache.CompletionRecord) { g.charge(rec.Completion.Usage) }
	for _, s := range opts.Seeds {
		g.built[s.Key] = s
	}
	return g, nil
}

// Wait returns when no call is in flight, or after d. Abandoned calls end soon,
// and an answer that one of them has received by then is stored. No trial may be
// running.
func (g *Gateway) Wait(d time.Duration) {
	done := make(chan struct{})
	go func() {
		g.running.Wait()
		close(done)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// Stats returns the counts so far.
func (g *Gateway) Stats() Stats {
	g.mu.Lock()
	s := g.stats
	g.mu.Unlock()
	g.gate.mu.Lock()
	defer g.gate.mu.Unlock()
	s.Limit, s.Pauses, s.Paused = g.gate.limit.now(), g.gate.breaker.pauses, g.gate.breaker.paused(time.Now())
	return s
}

// Drifts returns what Verify found to differ.
func (g *Gateway) Drifts() []Drift {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]Drift(nil), g.drifts...)
}

// Fatal returns the error that makes all further calls useless, such as a
// denied key or a reached limit of the run, or nil.
func (g *Gateway) Fatal() error {
	g.mu.Lock()
	err := g.fatal
	g.mu.Unlock()
	if err == nil && g.opts.Purse != nil {
		return g.opts.Purse.Fatal()
	}
	return err
}

// Seeds returns the method seeds that trials have used so far.
func (g *Gateway) Seeds() []record.Seed {
	g.mu.Lock()
	defer g.mu.Unlock()
	seeds := make([]record.Seed, 0, len(g.built))
	for _, s := range g.built {
		seeds = append(seeds, s)
	}
	return seeds
}

func (g *Gateway) count(add func(*Stats)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	add(&g.stats)
}

// abort stops the run for a failure that every further call would share.
func (g *Gateway) abort(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fatal = cmp.Or(g.fatal, err)
}

// stale reports whether a record received at that time must be asked for
// again: in Refresh, what was there before the run began.
func (g *Gateway) stale(key cache.Key, at time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opts.Mode == Refresh && !g.done[key] && at.Before(g.opts.Since)
}

// first reports whether key is not yet in set, and puts it there.
func (g *Gateway) first(set map[cache.Key]bool, key cache.Key) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	known := set[key]
	set[key] = true
	return !known
}

// storeError passes on what the store reports, and stops the run: no further
// answer could be kept.
func (g *Gateway) storeError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("store: %w", err)
	g.abort(err)
	return err
}

// lookup reads a record. A damaged one is reported and then as good as
// missing, except in a replay, which must not pass it over.
func lookup[R any](ctx context.Context, g *Gateway, key cache.Key, get func(context.Context, cache.Key) (R, error)) (R, bool, error) {
	var none R
	r, err := get(ctx, key)
	switch {
	case err == nil:
		return r, true, nil
	case errors.Is(err, cache.ErrNotFound):
		return none, false, nil
	case errors.Is(err, cache.ErrCorrupt):
		fresh := g.first(g.bad, key)
		if fresh {
			g.count(func(s *Stats) { s.Corrupt++ })
		}
		if g.opts.Mode == Replay {
			return none, false, fmt.Errorf("%w: %w", methods.ErrMiss, err)
		}
		if fresh {
			g.opts.Warn(fmt.Sprintf("%v: asking again", err))
		}
		return none, false, nil
	}
	return none, false, g.storeError(ctx, err)
}

// completion answers a request for key, from the store or the provider. The
// second result says whether a provider was asked by this very call.
func (g *Gateway) completion(ctx context.Context, key cache.Key, epoch int, r methods.Request) (cache.CompletionRecord, bool, error) {
	mode := g.opts.Mode
	if mode == Off {
		rec, err := g.ask(ctx, key, r)
		return rec, err == nil, err
	}
	if mode != Refresh {
		rec, found, err := lookup(ctx, g, key, g.opts.Store.Completion)
		if err != nil {
			return rec, false, err
		}
		if found {
			if mode == Verify && r.Sampling.Temperature == 0 && g.first(g.done, key) {
				return rec, true, g.verify(ctx, key, r, rec)
			}
			g.count(func(s *Stats) { s.Cached++ })
			return rec, false, nil
		}
		if mode == Replay {
			return rec, false, methods.ErrMiss
		}
	}
	return g.fetch(ctx, key, epoch, r)
}

// given is the record of a reply that nobody is asked for. It is stored under the
// name of who gives it, so that it can be read like any other.
func (g *Gateway) given(ctx context.Context, key cache.Key, epoch int, r methods.Request, s Substitute) (cache.CompletionRecord, error) {
	g.count(func(s *Stats) { s.Cached++ })
	rec := cache.CompletionRecord{Completion: *s.Reply, At: time.Now(), Epoch: epoch, Draw: r.Draw}
	if s.By == (methods.ModelID{}) || g.opts.Mode == Replay || g.opts.Mode == Off {
		return rec, nil
	}
	rec, err := g.opts.Store.AddCompletion(context.WithoutCancel(ctx), key, r, s.By, rec)
	return rec, g.storeError(ctx, err)
}

// fetch asks the provider for what the store lacks. Of many that ask for one
// key at once, one makes the call and all get its answer.
func (g *Gateway) fetch(ctx context.Context, key cache.Key, epoch int, r methods.Request) (cache.CompletionRecord, bool, error) {
	called := false
	rec, err := g.flights.do(ctx, key, func(ctx context.Context) (cache.CompletionRecord, error) {
		old, found, err := lookup(ctx, g, key, g.opts.Store.Completion)
		if err != nil {
			return old, err
		}
		if found && !g.stale(key, old.At) {
			return old, nil
		}
		rec, err := g.ask(ctx, key, r)
		if err != nil {
			return rec, err
		}
		called = true
		ctx = context.WithoutCancel(ctx) // it is paid for: keep it whoever has left
		g.first(g.done, key)
		rec.Epoch, rec.Draw = epoch, r.Draw
		if found {
			return rec, g.storeError(ctx, g.opts.Store.ReplaceCompletion(ctx, key, r, g.id, rec))
		}
		// Another process may have stored an answer meanwhile: then that one
		// counts for everybody.
		rec, err = g.opts.Store.AddCompletion(ctx, key, r, g.id, rec)
		return rec, g.storeError(ctx, err)
	})
	if err != nil {
		return rec, false, err // the work may still be under way: called is not ours to read
	}
	if !called {
		g.count(func(s *Stats) { s.Cached++ })
	}
	return rec, called, nil
}

// verify asks again for a recorded answer and keeps the difference, if any.
func (g *Gateway) verify(ctx context.Context, key cache.Key, r methods.Request, recorded cache.CompletionRecord) error {
	now, err := g.ask(ctx, key, r)
	if err != nil {
		return err
	}
	if record.ResponseDigest(now.Completion) != record.ResponseDigest(recorded.Completion) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.drifts = append(g.drifts, Drift{Path: r.Path, Key: key.String(), Recorded: recorded.Completion.Text, Now: now.Completion.Text})
	}
	return nil
}
