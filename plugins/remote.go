package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// Conn carries the messages of one trial between two machines, in order. A message
// has at most 64 MiB and something.
type Conn interface {
	Send(message []byte) error
	Recv() ([]byte, error) // an error after the last one
}

// ErrLost says that the connection to another machine ended before the trial did. What
// was answered is in the store: run the trial again.
var ErrLost = errors.New("the connection to the worker is lost")

// leave is how long a trial on another machine that was cancelled may take to end,
// beside the grace of its plugin's process there.
const leave = 10 * time.Second

// SolveAt runs one trial on another machine, where [Attend] serves the other end of
// conn. Its errors are those of [Plugin.Solve], and ErrLost. When ctx ends the trial is
// cancelled, and given up if it does not end soon.
func SolveAt(ctx context.Context, conn Conn, problem methods.Problem, h methods.Host) (methods.Answer, error) {
	done := make(chan result, 1)
	go func() {
		s := newSession(ctx, h, true)
		a, err := s.run(remotePlugin{conn}, problem, ctx.Done())
		var broken *brokenError
		switch f := s.finish.GetError().GetFailure(); {
		case errors.As(err, &broken) && errors.Is(err, errProtocol):
			err = &Failure{Plugin: "on a worker", Reason: firstLine(err.Error())}
		case errors.As(err, &broken):
			err = fmt.Errorf("%w: %w", ErrLost, broken.err)
		case f != nil:
			err = &Failure{Plugin: f.GetPlugin(), Reason: f.GetReason(), Stderr: f.GetStderr(), Shared: f.GetShared(), Ended: f.GetEnded(), Err: err}
		}
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(leave)
	defer late.Stop()
	select {
	case r := <-done:
		return r.answer, r.err
	case <-late.C:
		return methods.Answer{}, fmt.Errorf("%w: it did not end within %v of being asked to", ErrLost, leave)
	}
}

// Attend serves the other end of a trial that [SolveAt] runs: m solves the problem that
// comes over conn, and asks for everything over it. It returns when the trial has ended,
// with whether the trial will come again over the same connection, since it failed as
// another trial's doing may have. With [ErrChanged] the trial has no end: conn must be
// closed, so that it runs elsewhere.
func Attend(ctx context.Context, conn Conn, m methods.Method) (again bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &watched{Method: m, cancel: cancel}
	err = serveTrial(remoteKernel{conn, ctx}, w)
	if w.changed != nil {
		err = w.changed
	}
	return w.again, err
}

// watched remembers whether a trial failed in company, or for its code.
type watched struct {
	methods.Method
	cancel  func()
	again   bool
	changed error
}

// Solve implements methods.Method.
func (w *watched) Solve(ctx context.Context, p methods.Problem, h methods.Host) (methods.Answer, error) {
	a, err := w.Method.Solve(ctx, p, h)
	var f *Failure
	w.again = errors.As(err, &f) && f.Shared && ctx.Err() == nil
	if errors.Is(err, ErrChanged) { // nothing is sent any more
		w.changed = err
		w.cancel()
	}
	return a, err
}

// fromError converts an error for the wire, a Failure with all that it says.
func fromError(err error) *wire.Error {
	e := wire.FromError(err)
	if f, ok := errors.AsType[*Failure](err); ok {
		text := func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
		e.Failure = &wire.Failure{Plugin: text(f.Plugin), Reason: text(f.Reason), Stderr: text(f.Stderr), Shared: f.Shared, Ended: f.Ended}
	}
	return e
}

// remotePlugin is the plugin's side of a session that is on another machine.
type remotePlugin struct{ conn Conn }

func (r remotePlugin) Send(m *wire.HostMessage) error { return send(r.conn, m) }

func (r remotePlugin) Recv() (*wire.PluginMessage, error) {
	m := &wire.PluginMessage{}
	return m, receive(r.conn, m)
}

// remoteKernel is the kernel's side of a session that is on another machine.
type remoteKernel struct {
	conn Conn
	ctx  context.Context
}

func (r remoteKernel) Context() context.Context { return r.ctx }

func (r remoteKernel) Send(m *wire.PluginMessage) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	return send(r.conn, m)
}

func (r remoteKernel) Recv() (*wire.HostMessage, error) {
	m := &wire.HostMessage{}
	return m, receive(r.conn, m)
}

func send(c Conn, m proto.Message) error {
	raw, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	return c.Send(raw)
}

func receive(c Conn, into proto.Message) error {
	raw, err := c.Recv()
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return nil
}
