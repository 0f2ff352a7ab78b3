package plugins

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"noema/kernel/base/files"
	"noema/plugins/internal/isolate"
)

// OwnNetwork is the variable of a [Program] that is in a network of its own.
const OwnNetwork = "NOEMA_OWN_NETWORK"

// pythons remembers what each Python said of itself.
type pythons struct {
	mu   sync.Mutex
	told map[isolate.Found]isolate.Interpreter
}

func (p *pythons) of(found isolate.Found, env []string) (isolate.Interpreter, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in, ok := p.told[found]; ok {
		return in, nil
	}
	in, err := isolate.Python(found, env)
	if err != nil {
		return in, err
	}
	if p.told == nil {
		p.told = map[isolate.Found]isolate.Interpreter{}
	}
	p.told[found] = in
	return in, nil
}

// rules are what the plugin may do: read its code, the system and its
// interpreter, write in its temporary folders, and what the user granted. The
// folder where noema runs, the user's home and the store are never given away
// together with an interpreter's folder that holds them.
func (c *child) rules() (isolate.Rules, error) {
	s := c.source
	own := s.Path
	if s.File || s.Program != nil {
		own = s.Command[0] // this program
	}
	roots, python := isolate.Program(s.Command, c.dir, own)
	if s.Program != nil {
		more, of := isolate.Program(s.Starts, c.dir, own)
		roots, python = append(roots, more...), of
	}
	if python.Path != "" {
		in, err := c.pythons.of(python, c.env)
		if err != nil {
			return isolate.Rules{}, err
		}
		roots = append(roots, in.Roots...)
		c.prefer(python.Path, in.Executable)
	}
	r := isolate.Rules{Read: append(isolate.System(), isolate.Without(roots, private())...), Outside: c.outside, Landlock: c.landlock}
	for _, own := range []string{s.Dir, s.Path} {
		if own != "" {
			r.Read = append(r.Read, own)
		}
	}
	r.Read = append(r.Read, s.installed()...)
	r.Loopback = s.Program != nil
	r.Write = []string{c.dir, c.socketDir()}
	if s.Granted {
		r.Read, r.Network = append(r.Read, s.Read...), s.Network
	}
	if c.noApart {
		r.Network = true
	}
	r.Loopback = r.Loopback && !r.Network
	return r, nil
}

// installed are the folders of packages beside the code, to which a copy of it only links. A
// link to anything of another name gives nothing away.
func (s Source) installed() (dirs []string) {
	for _, name := range []string{".venv", "node_modules"} {
		if dir, err := filepath.EvalSymlinks(filepath.Join(s.Dir, name)); s.Dir != "" && err == nil && filepath.Base(dir) == name {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// prefer has the plugin started by the Python itself instead of what may be a script
// that chooses one, which would read files elsewhere.
func (c *child) prefer(found, executable string) {
	if strings.HasPrefix(filepath.Base(c.cmd.Path), "python") {
		c.cmd.Path = executable
	}
	for i, word := range c.cmd.Args[1:] { // behind env
		if word == found {
			c.cmd.Args[1+i] = executable
		}
	}
	for i, pair := range c.cmd.Env {
		if path, ok := strings.CutPrefix(pair, "PATH="); ok {
			c.cmd.Env[i] = "PATH=" + filepath.Dir(executable) + string(os.PathListSeparator) + path
		}
	}
}

// variable is a variable of the plugin's environment.
func (c *child) variable(name string) string {
	for _, pair := range c.env {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// socketDir is the folder for the plugin's socket.
func (c *child) socketDir() string { return cmp.Or(c.variable("PLUGIN_UNIX_SOCKET_DIR"), c.dir) }

// private are places that no interpreter's folder may hold.
func private() []string {
	var all []string
	if dir, err := os.Getwd(); err == nil {
		all = append(all, dir)
	}
	if dir, err := os.UserHomeDir(); err == nil {
		all = append(all, dir)
	}
	if dir := os.Getenv("NOEMA_HOME"); dir != "" {
		all = append(all, dir)
	}
	return all
}

// under calls do on a thread that is restricted first, and returns at once. The
// thread ends with do, and nothing else ever runs under its restrictions. It is
// never the process's first, to which the system gives orphans.
func under(rules isolate.Rules, do func(isolate.State)) {
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		if onFirstThread() {
			go func() {
				runtime.LockOSThread()
				close(elsewhere)
				do(isolate.Enforce(rules))
			}()
			<-elsewhere
			runtime.UnlockOSThread()
			return
		}
		do(isolate.Enforce(rules))
	}()
}

// hold starts the process from a restricted thread, and keeps that thread until
// nothing of it is left: the system kills the process when the thread that started
// it ends, and takes it for an orphan.
func (c *child) hold(started chan<- error, exited chan<- struct{}) {
	rules, err := c.rules()
	if err != nil {
		started <- err
		return
	}
	under(rules, func(inForce isolate.State) {
		c.isolation = inForce
		if rules.Loopback {
			isolate.Apart(c.cmd.SysProcAttr)
			c.isolation.Refused = append(c.isolation.Refused, "other hosts") // which the process tries first of all
			c.cmd.Env = append(c.cmd.Env, OwnNetwork+"=1")
		}
		if c.noApart {
			c.isolation.Left = append(c.isolation.Left, "the network (this system allows no user namespaces)")
		}
		err := c.cmd.Start()
		started <- err
		if err == nil {
			awaitExit(c.cmd.Process.Pid)
			close(exited)
			<-c.gone
		}
	})
}

// Isolation is what bounds the plugin's processes, as it is recorded, and
// whether that is all that it should be.
func (p *Plugin) Isolation() (inForce string, full bool) {
	return p.isolation.String(), p.isolation.Full()
}

// Isolated reports what bounds plugins on this machine, and whether that is all that it
// should be, before one is started.
func Isolated() (inForce string, full bool) {
	outside, err := os.MkdirTemp("", "noema-isolated-")
	if err != nil {
		return "not isolated: it cannot be tried: " + err.Error(), false
	}
	defer os.RemoveAll(outside)
	if err := layOut(outside); err != nil {
		return "not isolated: it cannot be tried: " + err.Error(), false
	}
	state := make(chan isolate.State)
	under(isolate.Rules{Outside: outside}, func(s isolate.State) { state <- s })
	s := <-state
	return s.String(), s.Full()
}

// layOut makes a file in a folder of which nothing is permitted to plugins, so that it can be
// tried whether they reach it.
func layOut(outside string) error {
	return os.WriteFile(filepath.Join(outside, "file"), []byte("secret"), 0o600)
}

// explain adds to an error of the method what a denied file or connection has to
// do with isolation, and how to permit it.
func (c *child) explain(err error) error {
	if cure := c.missed(err); cure != "" {
		return fmt.Errorf("%w; %s", err, cure)
	}
	if err == nil || !c.denied(err.Error()) {
		return err
	}
	return fmt.Errorf("%w; %s", err, c.cure())
}

// missed tells of a file that the method did not find since it was not copied with its code.
func (c *child) missed(err error) string {
	if err == nil {
		return ""
	}
	for _, l := range c.source.Left {
		if name := filepath.Base(l.Name); strings.Contains(err.Error(), name) {
			if l.Task {
				return fmt.Sprintf("%s was not copied with its code: %s", l.Name, l.Why)
			}
			return fmt.Sprintf("%s was not copied with its code: %s: to have it copied, write \"files: [%s]\" in the %s of its folder", l.Name, l.Why, l.Name, ManifestName)
		}
	}
	return ""
}

// denied reports whether a text tells of something that isolation refuses.
func (c *child) denied(text string) bool {
	return len(c.isolation.By) > 0 && strings.Contains(strings.ToLower(text), "permission denied")
}

func (c *child) cure() string {
	in := "its " + ManifestName
	if c.source.Dir == "" {
		in = "the " + ManifestName + " of a folder for it"
	}
	return fmt.Sprintf("plugin %q is isolated: it reads only its own code and the system's libraries, and opens no connection: "+
		"to permit more, write \"read: [PATH]\" or \"network: true\" in %s, then run: noema plugin allow %s", c.source.Name, in, files.Word(c.source.Name))
}
