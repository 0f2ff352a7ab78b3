package plugins

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"noema/plugins/internal/isolate"
)

// child is the process of a plugin with all that it starts: its own process
// group, its own working directory, bounded output, and limits that a watcher
// enforces. It is the runner that go-plugin starts and ends processes with.
// When the plugin's process ends, for whatever reason, what it started is
// killed with it.
type child struct {
	source Source
	speaks []int  // protocol versions of this side
	dir    string // working directory and TMPDIR; removed with the process
	env    []string
	limits Limits
	cages  *cages
	report func(*child, Usage) // called with each measurement

	pythons   *pythons
	outside   string        // a folder that it must not reach
	landlock  int           // the newest version of Landlock to use; 0 means any
	isolation isolate.State // what is in force, once it has started
	noApart   bool          // the system gives no process a network of its own

	cmd  *exec.Cmd
	left chan struct{} // closed when its own process has ended
	cage *cage         // nil where there is none
	out  *output
	taps [2]*tap        // its stdout and stderr
	line *io.PipeWriter // the handshake, on its way to go-plugin
	// What go-plugin reads: the handshake, and nothing where it expects stderr.
	handshake, silence *io.PipeReader
	gone               chan struct{} // closed when nothing of it is left
	waitErr            error         // set before gone is closed

	mu      sync.Mutex
	ended   bool
	address string          // of the socket that it announced
	before  map[string]bool // what was in dir before the first trial; the pool's
	verdict string          // why it was killed; empty if it was not, or only to be rid of it
	forAll  bool            // it was killed for what all plugins used together
	last    bool            // it serves a trial that is run for the last time, and no other is beside it that could be
	peak    Usage
	base    time.Duration // CPU time before the trials under way
	trials  int           // since then
	granted int           // of them, in the operating system's limit
}

var _ runner.Runner = (*child)(nil)

// Start starts the process and what reads and watches it.
func (c *child) Start(context.Context) error {
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return fmt.Errorf("create the working directory: %w", err)
	}
	c.handshake, c.line = io.Pipe()
	var quiet *io.PipeWriter
	c.silence, quiet = io.Pipe()
	pipes, err := c.launch()
	if err != nil {
		_ = os.RemoveAll(c.dir)
		return err
	}
	for i, name := range []string{"stdout", "stderr"} {
		c.taps[i] = &tap{pipe: pipes[i], to: c.out.stream(name)}
	}
	c.taps[0].mu.Lock() // until the handshake is read
	var reading sync.WaitGroup
	reading.Go(func() { c.readStdout(c.taps[0]) })
	reading.Go(c.taps[1].copy)
	go c.watch()
	go func() {
		c.tend(&reading, pipes)
		_ = c.line.Close()
		_ = quiet.Close()
		close(c.gone)
	}()
	return nil
}

// launch starts the process, in a cage if there can be one, and returns the
// ends of its stdout and stderr.
func (c *child) launch() (pipes [2]*os.File, err error) {
	if err := c.prepare(); err != nil {
		return pipes, fmt.Errorf("prepare the working directory: %w", err)
	}
	var far [2]*os.File
	for i := range pipes {
		if pipes[i], far[i], err = os.Pipe(); err != nil {
			return pipes, err
		}
		defer far[i].Close()
	}
	keepDescriptors()
	keepSecrets()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return pipes, context.Canceled
	}
	c.cage = c.cages.open(c.limits)
	err = c.exec(far)
	if err != nil && c.cage != nil { // the system may have cages and yet refuse this
		c.cage.close()
		c.cage = nil
		err = c.exec(far)
	}
	if err != nil && c.source.Program != nil && !c.noApart { // which must reach its endpoint all the same
		c.noApart = true
		err = c.exec(far)
	}
	if err != nil {
		return pipes, errors.Join(err, pipes[0].Close(), pipes[1].Close())
	}
	limitProcess(c.cmd.Process.Pid, c.limits)
	return pipes, nil
}

func (c *child) exec(far [2]*os.File) error {
	c.cmd = exec.Command(c.source.Command[0], c.source.Command[1:]...)
	c.cmd.Dir, c.cmd.Env, c.cmd.Stdout, c.cmd.Stderr = c.dir, slices.Clone(c.env), far[0], far[1]
	setApart(c.cmd, c.cage)
	if c.source.Program != nil {
		endsItself(c.cmd)
	}
	c.left = make(chan struct{})
	started := make(chan error)
	go c.hold(started, c.left)
	return <-started
}

// prepare links the files of the plugin's folder into its working directory, so
// that relative names in its command and code work, while files that it makes
// stay out of that folder.
func (c *child) prepare() error {
	if c.source.Dir == "" {
		return nil
	}
	entries, err := os.ReadDir(c.source.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(c.source.Dir, e.Name()), filepath.Join(c.dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// readStdout hands the handshake on and keeps the rest as output. It unlocks the tap.
func (c *child) readStdout(t *tap) {
	buf := bufio.NewReaderSize(t.pipe, maxHandshake)
	line, err := buf.ReadSlice('\n')
	fault := ""
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		fault = fmt.Sprintf("wrote more than %s to stdout before the handshake: %s", size(maxHandshake), handshakeCure)
	case err == nil:
		fault = checkHandshake(string(line), c.source.Name, c.speaks, c.socketDir(), c.dir)
	}
	switch {
	case err == nil && fault == "":
		c.mu.Lock()
		c.address = strings.Split(string(line), "|")[3]
		c.mu.Unlock()
		_, _ = c.line.Write(line)
	case err != nil:
		_, _ = t.to.Write(line)
	}
	if fault != "" {
		c.blame(fault)
	}
	_ = c.line.Close()
	rest, _ := buf.Peek(buf.Buffered())
	_, _ = t.to.Write(rest)
	t.mu.Unlock()
	t.copy()
}

// settle reads what the process has printed so far, so that a trial has all that was
// printed before its answer.
func (c *child) settle() {
	for _, t := range c.taps {
		t.drain()
	}
}

// tap hands on what comes through a pipe. Under mu, what is no longer in the pipe has
// been handed on.
type tap struct {
	mu   sync.Mutex
	pipe *os.File
	to   io.Writer
}

// drainPatience is how long output may be read after everything that should
// hold the other end was killed.
const drainPatience = 200 * time.Millisecond

// tend waits for the process, then ends and removes what it leaves behind.
func (c *child) tend(reading *sync.WaitGroup, pipes [2]*os.File) {
	<-c.left
	if awaitsExit {
		c.measure() // of what it leaves behind
		c.mu.Lock()
		c.ended = true // once it is reaped its number may be another's
		c.killKin()
		c.mu.Unlock()
	}
	c.waitErr = c.cmd.Wait()
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	late := time.AfterFunc(drainPatience, func() {
		for _, p := range pipes {
			_ = p.Close()
		}
	})
	reading.Wait()
	late.Stop()
	for _, p := range pipes {
		_ = p.Close()
	}
	c.note(usageOf(c.cmd.ProcessState))
	if c.cage != nil {
		c.cage.close()
	}
	_ = os.RemoveAll(c.dir)
}

// watchEvery is how often a process is measured.
const watchEvery = 100 * time.Millisecond

// watch kills the process when it takes more than it may.
func (c *child) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-tick.C:
			killOrphans(false)
			if fault := c.measure(); fault != "" {
				c.end(fault)
			}
		}
	}
}

// measure takes the usage of the process and its kin, and says what of it is
// too much.
func (c *child) measure() (fault string) {
	now, ok := usage(c.cmd.Process.Pid, c.dir, c.cage, c.limits)
	if !ok {
		return ""
	}
	c.note(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trials > c.granted {
		c.granted = c.trials
		limitCPU(c.cmd.Process.Pid, now.CPUTime, c.limits)
	}
	return c.limits.excess(now, (now.CPUTime-c.base)/time.Duration(max(1, c.trials)))
}

func (c *child) note(u Usage) {
	c.mu.Lock()
	c.peak = c.peak.most(u)
	c.mu.Unlock()
	c.report(c, u)
}

// beginTrial starts the accounts of a trial. With idle set no other trial is under
// way, and the accounts begin anew; otherwise the process may take more by what
// one trial may.
func (c *child) beginTrial(idle bool) {
	if idle {
		c.tidy()
	}
	c.out.begin(idle)
	c.mu.Lock()
	c.trials++
	c.mu.Unlock()
	if !idle {
		return
	}
	now, ok := usage(c.cmd.Process.Pid, c.dir, c.cage, c.limits)
	if !ok {
		return
	}
	c.mu.Lock()
	c.trials, c.granted, c.base = 1, 1, now.CPUTime
	c.mu.Unlock()
	limitCPU(c.cmd.Process.Pid, now.CPUTime, c.limits)
}

// tidy removes what the trials before left in the working directory, when none is under way. What was
// there before the first trial stays, and so do the worlds of a program, which tidies up itself.
func (c *child) tidy() {
	if c.source.Program != nil {
		return
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	first := c.before == nil
	if first {
		c.before = map[string]bool{}
	}
	for _, e := range entries {
		if first {
			c.before[e.Name()] = true
		} else if !c.before[e.Name()] {
			_ = os.RemoveAll(filepath.Join(c.dir, e.Name())) // it follows no link; what cannot be removed stays
		}
	}
}

// flood ends the process for too much output.
func (c *child) flood(stream string) {
	c.end(fmt.Sprintf("wrote more than %s to its %s in one trial", size(c.limits.Output), stream))
}

// finished reports whether it has ended, or is being ended.
func (c *child) finished() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// why returns the verdict.
func (c *child) why() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.verdict
}

// used returns the most that it took.
func (c *child) used() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.peak
}

// awaitGone reports whether nothing is left of it, waiting up to patience.
func (c *child) awaitGone(patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.gone:
		return true
	case <-timer.C:
		return false
	}
}

// Wait implements runner.Runner.
func (c *child) Wait(context.Context) error {
	<-c.gone
	return c.waitErr
}

// Kill implements runner.Runner.
func (c *child) Kill(context.Context) error {
	c.end("")
	return nil
}

// Stdout implements runner.Runner: the handshake and nothing more.
func (c *child) Stdout() io.ReadCloser { return c.handshake }

// Stderr implements runner.Runner. What the plugin writes there is read by the
// child itself; go-plugin would parse every line of it.
func (c *child) Stderr() io.ReadCloser { return c.silence }

// Name implements runner.Runner.
func (c *child) Name() string { return c.source.Name }

// ID implements runner.Runner.
func (c *child) ID() string {
	if c.cmd == nil || c.cmd.Process == nil {
		return ""
	}
	return fmt.Sprint(c.cmd.Process.Pid)
}

// Diagnose implements runner.Runner; the failures explain themselves.
func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner: both sides see the same addresses.
func (c *child) PluginToHost(network, address string) (string, string, error) {
	return network, address, nil
}

// HostToPlugin implements runner.Runner.
func (c *child) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
