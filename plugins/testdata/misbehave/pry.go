package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"noema/methods"
)

// steal answers with what a file of the host holds, named by the query.
func steal(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	raw, err := os.ReadFile(p.Query)
	return methods.TextAnswer(string(raw)), err
}

// phone asks a server by itself, named by the query.
func phone(ctx context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.Query, nil)
	if err != nil {
		return methods.Answer{}, err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return methods.Answer{}, err
	}
	defer reply.Body.Close()
	return methods.TextAnswer(reply.Status), nil
}

// Target is what pry tries to reach.
type Target struct {
	File, Dir, Server, Socket string
}

// pry tries every way out that it knows, and answers with what each brought:
// nothing, or an error.
func pry(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	var at Target
	if err := json.Unmarshal([]byte(p.Query), &at); err != nil {
		return methods.Answer{}, err
	}
	told := map[string]string{}
	for name, try := range ways(at) {
		told[name] = ""
		if err := try(); err != nil {
			told[name] = err.Error()
		}
	}
	raw, err := json.Marshal(told)
	return methods.TextAnswer(string(raw)), err
}

func ways(at Target) map[string]func() error {
	dial := func(network, address string) func() error {
		return func() error {
			c, err := net.Dial(network, address)
			if err == nil {
				err = c.Close()
			}
			return err
		}
	}
	socket := func(domain, kind int) func() error {
		return func() error { _, err := unix.Socket(domain, kind, 0); return err }
	}
	open := func(path string, flags int) func() error {
		return func() error { _, err := unix.Open(path, flags, 0o600); return err }
	}
	return map[string]func() error{
		"read a file":           open(at.File, unix.O_RDONLY),
		"overwrite a file":      open(at.File, unix.O_WRONLY|unix.O_TRUNC),
		"make a file":           open(filepath.Join(at.Dir, "new"), unix.O_CREAT|unix.O_WRONLY),
		"list a folder":         func() error { _, err := os.ReadDir(at.Dir); return err },
		"remove a file":         func() error { return os.Remove(at.File) },
		"link a file":           func() error { return os.Link(at.File, "stolen") },
		"read through a link":   func() error { return throughLink(at.File) },
		"have a shell read":     func() error { return exec.Command("/bin/sh", "-c", "cat "+at.File).Run() },
		"read the shadow file":  open("/etc/shadow", unix.O_RDONLY),
		"list the home":         func() error { _, err := os.ReadDir(os.Getenv("HOME")); return err },
		"read the host's space": open(fmt.Sprintf("/proc/%d/environ", os.Getppid()), unix.O_RDONLY),
		"mount":                 func() error { return unix.Mount("/", at.Dir, "", unix.MS_BIND, "") },
		"kill the host":         func() error { return syscall.Kill(os.Getppid(), 0) },
		"trace the host":        func() error { return unix.PtraceSeize(os.Getppid()) },
		"dial tcp":              dial("tcp", at.Server),
		"dial udp":              dial("udp", at.Server),
		"dial a unix socket":    dial("unix", at.Socket),
		"listen on tcp":         func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"open a raw socket":     socket(unix.AF_INET, unix.SOCK_RAW),
		"open a netlink socket": socket(unix.AF_NETLINK, unix.SOCK_RAW),
		"open a packet socket":  socket(unix.AF_PACKET, unix.SOCK_RAW),
		"open a vsock":          socket(unix.AF_VSOCK, unix.SOCK_STREAM),
		"open a unix datagram":  socket(unix.AF_UNIX, unix.SOCK_DGRAM),
		"have rings connect":    ioUring,
		"read the keyring":      func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false); return err },
	}
}

func throughLink(file string) error {
	if err := os.Symlink(file, "link"); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	_, err := os.ReadFile("link")
	return err
}

func ioUring() error {
	var params [128]byte
	_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
