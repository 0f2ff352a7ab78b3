package plugins

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// Serve makes this process a plugin that offers m to the kernel that started
// it. It returns when the kernel asks the plugin to end; when the kernel dies,
// it ends the process. Nothing may be written to os.Stdout before Serve;
// os.Stderr is the place for diagnostics at any time.
//
// Serve halves GOMAXPROCS; a method that computes on all cores sets it in Solve.
func Serve(m methods.Method) {
	leaveCores()
	go exitWithParent()
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: versions(protocols(), m),
		Logger:           hclog.NewNullLogger(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, serverOptions()...)...)
		},
	})
}

// leaveCores keeps this process to half of the cores. A plugin waits for the kernel
// and the kernel for it: where both look for work on all cores, each wakes threads
// that find none and take a core from the other, and a call takes a third longer.
// Other trials go to other processes.
func leaveCores() { runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2)) }

// exitWithParent ends the process soon after its parent is gone. A closed
// stream alone does not tell that, and a plugin must not outlive a kernel
// that was killed.
func exitWithParent() {
	parent := os.Getppid()
	for range time.Tick(200 * time.Millisecond) {
		if os.Getppid() != parent {
			endWithChildren()
		}
	}
}

// guest is the service inside a plugin.
type guest struct {
	wire.UnimplementedMethodServer
	method         methods.Method
	stdout, stderr *os.File
	restore        sync.Once
}

func newGuest(m methods.Method) *guest {
	return &guest{method: m, stdout: os.Stdout, stderr: os.Stderr}
}

// unbuffer gives os.Stdout and os.Stderr back their files. go-plugin replaces them by
// pipes whose content comes later than the answer, and is lost when the process is
// killed, which is just when the last lines matter.
func (g *guest) unbuffer() { g.restore.Do(func() { os.Stdout, os.Stderr = g.stdout, g.stderr }) }

// Describe implements the service.
func (g *guest) Describe(context.Context, *wire.DescribeRequest) (*wire.Description, error) {
	g.unbuffer()
	if d, ok := g.method.(methods.Describer); ok {
		return wire.To[wire.Description](d.Describe()), nil
	}
	return &wire.Description{}, nil
}

// Session implements the service: one trial.
func (g *guest) Session(stream wire.Method_SessionServer) error {
	g.unbuffer()
	return serveTrial(stream, g.method)
}

// serveTrial has m solve the one problem that comes over stream.
func serveTrial(stream kernelSide, m methods.Method) error {
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	frames := first.GetFrames()
	if len(frames) == 0 || frames[0].GetStart() == nil {
		return fmt.Errorf("open session: the first frame is not start")
	}
	problem := wire.From[methods.Problem](frames[0].GetStart())

	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	h := newGuestHost(stream)
	go h.receive(stream, frames[1:], cancel)

	finished, sent := make(chan struct{}), make(chan error, 1)
	go func() {
		deepen()
		sent <- h.out.Run(finished)
	}()
	answer, err := solve(ctx, m, problem, h)
	if err == nil {
		err = answer.CheckText() // the wire would replace what is not UTF-8
	}
	finish := &wire.Finish{Error: fromError(err)}
	if err == nil {
		finish.Answer = wire.To[wire.Answer](answer)
		if err := fits("answer", finish.Answer); err != nil {
			finish = &wire.Finish{Error: wire.FromError(err)}
		}
	}
	h.put(stream.Context(), &wire.PluginFrame{Frame: &wire.PluginFrame_Finish{Finish: finish}})
	close(finished)
	return <-sent
}

// solve runs the method and turns a panic into an error, with the stack on
// stderr: the process is still sound for the next trial.
func solve(ctx context.Context, m methods.Method, p methods.Problem, h methods.Host) (a methods.Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			if s, ok := r.(interface{ Stack() []byte }); ok { // of an interpreted method
				stack = s.Stack()
			}
			fmt.Fprintf(os.Stderr, "panic: %v\n%s", r, stack)
			err = fmt.Errorf("%w: %v", wire.ErrPanic, r)
		}
	}()
	return m.Solve(ctx, p, h)
}
