package isolate

import (
	"errors"
	"fmt"
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

// tryOut enforces rules on a thread of its own, on a system that lacks calls.
func tryOut(t *testing.T, r Rules, errno unix.Errno, lacks ...uint32) State {
	t.Helper()
	r.Read, r.Outside = System(), t.TempDir()
	if err := os.WriteFile(filepath.Join(r.Outside, "file"), []byte("42"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := make(chan State)
	go func() {
		runtime.LockOSThread() // for good
		defer close(done)
		if len(lacks) > 0 {
			without(t, errno, lacks...)
		}
		done <- Enforce(r)
	}()
	s, ok := <-done
	if !ok {
		t.SkipNow()
	}
	return s
}

// TestMatrix: what is refused where a system offers less, and that all else is
// told. A container that denies namespaces takes nothing away, since none is used.
func TestMatrix(t *testing.T) {
	whole := tryOut(t, Rules{}, 0)
	if !whole.Full() {
		t.Skip("this system offers less: ", whole)
	}
	var all, bySeccomp []string
	for _, row := range refusals(Rules{}) {
		bySeccomp = append(bySeccomp, row.what)
	}
	all = append([]string{"files outside", "signals", "capabilities"}, bySeccomp...)
	var version int
	if _, err := fmt.Sscanf(whole.By[0], "landlock %d", &version); err != nil {
		t.Fatal(err)
	}
	const signals, truncation = "signals", "files outside (truncate)"
	type system struct {
		name  string
		rules Rules
		errno unix.Errno
		lacks []uint32
		left  []string // beside what seccomp refuses, if that is missing
	}
	systems := []system{
		{"everything", Rules{}, 0, nil, nil},
		{"everything, with the network granted", Rules{Network: true}, 0, nil, nil},
		{"no namespaces", Rules{}, unix.EPERM, []uint32{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_CLONE3}, nil},
		{"no Landlock", Rules{}, unix.ENOSYS, []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}, []string{"files outside", signals}},
		{"Landlock is off", Rules{}, unix.EOPNOTSUPP, []uint32{unix.SYS_LANDLOCK_CREATE_RULESET}, []string{"files outside", signals}},
		{"no seccomp", Rules{}, unix.EPERM, []uint32{unix.SYS_SECCOMP}, append([]string{signals}, bySeccomp...)},
		{"neither", Rules{}, unix.EPERM, []uint32{unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET}, append([]string{"files outside", signals}, bySeccomp...)},
	}
	for v := 1; v <= version; v++ {
		var left []string
		if v < 3 {
			left = append(left, truncation)
		}
		if v < 6 {
			left = append(left, signals)
		}
		systems = append(systems, system{fmt.Sprintf("Landlock %d", v), Rules{Landlock: v}, 0, nil, left})
	}
	for _, c := range systems {
		got := tryOut(t, c.rules, c.errno, c.lacks...)
		t.Logf("%-16s root=%t  %s", c.name, os.Geteuid() == 0, got)
		if !slices.Equal(bare(got.Left), bare(c.left)) || got.Full() != (len(c.left) == 0) {
			t.Errorf("%s: not refused are %q, want %q", c.name, got.Left, c.left)
		}
		for _, what := range all {
			told := slices.Contains(got.Refused, what) || slices.Contains(bare(got.Left), what)
			if !told && !(c.rules.Network && what == "the network") {
				t.Errorf("%s: nothing is said of %s", c.name, what)
			}
		}
		if len(got.Seen) != 3 {
			t.Errorf("%s: it sees %q", c.name, got.Seen)
		}
	}
}

// bare are the things without the ways, which depend on what a system knows.
func bare(left []string) (out []string) {
	for _, l := range left {
		what, _, _ := strings.Cut(l, " (")
		out = append(out, what)
	}
	return out
}

// TestCallsThatNobodyHasJudged: of all numbers, those of the kernel's own table and those that a
// newer kernel may use, none passes but what is permitted.
func TestCallsThatNobodyHasJudged(t *testing.T) {
	if s := tryOut(t, Rules{}, 0); !s.Full() {
		t.Skip("this system offers less: ", s)
	}
	listed := slices.Concat(permitted, permittedHere)
	for _, row := range refusals(Rules{}) {
		for _, c := range row.calls {
			if whole := c.only == nil && c.never == nil && c.either == nil; whole && c.number != unix.SYS_CONNECT && slices.Contains(listed, c.number) {
				t.Errorf("%s is permitted and refused", c.name)
			}
		}
	}
	passed := make(chan []uintptr)
	go func() {
		runtime.LockOSThread()
		Enforce(Rules{Read: System()})
		var all []uintptr
		for number := range uintptr(1200) {
			if slices.Contains(listed, number) || number == 335 || number == 336 {
				continue // the last two return from probes, pass every filter and end who has none
			}
			bad := ^uintptr(0)
			if _, _, errno := unix.Syscall6(number, bad, bad, bad, bad, bad, bad); !refused(errno) {
				all = append(all, number)
			}
		}
		passed <- all
	}()
	if all := <-passed; len(all) > 0 {
		t.Errorf("not refused are the calls %d", all)
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
	cmd := exec.Command(binary, "-test.run=^(TestMatrix|TestCallsThatNobodyHasJudged)$", "-test.v")
	cmd.Dir, cmd.Env = "/", []string{"TMPDIR=" + filepath.Join(dir, "tmp")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

// TestRootLosesItsPower: what root's plugin starts has no capability.
func TestRootLosesItsPower(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has any")
	}
	out := make(chan string)
	go func() {
		runtime.LockOSThread()
		Enforce(Rules{Read: System()})
		raw, err := exec.Command("/bin/grep", "Cap", "/proc/self/status").CombinedOutput()
		if err != nil {
			raw = []byte(err.Error())
		}
		out <- string(raw)
	}()
	for line := range strings.Lines(<-out) {
		if !strings.HasSuffix(line, ":\t0000000000000000\n") {
			t.Errorf("capabilities: %s", line)
		}
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
	if want := (Found{Path: locate("python3", dir)}); python != want {
		t.Errorf("python = %+v, want %+v", python, want)
	}
	if roots, _ := Program([]string{script}, dir, script); slices.Contains(roots, filepath.Join(dir, "lib")) {
		t.Errorf("beside the plugin's own file it may read %q", roots)
	}
	if got := Without([]string{"/home/me", "/home/me/lib", "/home"}, []string{"/home/me"}); !slices.Equal(got, []string{"/home/me/lib"}) {
		t.Errorf("without the home: %q", got)
	}
	s1 := State{By: []string{"landlock 7"}, Refused: []string{"files outside"}, Left: []string{"signals"}, Why: "seccomp: x"}
	if got := s1.String(); got != "refused: files outside (landlock 7); not refused: signals (seccomp: x); can be seen: none" {
		t.Errorf("state = %q", got)
	}
}

// TestTheTableOfRefusals: the page for users lists what the filter refuses.
func TestTheTableOfRefusals(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the page has the calls of the machine that has most")
	}
	raw, err := os.ReadFile("../../WRITE.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := table(); !strings.Contains(string(raw), want) {
		t.Errorf("WRITE.md lacks the table:\n%s", want)
	}
}

// table lists the refusals for users, a row each.
func table() string {
	var b strings.Builder
	for _, row := range refusals(Rules{}) {
		var names []string
		for _, c := range row.calls {
			name := "`" + c.name + "`"
			switch {
			case c.never != nil:
				name += " (some)"
			case c.only != nil && row.errno == unix.EPERM:
				name += " (of another)"
			case c.only != nil:
				name += " (but local streams)"
			}
			names = append(names, name)
		}
		fmt.Fprintf(&b, "| %s | %s |\n", row.what, strings.Join(slices.Compact(names), ", "))
	}
	return b.String()
}
