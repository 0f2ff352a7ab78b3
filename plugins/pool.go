package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// pool is the processes of one plugin. Trials share them, since they wait for
// models most of the time. A plugin that is not safe for that, by its manifest,
// has as many processes at most, of one trial each, and the other trials wait.
type pool struct {
	processes []*process
	starting  int
	waiting   int           // trials
	changed   chan struct{} // closed when a waiting trial should look again
}

// trialsEach is how many trials a process has before another one is started.
const trialsEach = 16

// wake has all waiting trials look again. The host is locked.
func (p *pool) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// pick returns the process that a trial should take, or nil, and whether the
// trial should start one. The host is locked.
func (p *pool) pick(serial bool, most int) (proc *process, start bool) {
	for _, c := range p.processes {
		if !c.exited() && (proc == nil || c.trials < proc.trials) {
			proc = c
		}
	}
	each := trialsEach
	if serial {
		each = 1
	}
	full := proc == nil || proc.trials >= each
	switch {
	case full && len(p.processes)+p.starting < most && p.starting*each <= p.waiting:
		return nil, true
	case proc != nil && (!full || !serial && p.starting == 0):
		return proc, false
	}
	return nil, false
}

// aloneKey marks the context of a trial that wants a process of its own.
type aloneKey struct{}

// Alone returns a context with which [Plugin.Solve] runs a trial in a new process
// that serves nothing else, so that what the process does is this trial's doing.
// Several trials run so beside each other; with Alone(Alone(ctx)) only one does.
func Alone(ctx context.Context) context.Context {
	return context.WithValue(ctx, aloneKey{}, Aloneness(ctx)+1)
}

// Aloneness is how often a context has been through Alone.
func Aloneness(ctx context.Context) int {
	n, _ := ctx.Value(aloneKey{}).(int) // 0 without
	return n
}

// lease returns a process of src for one trial; release takes it back.
func (h *Host) lease(ctx context.Context, src Source) (*process, error) {
	if Aloneness(ctx) > 0 {
		return h.leaseAlone(ctx, src)
	}
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, fmt.Errorf("start plugin %q: the plugin host is closed", src.Name)
		}
		p := h.pool(src)
		most := h.opts.MaxProcesses
		if src.Program != nil {
			most = max(most, programsAtOnce)
		}
		proc, start := p.pick(src.Serial, most)
		switch {
		case proc != nil:
			h.begin(proc)
			h.mu.Unlock()
			return proc, nil
		case start:
			p.starting++
			h.mu.Unlock()
			return h.grow(ctx, src, p)
		}
		p.waiting++
		changed := p.changed
		h.mu.Unlock()
		var err error
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		h.mu.Lock()
		p.waiting--
		h.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

// pool returns the processes of src. The host is locked.
func (h *Host) pool(src Source) *pool {
	key := src.Name + "\x00" + src.Path
	if h.pools[key] == nil {
		h.pools[key] = &pool{changed: make(chan struct{})}
	}
	p := h.pools[key]
	p.processes = slices.DeleteFunc(p.processes, func(c *process) bool { return c.trials == 0 && c.exited() })
	return p
}

// begin counts a trial of a process. The host is locked.
func (h *Host) begin(proc *process) {
	h.uses++
	proc.trials, proc.used = proc.trials+1, h.uses
	proc.child.beginTrial(proc.trials == 1)
}

// grow starts a process for a trial, which others will share.
func (h *Host) grow(ctx context.Context, src Source, p *pool) (*process, error) {
	proc, err := h.start(ctx, src, h.number())
	h.mu.Lock()
	defer h.mu.Unlock()
	p.starting--
	p.wake()
	if err != nil {
		return nil, err
	}
	if h.closed {
		go proc.stop()
		return nil, fmt.Errorf("start plugin %q: the plugin host is closed", src.Name)
	}
	p.processes = append(p.processes, proc)
	proc.pool = p
	h.begin(proc)
	return proc, nil
}

// leaseAlone starts a process for one trial. Only so many run at a time.
func (h *Host) leaseAlone(ctx context.Context, src Source) (*process, error) {
	slots := int64(1)
	if Aloneness(ctx) > 1 {
		slots = int64(2 * h.opts.MaxProcesses)
	}
	if err := h.alone.Acquire(ctx, slots); err != nil {
		return nil, err
	}
	proc, err := h.start(ctx, src, h.number())
	if err != nil {
		h.alone.Release(slots)
		return nil, err
	}
	proc.slots = slots
	if slots > 1 {
		proc.child.spare()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin(proc)
	return proc, nil
}

func (h *Host) number() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started++
	return h.started
}

// release takes a process back after a trial that ended with err.
func (h *Host) release(proc *process, err error) {
	if proc.pool == nil { // it was for one trial
		if !proc.exited() {
			proc.child.measure()
		}
		proc.stop()
		h.alone.Release(proc.slots)
		return
	}
	var failure *Failure
	broken := errors.As(err, &failure) && failure.Ended
	h.mu.Lock()
	proc.trials--
	idle := proc.trials == 0
	if broken {
		proc.pool.drop(proc)
	}
	proc.pool.wake()
	surplus := h.surplus()
	closed := h.closed
	h.mu.Unlock()
	if idle && !proc.exited() {
		proc.child.measure()
	}
	if broken || closed {
		proc.stop()
	}
	if surplus != nil {
		surplus.stop()
	}
}

// drop takes a process out of the pool. The host is locked.
func (p *pool) drop(proc *process) {
	p.processes = slices.DeleteFunc(p.processes, func(c *process) bool { return c == proc })
}

// surplus takes the idle process that was used longest ago out of its pool, if
// more than MaxIdle are idle. The host is locked.
func (h *Host) surplus() *process {
	idle := 0
	var oldest *process
	for _, p := range h.pools {
		for _, c := range p.processes {
			if c.trials > 0 {
				continue
			}
			idle++
			if oldest == nil || c.used < oldest.used {
				oldest = c
			}
		}
	}
	if idle <= h.opts.MaxIdle {
		return nil
	}
	oldest.pool.drop(oldest)
	return oldest
}
