package lab_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"noema/kernel/lab"
	"noema/kernel/session/builtin"
	"noema/kernel/task"
	"noema/methods"
	"noema/plugins"
)

// TestPythonTool: any task can be given the tool python, beside its own tools; what is
// wrong with a call is a result, and so is a program that fails.
func TestPythonTool(t *testing.T) {
	l := lab.Open(lab.Options{Catalog: builtin.Catalog{}})
	plain, err := l.Task("arithmetic?n=2", nil)
	if err != nil {
		t.Fatal(err)
	}
	given, err := l.Task("arithmetic?n=2&python=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	names := func(tk *lab.Task) (names []string) {
		for _, s := range tk.Environment.Tools() {
			names = append(names, s.Name)
		}
		return names
	}
	if got := names(given); !slices.Equal(got, append(names(plain), task.PythonTool)) || given.Version == plain.Version {
		t.Errorf("tools %v, version %s", got, given.Version)
	}
	if _, err := l.Task("arithmetic?python=3", nil); err == nil || !strings.Contains(err.Error(), "use true or false") {
		t.Errorf("python=3: %v", err)
	}
	if off, err := l.Task("arithmetic?n=2&python=false", nil); err != nil || off.Version != plain.Version {
		t.Errorf("python=false: %v", err)
	}
	call := func(args string) methods.ToolResult {
		r, err := given.Environment.Call(t.Context(), methods.ToolCall{Name: task.PythonTool, Arguments: []byte(args)})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := call(`{}`); !r.IsError {
		t.Errorf("a call without a program: %+v", r)
	}
	if _, err := plugins.FindPython(); err != nil {
		t.Skip(err)
	}
	if r := call(`{"program": "print(6 * 7)"}`); r.Content != "42\n" || r.IsError {
		t.Errorf("a program: %+v", r)
	}
	if r := call(`{"program": "print(6)\nprint(1 / 0)"}`); !strings.HasPrefix(r.Content, "6\n") || !strings.Contains(r.Content, "ZeroDivisionError") || !r.IsError {
		t.Errorf("a program that fails: %+v", r)
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return
	}
	attack, err := json.Marshal(map[string]string{"program": fmt.Sprintf(signalThreads, os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	if r := call(string(attack)); r.Content != "open []\n" || r.IsError {
		t.Errorf("signals to the threads of this process: %+v", r)
	}
}

// signalThreads is a program that sends signal 0 to every thread of a process by every call that
// names a thread, and prints the calls that could. Real ones would end the test.
const signalThreads = `
import ctypes, os
libc, noema, able = ctypes.CDLL(None), %d, []
for tid in [int(t) for t in os.listdir(f"/proc/{noema}/task")]:
    fd = os.open(f"/proc/{tid}", os.O_RDONLY | os.O_DIRECTORY)
    for number, args in ((424, (fd, 0, None, 0)), (62, (tid, 0)), (200, (tid, 0)), (234, (noema, tid, 0))):
        if libc.syscall(number, *args) == 0: able.append(number)
print("open", able)
`
