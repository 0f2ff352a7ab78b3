package plugins

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"noema/plugins/internal/isolate"
)

// What one program of Python may take, beside what its isolation forbids.
const (
	programTime   = 10 * time.Second // of the clock
	programMemory = 1 << 30          // bytes of address space
	programOutput = 64 << 10         // bytes of each stream that are kept; one that writes 16 times as much is ended
	programFile   = 16 << 20         // bytes of one file
	maxProgram    = 256 << 10        // bytes of the program
)

// Python runs programs that a model wrote, each in a process of its own.
type Python struct {
	interpreter isolate.Interpreter
	time        time.Duration // of the clock, for one program
}

// Printed is what a program came to.
type Printed struct {
	Output string // its standard output
	Fault  string // why it failed, with the end of its standard error; empty if it ended well
}

// FindPython finds the Python of this machine and tries its isolation. The error says
// what is missing: programs of models are not run where they cannot be isolated.
func FindPython() (*Python, error) {
	path, err := exec.LookPath("python3")
	if err != nil {
		return nil, errors.New("no python3 on this machine: install Python")
	}
	in, err := isolate.Python(isolate.Found{Path: path}, os.Environ())
	if err != nil {
		return nil, err
	}
	if inForce, full := Isolated(); !full {
		return nil, fmt.Errorf("programs of models are run only where they can be isolated: %s", inForce)
	}
	return &Python{in, programTime}, nil
}

// limited sets the limits of the process, which it cannot raise again, and runs the
// program as a file of that name. Only root may start further processes.
const limited = `import resource, runpy
for what, most in ((resource.RLIMIT_AS, %d), (resource.RLIMIT_CPU, %d), (resource.RLIMIT_FSIZE, %d), (resource.RLIMIT_NOFILE, 64), (resource.RLIMIT_NPROC, 0), (resource.RLIMIT_CORE, 0)):
    resource.setrlimit(what, (most, most))
runpy.run_path("program.py", run_name="__main__")`

// Run runs a program to its end, isolated as a plugin is: it reads the system's and
// Python's files, writes to its own empty folder and opens no connection. A program that
// fails is a Fault; the error is that of ctx or of the machine. Processes that it started
// end with it.
func (p *Python) Run(ctx context.Context, program string) (Printed, error) {
	if fault := tooLong(program); fault != "" {
		return Printed{Fault: fault}, nil
	}
	var out head
	printed, err := p.run(ctx, p.time, map[string]string{"program.py": program}, nil, &out)
	printed.Output = out.String()
	return printed, err
}

func tooLong(program string) string {
	if len(program) <= maxProgram {
		return ""
	}
	return fmt.Sprintf("the program has %d bytes: the limit is %d", len(program), maxProgram)
}

// run runs the file program.py of some, for so long of the clock. Its standard input and
// output are in and out.
func (p *Python) run(ctx context.Context, most time.Duration, named map[string]string, in io.Reader, out io.Writer) (Printed, error) {
	dir, err := os.MkdirTemp("", "noema-python-")
	if err != nil {
		return Printed{}, fmt.Errorf("run a program: %w", err)
	}
	defer RemoveAll(dir)
	for name, text := range named {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return Printed{}, fmt.Errorf("run a program: %w", err)
		}
	}
	within, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	var flooded atomic.Bool
	said := &output{limit: 16 * programOutput, flood: func(string) {
		flooded.Store(true)
		cancel()
	}}
	cmd := exec.Command(p.interpreter.Executable, "-B", "-s", "-c", fmt.Sprintf(limited, programMemory, int(p.time/time.Second)+1, programFile))
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, in, out, said.stream("stderr")
	if _, piped := out.(*os.File); !piped {
		cmd.Stdout = io.MultiWriter(out, said.stream("stdout"))
	}
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LANG=C.UTF-8", "PYTHONHASHSEED=0", "PYTHONIOENCODING=utf-8"}
	err = Confined(within, cmd, dir, isolate.Without(p.interpreter.Roots, private()), nil)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Printed{}, fmt.Errorf("run a program: %w", ctx.Err())
	case flooded.Load():
		return Printed{Fault: fmt.Sprintf("it was ended: it wrote more than %s", size(16*programOutput))}, nil
	case within.Err() != nil:
		return Printed{Fault: fmt.Sprintf("it was ended after %v", most)}, nil
	case errors.As(err, &exit):
		return Printed{Fault: strings.TrimSpace(strings.ReplaceAll(said.String(), dir+"/", "") + "\n" + exit.String())}, nil
	case err != nil:
		return Printed{}, fmt.Errorf("run a program: %w", err)
	}
	return Printed{}, nil
}

// RemoveAll removes a folder, whatever modes a program has given to what is in it. What is
// left stays without a word: it is a temporary folder.
func RemoveAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// head keeps the beginning of what is written to it.
type head struct {
	kept []byte
	left int // bytes that were not kept
}

// Write implements io.Writer and never fails.
func (h *head) Write(b []byte) (int, error) {
	n := min(len(b), programOutput-len(h.kept))
	h.kept, h.left = append(h.kept, b[:n]...), h.left+len(b)-n
	return len(b), nil
}

// String is the beginning as text, with a note of what is left out.
func (h *head) String() string {
	text := string(bytes.ToValidUTF8(h.kept, []byte("\ufffd")))
	if h.left > 0 {
		text += fmt.Sprintf("\n(%d bytes more)", h.left)
	}
	return text
}
