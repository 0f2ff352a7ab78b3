package gateway

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"noema/cache"
	"noema/kernel/result/record"
	"noema/methods"
)

// scope marks the context of a method seed's build. Calls made in it are
// seeded by the seed's key and add up to the seed's cost, so that neither
// depends on which trial happened to build.
type scope struct {
	seed uint64
	path string // of the seed

	mu    sync.Mutex
	usage methods.Usage
}

type scopeKey struct{}

func scopeOf(ctx context.Context) *scope {
	s, _ := ctx.Value(scopeKey{}).(*scope)
	return s
}

func (s *scope) add(u methods.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usage = s.usage.Plus(u)
}

// Seed implements methods.SeedStore.
func (h *Host) Seed(ctx context.Context, key methods.SeedKey, build func(context.Context) ([]byte, error)) ([]byte, error) {
	g := h.gateway
	id := cache.SeedKey(h.trial.Method, g.id, key, g.opts.RunSeed)
	s := &scope{seed: record.SeedSeed(g.opts.RunSeed, id.String()), path: "seed/" + valid(key.Kind)}
	if h.trial.Variant != "" { // its calls are the same but for those that differ
		id = cache.SeedKey(h.trial.Method+h.trial.Variant, g.id, key, g.opts.RunSeed)
	}
	call := record.Call{Path: s.path, Kind: record.SeedCall, Key: id.String(), Timing: h.starts(ctx)}
	rec, err := h.findSeed(ctx, id, s, &call, build)
	if err == nil {
		call.Digest = record.BytesDigest(rec.Data)
		of := cmp.Or(h.trial.SeedsOf, h.trial.ID.Method)
		g.useSeed(record.Seed{Key: call.Key, Kind: valid(key.Kind), Method: of, Digest: call.Digest, Usage: rec.Usage})
	} else {
		failed(ctx, &call, err)
	}
	// What a build asks for belongs to the seed, not to the trial that came
	// first.
	if call.Fault != record.CancelFault && scopeOf(ctx) == nil {
		call.Took = h.ended(call.Timing)
		h.mu.Lock()
		if len(h.calls) < maxCalls {
			h.calls = append(h.calls, call)
		} else {
			h.refused = true
		}
		h.mu.Unlock()
	}
	return rec.Data, wrapCall(call.Path, err)
}

// findSeed returns a seed, or in a replay the recorded failure to build it.
func (h *Host) findSeed(ctx context.Context, id cache.Key, s *scope, call *record.Call, build func(context.Context) ([]byte, error)) (cache.SeedRecord, error) {
	if err := h.gateway.Fatal(); err != nil {
		return cache.SeedRecord{}, err
	}
	if scopeOf(ctx) == nil {
		h.mu.Lock()
		recorded, _ := h.recall(call)
		h.mu.Unlock()
		if err := h.repeat(recorded); err != nil {
			return cache.SeedRecord{}, err
		}
	}
	return h.gateway.seed(ctx, id, s, build)
}

// useSeed notes that the run uses a seed and charges its cost to the run, once:
// here, unless its calls were charged when they were made.
func (g *Gateway) useSeed(s record.Seed) {
	g.mu.Lock()
	_, known := g.built[s.Key]
	paid := g.paid[s.Key]
	g.built[s.Key] = s
	g.mu.Unlock()
	if !known && !paid {
		g.charge(s.Usage)
	}
}

// seed returns the stored seed or builds it in a scope. Builds of one key take turns: a
// build belongs to the trial that began it, and when that trial ends without
// success the next one builds.
func (g *Gateway) seed(ctx context.Context, id cache.Key, s *scope, build func(context.Context) ([]byte, error)) (cache.SeedRecord, error) {
	rec, found, err := g.storedSeed(ctx, id)
	if err != nil || found {
		return rec, err
	}
	if g.opts.Mode == Replay {
		return rec, fmt.Errorf("%w: no method seed under key %s", methods.ErrMiss, id)
	}
	unlock, err := g.seeds.lock(ctx, id)
	if err != nil {
		return rec, err
	}
	defer unlock()
	rec, found, err = g.storedSeed(ctx, id)
	if err != nil || found {
		return rec, err
	}
	start := time.Now()
	data, err := build(context.WithValue(ctx, scopeKey{}, s))
	if err != nil {
		return rec, err
	}
	g.mu.Lock()
	g.paid[id.String()] = true
	g.mu.Unlock()
	rec = cache.SeedRecord{Data: g.opts.Redactor.Bytes(data), Usage: s.usage, At: start}
	return g.keepSeed(ctx, id, rec)
}

// storedSeed reads a seed from the store, or in mode Off from what this
// execution has built.
func (g *Gateway) storedSeed(ctx context.Context, id cache.Key) (cache.SeedRecord, bool, error) {
	if g.opts.Mode != Off {
		return lookup(ctx, g, id, g.opts.Store.Seed)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	rec, found := g.kept[id]
	return rec, found, nil
}

// keepSeed is the other half of storedSeed. It returns the seed that counts,
// which may be another process's.
func (g *Gateway) keepSeed(ctx context.Context, id cache.Key, rec cache.SeedRecord) (cache.SeedRecord, error) {
	if g.opts.Mode != Off {
		rec, err := g.opts.Store.PutSeed(ctx, id, rec)
		return rec, g.storeError(ctx, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.kept[id] = rec
	return rec, nil
}

// seedLocks is a lock per key whose waiters can give up.
type seedLocks struct {
	mu    sync.Mutex
	locks map[cache.Key]chan struct{} // each of capacity 1
}

func (l *seedLocks) lock(ctx context.Context, key cache.Key) (unlock func(), err error) {
	l.mu.Lock()
	if l.locks == nil {
		l.locks = map[cache.Key]chan struct{}{}
	}
	held := l.locks[key]
	if held == nil {
		held = make(chan struct{}, 1)
		l.locks[key] = held
	}
	l.mu.Unlock()
	select {
	case held <- struct{}{}:
		return func() { <-held }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
