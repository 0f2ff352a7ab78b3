package isolate

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// x32 marks calls of another convention of amd64, which would pass the filter
// under other numbers.
const x32 = 0x4000_0000

// Where a filter finds what a thread asks for: struct seccomp_data. The first
// word of an argument is its lower half on every machine below.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16
	atSecond = 24
)

// filter is a program of BPF that refuses sockets other than local streams, and
// every way to connect one: a plugin is connected to, it never connects. Local
// sockets count, because a daemon or the store of another noema may listen there.
// The keys that the kernel keeps for a user are refused, too. Jumps are given as
// the number of instructions to skip.
func filter(arch uint32) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	when := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	refuse := end(unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES))
	p := []unix.SockFilter{
		load(atArch), when(unix.BPF_JEQ, arch, 1, 0), refuse,
		load(atNumber), when(unix.BPF_JGE, x32, 0, 1), refuse,
	}
	for _, call := range []uint32{unix.SYS_CONNECT, unix.SYS_IO_URING_SETUP, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY, unix.SYS_ADD_KEY} {
		p = append(p, when(unix.BPF_JEQ, call, 0, 1), refuse)
	}
	return append(p,
		when(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), when(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 6),
		load(atFirst), when(unix.BPF_JEQ, unix.AF_UNIX, 0, 3),
		load(atSecond), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xf}, when(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0),
		refuse, end(unix.SECCOMP_RET_ALLOW),
	)
}

// restrictSockets sets the filter for the calling thread.
func restrictSockets() error {
	arch, known := map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]
	if !known {
		return fmt.Errorf("no filter for %s", runtime.GOARCH)
	}
	program := filter(arch)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return errno
	}
	return nil
}
