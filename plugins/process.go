package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"noema/kernel/base/files"
	"noema/methods"
	"noema/plugins/internal/wire"
)

// Failure is a trial that failed because of its plugin's process, not because
// of what the method concluded.
type Failure struct {
	Plugin string
	Reason string // "crashed (signal: killed)", "did not stop within 2s", …
	Stderr string // the last lines that it wrote
	Err    error  // the cause, if there is one worth keeping
	Shared bool   // another trial may be to blame: one in the same process, or one that used the memory
	Ended  bool   // the process has ended, or was ended
}

// Error names the plugin, the reason and the last lines of its stderr.
func (f *Failure) Error() string {
	s := fmt.Sprintf("plugin %q %s", f.Plugin, f.Reason)
	if f.Stderr != "" {
		s += "; last lines of its stderr:\n" + f.Stderr
	}
	return s
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// process is one running plugin process. Its host guards what counts trials.
type process struct {
	pool   *pool // nil if it is for one trial alone
	trials int   // under way
	used   int   // when it was last taken, as the host counts

	child   *child
	client  *plugin.Client
	service wire.MethodClient
	grace   time.Duration
	slots   int64 // of the host's, if it is for one trial alone
}

// start starts a process and waits until it answers.
func (h *Host) start(ctx context.Context, src Source, number int) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := src.same(); err != nil {
		return nil, err
	}
	limit := cmp.Or(src.StartLimit, h.opts.StartTimeout)
	p := &process{grace: h.opts.StopGrace, child: &child{
		source: src, speaks: h.opts.speaks, dir: filepath.Join(h.tempDir, fmt.Sprint("p", number)),
		limits: h.opts.Limits, cages: h.cages, pythons: &h.pythons, report: h.note, gone: make(chan struct{}),
		outside: h.outside(), landlock: h.opts.landlock,
	}}
	p.child.out = &output{limit: h.opts.Limits.Output, flood: p.child.flood}
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: versions(h.opts.speaks, nil),
		RunnerFunc: func(_ hclog.Logger, spec *exec.Cmd, _ string) (runner.Runner, error) {
			p.child.env = append(environment(p.child.dir), spec.Env...)
			if h.opts.Started != nil {
				p.child.env = append(p.child.env, "PYTHONBREAKPOINT=noema.debugger.wait")
			}
			if src.File { // after a fatal error, a trace would show this program's code
				p.child.env = append(p.child.env, "GOTRACEBACK=none")
			}
			return p.child, nil
		},
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     2 * limit, // below, the process is ended before
		SyncStdout:       p.child.out.stream("stdout"),
		SyncStderr:       p.child.out.stream("stderr"),
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  dialOptions(p.child.dial),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: h.tempDir},
	})
	late := time.AfterFunc(limit, func() {
		p.child.end(fmt.Sprintf("did not start: no handshake after %v", limit) + src.tooLate())
	})
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { p.child.end("") })()
	if err := p.connect(); err != nil {
		p.kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, p.startFailure(err)
	}
	limitMemory(p.child.cmd.Process.Pid, h.opts.Limits)
	if h.opts.Started != nil {
		late.Stop() // a person attaches
		h.opts.Started(src, p.child.cmd.Process.Pid)
	}
	return p, nil
}

// connect starts the process and dials it. What goes on running belongs to the host, and not to
// the trial that happened to need another process: it has none of the caller's profiler labels.
func (p *process) connect() error {
	done := make(chan error, 1)
	go func() {
		pprof.SetGoroutineLabels(context.Background())
		done <- p.dial()
	}()
	return <-done
}

func (p *process) dial() error {
	conn, err := p.client.Client()
	if err != nil {
		return err
	}
	service, err := conn.Dispense(pluginName)
	if err != nil {
		return err
	}
	p.service = service.(wire.MethodClient)
	return nil
}

// environment is what a plugin sees of the kernel's: enough to find programs
// and a home, but no keys.
func environment(dir string) []string {
	env := []string{"TMPDIR=" + dir, "PWD=" + dir}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// startFailure explains why the process did not start.
func (p *process) startFailure(err error) error {
	reason := "did not start: " + firstLine(err.Error())
	if errors.Is(err, os.ErrNotExist) && !p.child.source.Builtin {
		reason += fmt.Sprintf(": build it with \"noema plugin build %s\"", files.Word(p.child.source.Name))
	}
	if p.exited() && p.child.cmd.ProcessState != nil {
		reason = fmt.Sprintf("exited before the handshake (%s)", p.child.cmd.ProcessState)
		if p.child.cmd.ProcessState.Success() {
			cure := handshakeCure
			if p.child.source.File {
				cure = "does its main call plugins.Serve?"
			}
			reason += ": " + cure
		}
	}
	f := p.failure(reason, err)
	if p.child.source.File && p.child.why() == "" && f.Stderr != "" { // which says where in the file
		f.Reason, f.Stderr = "cannot be run:\n"+f.Stderr, ""
	}
	return f
}

// failure is a Failure with the reason, unless the process was killed for
// another.
func (p *process) failure(reason string, cause error) *Failure {
	if why := p.child.why(); why != "" {
		reason = why
	}
	stderr := p.child.out.String()
	if p.child.denied(stderr) {
		stderr += "\n" + p.child.cure()
	}
	return &Failure{
		Plugin: p.child.source.Name, Reason: reason, Stderr: stderr, Err: cause,
		Shared: p.pool != nil || p.slots == 1 && p.child.endedForAll(), Ended: true,
	}
}

// own is a Failure that is the doing of one trial, whatever else the process
// serves.
func own(f *Failure, ended bool) *Failure {
	f.Shared, f.Ended = false, ended
	return f
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// describe asks the plugin what it is.
func (p *process) describe(ctx context.Context, timeout time.Duration) (methods.Description, error) {
	late := time.AfterFunc(timeout, func() {
		p.child.end(fmt.Sprintf("did not answer Describe within %v", timeout) + p.child.source.tooLate())
	})
	defer late.Stop()
	d, err := p.service.Describe(ctx, &wire.DescribeRequest{})
	if err != nil {
		if ctx.Err() != nil {
			return methods.Description{}, ctx.Err()
		}
		return methods.Description{}, p.broken(err)
	}
	return wire.From[methods.Description](d), nil
}

// result is how a trial ended.
type result struct {
	answer methods.Answer
	err    error
}

// solve runs one trial. When ctx ends the trial is cancelled and has grace to
// stop; then the process is killed. It may be used again unless the error is a
// *Failure that ended it.
func (p *process) solve(ctx context.Context, problem methods.Problem, h methods.Host) (methods.Answer, error) {
	streamCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stream, err := p.service.Session(streamCtx)
	if err != nil {
		return methods.Answer{}, p.broken(err)
	}
	done := make(chan result, 1)
	go func() {
		deepen()
		a, err := newSession(ctx, h, p.pool != nil).run(stream, problem, ctx.Done())
		done <- result{a, err}
	}()
	select {
	case r := <-done:
		return p.judge(r)
	case <-ctx.Done():
	}
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case r := <-done:
		return p.judge(r)
	case <-timer.C:
	}
	p.child.end(fmt.Sprintf("did not stop within %v of being asked to, and was killed", p.grace))
	p.kill()
	<-done
	return methods.Answer{}, own(p.failure("did not stop", context.Cause(ctx)), true)
}

// judge separates failures of the process from errors of the method, once all that was
// printed before the trial's end is there: a failure shows the last of it.
func (p *process) judge(r result) (methods.Answer, error) {
	p.child.settle()
	var broken *brokenError
	switch {
	case errors.As(r.err, &broken):
		return methods.Answer{}, p.broken(broken.err)
	case errors.Is(r.err, wire.ErrPanic):
		return methods.Answer{}, own(p.failure(r.err.Error(), r.err), false)
	}
	return r.answer, p.child.explain(r.err)
}

// exitPatience is how long a process whose connection broke may take to be
// gone: a crash closes the socket a moment before the kernel reaps it.
const exitPatience = 500 * time.Millisecond

// broken explains a connection that ended: by a crash, or by a process that
// lives on and must be killed.
func (p *process) broken(cause error) error {
	if errors.Is(cause, errProtocol) || !p.child.awaitGone(exitPatience) {
		p.child.end(brokenReason(cause))
		p.kill()
		f := p.failure(brokenReason(cause), cause)
		if status.Code(cause) != codes.Unavailable { // which is the end of all its trials
			return own(f, true)
		}
		return f
	}
	reason := "crashed"
	if state := p.child.cmd.ProcessState; state != nil {
		reason = fmt.Sprintf("crashed (%s)", state)
		if state.Success() {
			reason = fmt.Sprintf("exited (%s) in the middle of a trial, without an answer", state)
		}
	}
	if used, may := p.child.used().Memory, p.child.limits.Memory; may > 0 && used > may/10*9 {
		reason += fmt.Sprintf(", after using %s of memory (the limit is %s)", size(used), size(may))
	}
	return p.failure(reason, cause)
}

// brokenReason says how a process that lives broke its connection.
func brokenReason(cause error) string {
	text := firstLine(status.Convert(cause).Message())
	switch {
	case errors.Is(cause, errProtocol), errors.Is(cause, errNoFinish):
		return firstLine(cause.Error())
	case status.Code(cause) == codes.ResourceExhausted:
		return fmt.Sprintf("broke its connection: the limit of a message is %s: %s", size(wire.MaxMessage), text)
	case status.Code(cause) == codes.Unimplemented:
		return "completed the handshake, but does not serve a noema method: " + text
	case status.Code(cause) == codes.Unavailable:
		return "does not serve at the address that it announced, or closed the connection: " + text
	}
	return "broke its connection: " + text
}

// exited reports whether nothing is left of the process.
func (p *process) exited() bool {
	select {
	case <-p.child.gone:
		return true
	default:
		return false
	}
}

// kill ends the process without asking it.
func (p *process) kill() {
	p.child.end("")
	p.client.Kill()
}

// stop asks the process to end: by the protocol, by SIGTERM after half of the
// grace, and by SIGKILL when it is over.
func (p *process) stop() {
	ask := time.AfterFunc(p.grace/2, p.child.terminate)
	defer ask.Stop()
	force := time.AfterFunc(p.grace, func() { p.child.end("") })
	defer force.Stop()
	p.client.Kill()
}
