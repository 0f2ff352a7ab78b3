package isolate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// without has the system refuse a call to the calling thread, as containers do.
func without(t *testing.T, errno unix.Errno, calls ...uint32) {
	t.Helper()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	p := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: atNumber}}
	for _, call := range calls {
		p = append(p, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	}
	p = append(p, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		t.Skip("this system has no seccomp: ", errno)
	}
}

// outcome is what a restricted thread could do.
type outcome struct {
	State        string
	Full         bool
	Reads, Dials bool
}

// tryOut enforces rules on a thread of its own, on a system that lacks calls.
func tryOut(t *testing.T, errno unix.Errno, lacks ...uint32) outcome {
	t.Helper()
	file := filepath.Join(t.TempDir(), "task.jsonl")
	if err := os.WriteFile(file, []byte("42"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome)
	go func() {
		runtime.LockOSThread() // for good
		defer close(done)
		if len(lacks) > 0 {
			without(t, errno, lacks...)
		}
		s := Enforce(Rules{Read: System()})
		o := outcome{State: s.String(), Full: s.Full()}
		if fd, err := unix.Open(file, unix.O_RDONLY, 0); err == nil {
			o.Reads = unix.Close(fd) == nil
		}
		if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err == nil {
			err = unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
			o.Dials = !errors.Is(err, unix.EACCES)
			_ = unix.Close(fd)
		}
		done <- o
	}()
	o, ok := <-done
	if !ok {
		t.SkipNow()
	}
	return o
}

// TestMatrix: what is in force where a system offers less, and what is said of
// it. A container that denies namespaces takes nothing away, since none is used.
func TestMatrix(t *testing.T) {
	whole := tryOut(t, 0)
	if !whole.Full {
		t.Skip("this system offers less: ", whole.State)
	}
	landlock, _, _ := strings.Cut(whole.State, ",")
	for _, c := range []struct {
		name  string
		errno unix.Errno
		lacks []uint32
		want  outcome
	}{
		{"everything", 0, nil, outcome{State: landlock + ", network=seccomp", Full: true}},
		{"no namespaces", unix.EPERM, []uint32{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CLONE3}, outcome{State: landlock + ", network=seccomp", Full: true}},
		{"no Landlock", unix.ENOSYS, []uint32{unix.SYS_LANDLOCK_CREATE_RULESET},
			outcome{State: "files=none, network=seccomp (landlock: function not implemented)", Reads: true}},
		{"Landlock is off", unix.EOPNOTSUPP, []uint32{unix.SYS_LANDLOCK_CREATE_RULESET},
			outcome{State: "files=none, network=seccomp (landlock: operation not supported)", Reads: true}},
		{"no seccomp", unix.EPERM, []uint32{unix.SYS_SECCOMP},
			outcome{State: landlock + ", network=landlock for TCP alone (seccomp: operation not permitted)", Full: false}},
		{"neither", unix.EPERM, []uint32{unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET},
			outcome{State: "not isolated: landlock: operation not permitted; seccomp: operation not permitted", Reads: true, Dials: true}},
	} {
		got := tryOut(t, c.errno, c.lacks...)
		t.Logf("%-16s root=%t  %s", c.name, os.Geteuid() == 0, got.State)
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestOrdinaryUser runs the matrix again as nobody, if this user may.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the matrix is run as an ordinary user already")
	}
	raw, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "isolate")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "isolate.test")
	if err := errors.Join(os.WriteFile(binary, raw, 0o755), os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o777),
		os.Chmod(filepath.Join(dir, "tmp"), 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^TestMatrix$", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

// TestRootLosesItsPower: what root's plugin starts has no capability that
// changes the machine.
func TestRootLosesItsPower(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has any")
	}
	out := make(chan string)
	go func() {
		runtime.LockOSThread()
		Enforce(Rules{Read: System()})
		raw, err := exec.Command("/bin/grep", "CapEff", "/proc/self/status").CombinedOutput()
		if err != nil {
			raw = []byte(err.Error())
		}
		out <- string(raw)
	}()
	if got := strings.Join(strings.Fields(<-out), " "); got != "CapEff: 000000000000000f" {
		t.Errorf("capabilities: %s", got)
	}
}

// TestProgram: what a command needs, whether it is a program, a script or one
// behind env.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	script := filepath.Join(bin, "run")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(script, []byte("#!/usr/bin/env -S python3 -u\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	roots, python := Program([]string{"./bin/run", "x"}, dir, "")
	if !slices.Contains(roots, script) || !slices.Contains(roots, filepath.Join(dir, "lib")) {
		t.Errorf("roots of a script: %q", roots)
	}
	if want := locate("python3", dir); python != want {
		t.Errorf("python = %q, want %q", python, want)
	}
	if roots, _ := Program([]string{script}, dir, script); slices.Contains(roots, filepath.Join(dir, "lib")) {
		t.Errorf("beside the plugin's own file it may read %q", roots)
	}
	if got := Without([]string{"/home/me", "/home/me/lib", "/home"}, []string{"/home/me"}); !slices.Equal(got, []string{"/home/me/lib"}) {
		t.Errorf("without the home: %q", got)
	}
	if got := (State{Files: "landlock 7", Open: true}).String(); got != "files=landlock 7, network=permitted" {
		t.Errorf("state = %q", got)
	}
}
