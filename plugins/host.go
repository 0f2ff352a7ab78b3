package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"

	"noema/methods"
	"noema/plugins/internal/isolate"
)

// HostOptions tune a Host; the zero value is good for most uses.
type HostOptions struct {
	MaxIdle      int           // processes kept ready between trials, over all plugins; 0 means 8
	MaxProcesses int           // of one plugin that trials share; 0 means one per core
	StartTimeout time.Duration // for a process to answer; 0 means 30 s
	StopGrace    time.Duration // for a cancelled trial, or a process that is no longer needed, to end; 0 means 2 s
	Limits       Limits        // of each plugin process
	// Memory is the most resident bytes of all plugin processes together; 0 means
	// half of the machine's memory, and a negative number no limit. Beyond it, idle
	// processes are ended first, and then the largest. Only on Linux.
	Memory int64
	// Started is called with the id of each process before it serves, for a
	// debugger; nil for none. With it, breakpoint() of a plugin in Python waits for
	// a terminal.
	Started func(plugin Source, pid int)

	speaks   []int // protocol versions, oldest first; nil means this package's
	cageless bool  // makes no cgroups
	landlock int   // the newest version of Landlock to use, as on an older system; 0 means any
}

// Host starts, reuses and ends plugin processes. It is safe for concurrent
// use.
type Host struct {
	opts    HostOptions
	tempDir string
	cages   *cages
	pythons pythons

	alone *semaphore.Weighted // slots for trials in a process of their own

	mu      sync.Mutex
	pools   map[string]*pool // by source
	started int              // processes so far
	uses    int              // leases so far
	usage   Usage
	closed  bool

	memory total
}

// NewHost returns a Host without any process. Close it to end them all.
func NewHost(opts HostOptions) (*Host, error) {
	opts.MaxIdle = cmp.Or(opts.MaxIdle, 8)
	opts.MaxProcesses = cmp.Or(opts.MaxProcesses, runtime.GOMAXPROCS(0))
	opts.StartTimeout = cmp.Or(opts.StartTimeout, 30*time.Second)
	opts.StopGrace = cmp.Or(opts.StopGrace, 2*time.Second)
	if opts.speaks == nil {
		opts.speaks = protocols()
	}
	opts.Limits = opts.Limits.withDefaults()
	opts.Memory = pick(opts.Memory, machineMemory()/2)
	base := tempBase()
	sweep(base)
	dir, err := os.MkdirTemp(base, tempPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, fmt.Errorf("open plugin host: %w", err)
	}
	adoptOrphans()
	h := &Host{
		opts: opts, tempDir: dir, cages: &cages{}, pools: map[string]*pool{},
		alone: semaphore.NewWeighted(int64(2 * opts.MaxProcesses)),
	}
	h.memory = total{limit: opts.Memory, held: map[*child]int64{}}
	if !opts.cageless {
		h.cages = openCages()
	}
	if err := errors.Join(os.Mkdir(h.outside(), 0o700), layOut(h.outside())); err != nil {
		return nil, errors.Join(fmt.Errorf("open plugin host: %w", err), h.Close())
	}
	return h, nil
}

// outside is a folder that no plugin may reach.
func (h *Host) outside() string { return filepath.Join(h.tempDir, "outside") }

// maxBase is how long the name of the folder for temporary ones may be: a
// socket's address has room for about a hundred bytes, and below the folder
// there are three more names.
const maxBase = 32

// tempBase is where temporary folders are made: where the user wants them, if
// sockets can be opened there.
func tempBase() string {
	dir := os.TempDir()
	if len(dir) <= maxBase {
		return dir
	}
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return dir
}

// tempPrefix begins the name of a host's temporary folder; the process id
// follows.
const tempPrefix = "noema-plugins-"

// sweep removes the temporary folders of kernels that were killed, and kills
// what their plugins had started.
func sweep(dir string) {
	for _, path := range abandoned(dir) {
		killMarked(path)
		_ = os.RemoveAll(path) // another kernel may sweep at the same time
	}
}

// abandoned returns the folders that kernels made which are no longer there.
func abandoned(dir string) []string {
	paths, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if err != nil { // the pattern is a constant
		return nil
	}
	var dead []string
	for _, path := range paths {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), tempPrefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil {
			continue
		}
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			dead = append(dead, path)
		}
	}
	return dead
}

// Usage returns the most that any plugin process took so far, to within the
// tenth of a second between two measurements.
func (h *Host) Usage() Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.usage
}

func (h *Host) note(c *child, u Usage) {
	h.mu.Lock()
	h.usage = h.usage.most(u)
	h.mu.Unlock()
	if h.memory.note(c, u.Memory) {
		h.relieve()
	}
}

// Close ends every process. Trials under way should have ended before.
func (h *Host) Close() error {
	h.mu.Lock()
	var all []*process
	for _, p := range h.pools {
		all = append(all, p.processes...)
		p.wake()
	}
	h.pools, h.closed = nil, true
	h.mu.Unlock()
	var ending sync.WaitGroup
	for _, p := range all {
		ending.Go(p.stop)
	}
	ending.Wait()
	killOrphans(true)
	h.cages.close()
	return os.RemoveAll(h.tempDir)
}

// Plugin is a method in another process. It implements methods.Method and
// methods.Describer.
type Plugin struct {
	host   *Host
	source Source
	desc   methods.Description

	isolation isolate.State
}

var (
	_ methods.Method    = (*Plugin)(nil)
	_ methods.Describer = (*Plugin)(nil)
)

// Open starts the plugin once to ask for its description. A plugin without a
// name gets the source's. A built-in method with another name is an error.
func (h *Host) Open(ctx context.Context, src Source) (*Plugin, error) {
	proc, err := h.lease(ctx, src)
	if err != nil {
		return nil, err
	}
	desc, err := proc.describe(ctx, cmp.Or(src.StartLimit, h.opts.StartTimeout))
	h.release(proc, err)
	if err != nil {
		return nil, err
	}
	desc.Name = cmp.Or(desc.Name, src.Name)
	if src.Builtin && desc.Name != src.Name {
		return nil, fmt.Errorf("open plugin %q: it calls itself %q", src.Name, desc.Name)
	}
	return &Plugin{host: h, source: src, desc: desc, isolation: proc.child.isolation}, nil
}

// Describe returns what the plugin said of itself when it was opened.
func (p *Plugin) Describe() methods.Description { return p.desc }

// Fresh reports whether [Alone] gives a trial a process that has served none without
// anybody's help, such as that of a person who attaches a debugger.
func (p *Plugin) Fresh() bool { return p.host.opts.Started == nil }

// Source returns where the plugin's code is.
func (p *Plugin) Source() Source { return p.source }

// Solve runs one trial, in a process that may serve others at the same time
// unless ctx is from [Alone]. An error that wraps a *Failure is the process's,
// any other the method's own. A Failure that is Shared may be another trial's
// doing: run the trial again, with a new Host and Alone, to find out, and with
// Alone(Alone(ctx)) if that is Shared too.
func (p *Plugin) Solve(ctx context.Context, problem methods.Problem, h methods.Host) (methods.Answer, error) {
	proc, err := p.host.lease(ctx, p.source)
	if err != nil {
		return methods.Answer{}, err
	}
	end := proc.child.out.follow(ctx)
	answer, err := proc.solve(ctx, problem, h)
	end()
	p.host.release(proc, err)
	return answer, err
}
