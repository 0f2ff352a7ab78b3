package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"noema/methods"
	"noema/plugins"
)

// place is where a trial runs: a session on a worker. It is a runner.Place.
type place struct {
	m     *member
	conn  *conn
	alone bool
	trial *queued
	show  atomic.Pointer[func([]byte, bool)] // what shows what the plugin prints
}

// Solve implements methods.Method.
func (p *place) Solve(ctx context.Context, problem methods.Problem, h methods.Host) (methods.Answer, error) {
	if f := plugins.OutputOf(ctx); f != nil {
		p.show.Store(&f)
	}
	if err := p.conn.link.put(item{kind: start, session: p.conn.session, data: []byte{byte(plugins.Aloneness(ctx))}}); err != nil {
		return methods.Answer{}, fmt.Errorf("%w: %w", plugins.ErrLost, err)
	}
	return plugins.SolveAt(ctx, p.conn, problem, h)
}

// Worker is the name of who runs the trial, for people.
func (p *place) Worker() string { return shown(p.m.hello.Shown) }

// killed reports whether the trial's end is that of its worker, which did not leave by
// itself.
func (p *place) killed() bool {
	return p.conn.link.ctx.Err() != nil && !p.m.left.Load() && !errors.Is(context.Cause(p.conn.link.ctx), errClosed)
}

// nowhere is the place of a trial that ran often enough.
type nowhere struct{ failure *plugins.Failure }

// Solve implements methods.Method.
func (n nowhere) Solve(context.Context, methods.Problem, methods.Host) (methods.Answer, error) {
	return methods.Answer{}, n.failure
}
