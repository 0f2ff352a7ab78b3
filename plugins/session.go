package plugins

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
	"google.golang.org/protobuf/proto"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// What one trial may hold of the kernel. A plugin that has as many calls or
// bytes of calls under way as it may waits, and its further frames with it; so
// a hundred thousand calls take time, but no memory. Seeds cannot wait, since
// they may wait for one another: too many of them break the protocol.
const (
	maxCalls     = 256
	maxCallBytes = 4 * wire.MaxMessage
	maxSeeds     = 1024
	maxSeedBytes = 4 * wire.MaxMessage
	// Events are kept with the trial's record.
	maxEventBytes = 4 * wire.MaxMessage
	// A method that fans out may learn many times that its budget is spent; one
	// that goes on for so long takes no notice.
	maxRefused = 10_000
)

// session is one trial on the kernel's side of the boundary.
type session struct {
	ctx     context.Context // of the trial's calls
	host    methods.Host
	out     *wire.Outbox[*wire.HostFrame]
	slots   chan struct{}
	room    *semaphore.Weighted // bytes of calls
	events  int                 // bytes so far
	refused atomic.Int64        // calls that the budget refused
	calls   sync.WaitGroup
	finish  *wire.Finish
	shared  bool          // with other trials in the process: it may have to be run again
	broken  chan struct{} // closed when no more frames come

	mu               sync.Mutex
	inFlight         map[uint64]context.CancelFunc
	builds           map[uint64]*build // by the id of the seed_get that ordered them
	seeds, seedBytes int               // under way
}

// build is a method seed that the plugin has been told to build.
type build struct {
	ctx context.Context
	put chan *wire.Call
}

func newSession(ctx context.Context, h methods.Host, shared bool) *session {
	return &session{
		ctx: ctx, host: h, shared: shared, broken: make(chan struct{}),
		slots: make(chan struct{}, maxCalls), room: semaphore.NewWeighted(maxCallBytes),
		inFlight: map[uint64]context.CancelFunc{}, builds: map[uint64]*build{},
	}
}

var (
	errNoFinish = errors.New("ended the session without an answer")
	errProtocol = errors.New("broke the protocol")
)

// pluginSide is the plugin as a session sees it: a stream of messages each way.
type pluginSide interface {
	Send(*wire.HostMessage) error
	Recv() (*wire.PluginMessage, error)
}

// run drives the session over stream until the plugin finishes or the stream
// breaks. stop is closed when the trial is cancelled; the plugin is then told
// so. Every call has ended when run returns, unless the process broke that it shared
// with other trials.
func (s *session) run(stream pluginSide, p methods.Problem, stop <-chan struct{}) (methods.Answer, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.ctx = ctx
	s.out = wire.NewOutbox(func(batch []*wire.HostFrame) error {
		return stream.Send(&wire.HostMessage{Frames: batch})
	})
	over, done, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		deepen()
		defer close(sent)
		// A failed send also breaks the receiving side, which reports it.
		_ = s.out.Run(done)
	}()
	s.put(&wire.HostFrame{Frame: &wire.HostFrame_Start{Start: wire.To[wire.Problem](p)}})
	go func() {
		select {
		case <-stop:
			s.put(&wire.HostFrame{Frame: &wire.HostFrame_Cancel{Cancel: &wire.Cancel{}}})
		case <-over:
		}
	}()

	err := s.receive(stream)
	close(over)
	close(s.broken)
	if err != nil && s.shared && s.ctx.Err() == nil {
		// The trial will be run again: what is being asked is not asked twice.
		go func() {
			s.calls.Wait()
			cancel()
		}()
	} else {
		cancel()
		s.calls.Wait()
	}
	close(done)
	<-sent
	if err != nil {
		return methods.Answer{}, err
	}
	if err := wire.ToError(s.finish.GetError()); err != nil {
		return methods.Answer{}, err
	}
	return wire.From[methods.Answer](s.finish.GetAnswer()), nil
}

// put queues a frame; one that finds the session over is not missed.
func (s *session) put(f *wire.HostFrame) { _, _ = s.out.Put(context.Background(), f) }

// reply queues a result, which may last until the plugin reads others.
func (s *session) reply(r *wire.Result) {
	s.put(&wire.HostFrame{Frame: &wire.HostFrame_Result{Result: r}})
}

// brokenError is a stream that ended before the trial did.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

func (s *session) receive(stream pluginSide) error {
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			err = errNoFinish
		}
		if err != nil {
			return &brokenError{err}
		}
		for _, f := range m.GetFrames() {
			if err := s.handle(f); err != nil {
				return &brokenError{err}
			}
			if s.finish != nil {
				return nil
			}
		}
	}
}

func (s *session) handle(f *wire.PluginFrame) error {
	switch f := f.GetFrame().(type) {
	case *wire.PluginFrame_Event:
		s.events += proto.Size(f.Event)
		if s.events > maxEventBytes {
			return fmt.Errorf("%w: it emitted more than %s of events in one trial", errProtocol, size(maxEventBytes))
		}
		s.host.Emit(wire.From[methods.Event](f.Event))
	case *wire.PluginFrame_Cancel:
		s.mu.Lock()
		cancel := s.inFlight[f.Cancel.GetId()]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
	case *wire.PluginFrame_Call:
		return s.start(f.Call)
	case *wire.PluginFrame_Finish:
		s.finish = f.Finish
	default:
		return fmt.Errorf("%w: it sent a frame of unknown kind", errProtocol)
	}
	return nil
}

// start begins work on a call. It waits while too many are under way, except
// for seeds, which may wait for one another.
func (s *session) start(c *wire.Call) error {
	ctx := s.ctx
	s.mu.Lock()
	b := s.builds[c.GetScope()]
	_, reused := s.inFlight[c.GetId()]
	s.mu.Unlock()
	if reused {
		return fmt.Errorf("%w: it reused call id %d, which is still in use", errProtocol, c.GetId())
	}
	if b != nil {
		ctx = b.ctx
	}
	switch what := c.GetWhat().(type) {
	case *wire.Call_SeedPut:
		s.deliver(b, c)
		return nil
	case *wire.Call_Read:
		s.reply(readFor(c.GetId(), what.Read))
		return nil
	}
	free, err := s.admit(c)
	if errors.Is(err, errProtocol) {
		return err
	}
	if err != nil {
		s.reply(failure(c.GetId(), err))
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.inFlight[c.GetId()] = cancel
	s.mu.Unlock()
	s.calls.Go(func() {
		deepen()
		s.answer(ctx, c)
		cancel()
		s.mu.Lock()
		delete(s.inFlight, c.GetId())
		s.mu.Unlock()
		free()
	})
	return nil
}

// admit waits until there is room for a call, and returns what gives the room
// back.
func (s *session) admit(c *wire.Call) (free func(), err error) {
	if n := s.refused.Load(); n > maxRefused {
		return nil, fmt.Errorf("%w: it made %d more calls after its budget was exhausted", errProtocol, n)
	}
	bytes := proto.Size(c)
	if _, isSeed := c.GetWhat().(*wire.Call_SeedGet); isSeed {
		return s.admitSeed(bytes)
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	}
	if err := s.room.Acquire(s.ctx, int64(bytes)); err != nil {
		<-s.slots
		return nil, err
	}
	return func() { s.room.Release(int64(bytes)); <-s.slots }, nil
}

func (s *session) admitSeed(bytes int) (free func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seeds++; s.seeds > maxSeeds {
		return nil, fmt.Errorf("%w: it asked for more than %d seeds at once", errProtocol, maxSeeds)
	}
	if s.seedBytes += bytes; s.seedBytes > maxSeedBytes {
		return nil, fmt.Errorf("%w: it asked for more than %s of seeds at once", errProtocol, size(maxSeedBytes))
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seeds--
		s.seedBytes -= bytes
	}, nil
}

// deliver hands a finished seed to the build that ordered it.
func (s *session) deliver(b *build, put *wire.Call) {
	if b != nil {
		select {
		case b.put <- put:
			return
		default: // a second seed_put for one order
		}
	}
	s.reply(failure(put.GetId(), fmt.Errorf("store seed: no build with scope %d is under way", put.GetScope())))
}

func failure(id uint64, err error) *wire.Result {
	return &wire.Result{Id: id, What: &wire.Result_Error{Error: wire.FromError(err)}}
}

func (s *session) answer(ctx context.Context, c *wire.Call) {
	r := &wire.Result{Id: c.GetId()}
	var err error
	switch what := c.GetWhat().(type) {
	case *wire.Call_Complete:
		var done methods.Completion
		done, err = s.host.Complete(ctx, wire.From[methods.Request](what.Complete))
		r.What = &wire.Result_Completion{Completion: wire.To[wire.Completion](done)}
	case *wire.Call_Tool:
		var done methods.ToolResult
		done, err = s.host.CallTool(ctx, wire.From[methods.ToolCall](what.Tool))
		r.What = &wire.Result_Tool{Tool: wire.To[wire.ToolResult](done)}
	case *wire.Call_SeedGet:
		var data []byte
		r.Id, data, err = s.seed(ctx, c.GetId(), what.SeedGet)
		r.What = &wire.Result_Seed{Seed: &wire.Seed{Data: data}}
	default:
		err = fmt.Errorf("call host: unknown kind of call")
	}
	if errors.Is(err, methods.ErrBudget) {
		s.refused.Add(1)
	}
	if err != nil {
		r = failure(r.GetId(), err)
	}
	s.reply(r)
}

// seed serves one seed_get and returns the id of the call that the result
// belongs to: the seed_get, or the seed_put if the plugin had to build.
func (s *session) seed(ctx context.Context, id uint64, get *wire.SeedGet) (uint64, []byte, error) {
	answerTo := id
	key := methods.SeedKey{Kind: get.GetKind(), Content: get.GetContent()}
	data, err := s.host.Seed(ctx, key, func(ctx context.Context) ([]byte, error) {
		b := &build{ctx: ctx, put: make(chan *wire.Call, 1)}
		s.mu.Lock()
		s.builds[id] = b
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.builds, id)
			s.mu.Unlock()
		}()
		s.reply(&wire.Result{Id: id, What: &wire.Result_Seed{Seed: &wire.Seed{Build: true}}})
		select {
		case put := <-b.put:
			answerTo = put.GetId()
			return put.GetSeedPut().GetData(), wire.ToError(put.GetSeedPut().GetError())
		case <-s.broken:
			return nil, errNoFinish
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	return answerTo, data, err
}
