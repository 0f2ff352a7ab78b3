package isolate

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// x32 marks calls of another convention of amd64, which would pass the filter
// under other numbers.
const x32 = 0x4000_0000

// Where a filter finds what a thread asks for: struct seccomp_data. The first
// word of an argument is its lower half on the machines that are known here.
const (
	atNumber    = 0
	atArch      = 4
	atArguments = 16
)

// filter is a program of BPF that refuses what the rows say, all calls of other conventions, and,
// unless listed is nil, all that are not listed. Jumps are given as the number of instructions to skip.
func filter(arch uint32, rows []refusal, listed []uintptr) []unix.SockFilter {
	other := end(unix.EPERM)
	p := []unix.SockFilter{
		load(atArch), when(unix.BPF_JEQ, arch, 1, 0), other,
		load(atNumber), when(unix.BPF_JGE, x32, 0, 1), other,
	}
	for _, row := range rows {
		for _, c := range row.calls {
			body := c.refuse(end(row.errno))
			p = append(append(p, when(unix.BPF_JEQ, uint32(c.number), 0, uint8(len(body)))), body...)
		}
	}
	allow := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
	listed = slices.Sorted(slices.Values(listed))
	for i := 0; i < len(listed); { // each range of numbers without a gap
		first := listed[i]
		for i++; i < len(listed) && listed[i] == listed[i-1]+1; i++ {
		}
		p = append(p, when(unix.BPF_JGT, uint32(listed[i-1]), 3, 0), when(unix.BPF_JGE, uint32(first), 0, 1), allow, end(unix.ENOSYS))
	}
	if listed != nil {
		allow = end(unix.ENOSYS)
	}
	return append(p, allow)
}

// refuse is the part of a filter for one call.
func (c call) refuse(no unix.SockFilter) []unix.SockFilter {
	var p []unix.SockFilter
	test := func(w word, yes, no uint8) {
		p = append(p, load(atArguments+8*w.at))
		if w.mask != 0 {
			p = append(p, unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: w.mask})
		}
		p = append(p, when(unix.BPF_JEQ, w.is, yes, no))
	}
	for _, w := range c.only {
		test(w, 1, 0)
		p = append(p, no)
	}
	for _, w := range c.never {
		test(w, 0, 1)
		p = append(p, no)
	}
	for i := range c.either { // a match jumps over the other tests, of two instructions each, and the refusal
		test(c.either[i], uint8(2*(len(c.either)-1-i)+1), 0)
	}
	if c.either != nil {
		p = append(p, no)
	}
	if p == nil {
		return []unix.SockFilter{no}
	}
	return append(p, load(atNumber))
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func when(op uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

func end(errno unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

// restrictCalls sets the filter for the calling thread.
func restrictCalls(rows []refusal, listed []uintptr) error {
	arch, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	program := filter(arch, rows, listed)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}
