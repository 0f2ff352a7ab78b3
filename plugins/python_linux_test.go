package plugins

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func python(t *testing.T) *Python {
	t.Helper()
	p, err := FindPython()
	if err != nil {
		t.Skip(err)
	}
	return p
}

func TestPythonPrints(t *testing.T) {
	p := python(t)
	for program, want := range map[string]string{
		"print(6 * 7)":                                              "42\n",
		"import math, fractions\nprint(math.pi)":                    "3.141592653589793\n",
		"open('x', 'w').write('ä'); print(open('x').read())":        "ä\n",
		"print(sorted({'a', 'b', 'c'}), list({'a', 'b', 'c'}) * 0)": "['a', 'b', 'c'] []\n",
		"if __name__ == '__main__':\n    print('main')":             "main\n",
		"": "",
	} {
		if got, err := p.Run(t.Context(), program); err != nil || got.Output != want || got.Fault != "" {
			t.Errorf("%q: %+v, %v", program, got, err)
		}
	}
	got, err := p.Run(t.Context(), "print(1)\nprint(1 / 0)")
	if err != nil || got.Output != "1\n" || !strings.Contains(got.Fault, `File "program.py", line 2`) || !strings.Contains(got.Fault, "ZeroDivisionError") {
		t.Errorf("a program that fails: %+v, %v", got, err)
	}
	for range 3 { // sets come in one order in each process
		again, err := p.Run(t.Context(), "print({str(i) for i in range(20)})")
		first, also := p.Run(t.Context(), "print({str(i) for i in range(20)})")
		if err != nil || also != nil || again != first {
			t.Errorf("%v and %v", again, first)
		}
	}
}

// TestHostilePrograms: what programs must not do fails, within the time that one has, and
// leaves nothing behind.
func TestHostilePrograms(t *testing.T) {
	p := python(t)
	p.time = 2 * time.Second
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir()) // what is left there is of this test
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	for name, program := range map[string]string{
		"reads a user's file":     fmt.Sprintf("print(open(%q).read())", secret),
		"writes a user's file":    fmt.Sprintf("open(%q, 'w').write('x')", secret),
		"removes a user's file":   fmt.Sprintf("import os; os.remove(%q)", secret),
		"changes a mode":          fmt.Sprintf("import os; os.chmod(%q, 0o777)", secret),
		"lists the home":          fmt.Sprintf("import os; print(os.listdir(%q))", home),
		"writes beside itself":    "open('../noema-beside', 'w').write('x')",
		"connects":                fmt.Sprintf("import socket; socket.create_connection(('127.0.0.1', %d), 3); print('in')", port),
		"resolves a name":         "import socket; print(socket.gethostbyname('example.org'))",
		"forks for ever":          "import os\nwhile True:\n    os.fork()",
		"starts threads":          "import threading\nfor i in range(1000):\n    threading.Thread(target=lambda: __import__('time').sleep(60)).start()\nprint('started')",
		"takes memory":            "x = bytearray(4 << 30); print(len(x))",
		"takes memory in pieces":  "x = []\nwhile True:\n    x.append(bytearray(1 << 20))",
		"fills the disk":          "f = open('x', 'wb')\nfor i in range(1000):\n    f.write(bytes(1 << 20))\nprint('full')",
		"raises its limits":       "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40)); print('raised')",
		"kills its parent":        "import os, signal; os.kill(os.getppid(), signal.SIGKILL); print('killed')",
		"floods its output":       "while True:\n    print('x' * 1000)",
		"floods its error stream": "import sys\nwhile True:\n    sys.stderr.write('x' * 1000)",
		"sleeps":                  "import time; time.sleep(1000)",
		"never ends":              "while True:\n    pass",
		"is deaf to signals":      "import signal, time\nfor s in range(1, 32):\n    try: signal.signal(s, signal.SIG_IGN)\n    except Exception: pass\ntime.sleep(1000)",
		"does not parse":          "def (",
		"holds a null":            "print('\x00')",
		"ends by a signal":        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
		"recurses":                "import sys; sys.setrecursionlimit(10**9)\ndef f(): return f()\nf()",
		"is too long":             strings.Repeat("#", maxProgram+1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			got, err := p.Run(t.Context(), program)
			if err != nil || got.Fault == "" {
				t.Errorf("%q came to %.200q, %v", program, got.Output, err)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if len(got.Output) > programOutput+100 || len(got.Fault) > tailBytes+200 {
				t.Errorf("%d bytes of output, %d of faults", len(got.Output), len(got.Fault))
			}
		})
	}
	t.Cleanup(func() { // after all of them
		if raw, err := os.ReadFile(secret); err != nil || string(raw) != "key" {
			t.Errorf("the user's file is %q, %v", raw, err)
		}
		if _, err := os.Stat(filepath.Join(os.TempDir(), "noema-beside")); err == nil {
			t.Error("a program has written outside of its folder")
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "noema-python-*")); len(left) > 0 {
			t.Errorf("folders are left: %v", left)
		}
	})
}

// TestProgramsLeaveNothing: a process that a program has left running ends with it.
func TestProgramsLeaveNothing(t *testing.T) {
	p := python(t)
	got, err := p.Run(t.Context(), "import os, time\npid = os.fork()\nif pid == 0:\n    os.setsid()\n    time.sleep(1000)\nprint(pid)")
	if err != nil {
		t.Fatal(err)
	}
	if got.Fault != "" { // only root may fork
		t.Skip(got.Fault)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(got.Output))
	if err != nil || syscall.Kill(pid, 0) == nil {
		t.Errorf("process %q is alive, %v", got.Output, err)
	}
}

// TestCancelledProgram: a program ends with the context.
func TestCancelledProgram(t *testing.T) {
	p := python(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := p.Run(ctx, "import time; time.sleep(1000)"); err == nil || time.Since(began) > p.time/2 {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}
