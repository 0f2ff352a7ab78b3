package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"

	"noema/methods"
	"noema/plugins/internal/wire"
)

// Failure is a trial that failed because of its plugin's process, not because
// of what the method concluded.
type Failure struct {
	Plugin string
	Reason string // "crashed (signal: killed)", "did not stop within 2s", …
	Stderr string // the last lines of its stderr
	Err    error  // the cause, if there is one worth keeping
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

// process is one running plugin process.
type process struct {
	source  Source
	cmd     *exec.Cmd
	client  *plugin.Client
	service wire.MethodClient
	stderr  *tail
}

// startProcess starts a process and waits until it answers.
func startProcess(ctx context.Context, src Source, tempDir string, timeout time.Duration) (*process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd := exec.Command(src.Command[0], src.Command[1:]...)
	cmd.Dir = src.Dir
	if cmd.Dir == "" {
		cmd.Dir = tempDir
	}
	cmd.Env = environment(tempDir)
	dieWithParent(cmd)
	p := &process{source: src, cmd: cmd, stderr: &tail{}}
	p.client = plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig:  handshake(),
		VersionedPlugins: versions(nil),
		Cmd:              cmd,
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		SkipHostEnv:      true,
		StartTimeout:     timeout,
		Stderr:           p.stderr,
		SyncStdout:       p.stderr,
		SyncStderr:       p.stderr,
		Logger:           hclog.NewNullLogger(),
		GRPCDialOptions:  dialOptions(),
		UnixSocketConfig: &plugin.UnixSocketConfig{TempDir: tempDir},
	})
	stop := context.AfterFunc(ctx, p.client.Kill)
	defer stop()
	conn, err := p.client.Client()
	if err != nil {
		p.client.Kill()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, p.startFailure(err)
	}
	service, err := conn.Dispense(pluginName)
	if err != nil {
		p.client.Kill()
		return nil, p.startFailure(err)
	}
	p.service = service.(wire.MethodClient)
	return p, nil
}

// environment is what a plugin sees of the kernel's: enough to find programs
// and a home, but no keys.
func environment(tempDir string) []string {
	env := []string{"TMPDIR=" + tempDir}
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "SYSTEMROOT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// startFailure turns go-plugin's words into ours, with the cure where the
// cause is known.
func (p *process) startFailure(err error) error {
	reason := "did not start: " + firstLine(err.Error())
	switch text := err.Error(); {
	case strings.Contains(text, "incompatible API version"):
		reason = fmt.Sprintf("speaks another protocol version than this noema, which speaks %d (%s): rebuild it against this checkout",
			ProtocolVersion, firstLine(text))
	case strings.Contains(text, "Unrecognized remote plugin message"), strings.Contains(text, "failed to read any lines"):
		reason = "did not complete the handshake: is it a noema plugin, and does it write nothing to stdout before it serves?"
	case strings.Contains(text, "timeout while waiting"):
		reason = "did not start in time"
	}
	return &Failure{Plugin: p.source.Name, Reason: reason, Stderr: p.stderr.String(), Err: err}
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// describe asks the plugin what it is.
func (p *process) describe(ctx context.Context) (methods.Description, error) {
	d, err := p.service.Describe(ctx, &wire.DescribeRequest{})
	if err != nil {
		if ctx.Err() != nil {
			return methods.Description{}, ctx.Err()
		}
		return methods.Description{}, p.broken(err)
	}
	return wire.ToDescription(d), nil
}

// solve runs one trial. When ctx ends the plugin is asked to stop and has
// grace to do so; then it is killed. The process may be used again unless the
// error is a *Failure.
func (p *process) solve(ctx context.Context, problem methods.Problem, h methods.Host, grace time.Duration) (methods.Answer, error) {
	streamCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	stream, err := p.service.Session(streamCtx)
	if err != nil {
		return methods.Answer{}, p.broken(err)
	}
	type result struct {
		answer methods.Answer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		a, err := newSession(ctx, h).run(stream, problem, ctx.Done())
		done <- result{a, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case r = <-done:
		case <-timer.C:
			p.kill()
			<-done
			return methods.Answer{}, &Failure{
				Plugin: p.source.Name, Reason: fmt.Sprintf("did not stop within %v", grace),
				Stderr: p.stderr.String(), Err: context.Cause(ctx),
			}
		}
	}
	var broken *brokenError
	if errors.As(r.err, &broken) {
		return methods.Answer{}, p.broken(broken.err)
	}
	if errors.Is(r.err, wire.ErrPanic) {
		return methods.Answer{}, &Failure{Plugin: p.source.Name, Reason: r.err.Error(), Stderr: p.stderr.String(), Err: r.err}
	}
	return r.answer, r.err
}

// exitPatience is how long a process whose connection broke may take to be
// gone: a crash closes the socket a moment before the kernel reaps it.
const exitPatience = 500 * time.Millisecond

// broken explains a connection that ended: by a crash, or by a process that
// lives on and must be killed.
func (p *process) broken(cause error) error {
	f := &Failure{Plugin: p.source.Name, Err: cause}
	if p.awaitExit(exitPatience) {
		f.Reason = "crashed"
		if state := p.cmd.ProcessState; state != nil {
			f.Reason = fmt.Sprintf("crashed (%s)", state)
		}
	} else {
		p.kill()
		f.Reason = "broke its connection: " + firstLine(cause.Error())
	}
	f.Stderr = p.stderr.String()
	return f
}

// awaitExit reports whether the process has ended, waiting up to patience.
// go-plugin offers no channel for that, so it asks every millisecond.
func (p *process) awaitExit(patience time.Duration) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for !p.client.Exited() {
		select {
		case <-tick.C:
		case <-timer.C:
			return p.client.Exited()
		}
	}
	return true
}

// kill ends the process without asking it.
func (p *process) kill() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // already gone is as good
	}
	p.client.Kill()
}

// stop asks the process to end, and kills it if it does not.
func (p *process) stop() { p.client.Kill() }
