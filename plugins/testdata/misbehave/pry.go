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
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"noema/methods"
	"noema/plugins/internal/isolate"
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
// nothing, or an error. A way's name begins with what the record calls that. What
// noema itself tries at the start of a plugin is tried here, too.
func pry(_ context.Context, p methods.Problem, _ methods.Host) (methods.Answer, error) {
	var at Target
	if err := json.Unmarshal([]byte(p.Query), &at); err != nil {
		return methods.Answer{}, err
	}
	told := map[string]string{}
	for area, ways := range ways(at) {
		for name, try := range ways {
			told[area+": "+name] = ""
			if err := try(); err != nil {
				told[area+": "+name] = err.Error()
			}
		}
	}
	var s isolate.State
	s.Try(isolate.Rules{Outside: at.Dir, Starter: -1}, true)
	for _, left := range s.Left {
		what, by, _ := strings.Cut(left, " (")
		told[what+": as noema tries it: "+by] = ""
	}
	raw, err := json.Marshal(told)
	return methods.TextAnswer(string(raw)), err
}

func ways(at Target) map[string]map[string]func() error {
	all := map[string]map[string]func() error{
		"files outside": reaching(at), "the network": connecting(at), "file attributes": changing(at.File),
		"other processes": meddling(os.Getppid()), "signals": signalling(os.Getppid()), "memory that stays": keeping(at.Dir),
		"watching files": watching(at.Dir), "ways around the filter": evading(at.File), "capabilities": ruling(at.Dir),
	}
	return all
}

func open(path string, flags int) func() error {
	return func() error { _, err := unix.Open(path, flags, 0o600); return err }
}

func shell(command string) func() error {
	return func() error { return exec.Command("/bin/sh", "-c", command).Run() }
}

func reaching(at Target) map[string]func() error {
	parent := fmt.Sprintf("/proc/%d", os.Getppid())
	return map[string]func() error{
		"read a file":             open(at.File, unix.O_RDONLY),
		"overwrite a file":        open(at.File, unix.O_WRONLY),
		"empty a file":            func() error { return unix.Truncate(at.File, 0) },
		"empty a file by opening": open(at.File, unix.O_RDONLY|unix.O_TRUNC),
		"make a file":             open(filepath.Join(at.Dir, "new"), unix.O_CREAT|unix.O_WRONLY),
		"make a nameless file":    open(at.Dir, unix.O_TMPFILE|unix.O_WRONLY),
		"make a folder":           func() error { return unix.Mkdir(filepath.Join(at.Dir, "d"), 0o700) },
		"make a link":             func() error { return os.Symlink("/", filepath.Join(at.Dir, "l")) },
		"list a folder":           func() error { _, err := os.ReadDir(at.Dir); return err },
		"link a file":             func() error { return os.Link(at.File, "stolen") },
		"rename a file":           func() error { return os.Rename(at.File, "stolen") },
		"read through a link":     func() error { return throughLink(at.File) },
		"have a shell read":       shell("cat " + at.File),
		"read by another root":    open(parent+"/root"+at.File, unix.O_RDONLY),
		"read by an own root":     open("/proc/self/root"+at.File, unix.O_RDONLY),
		"read after a mount":      shell("unshare -Urm sh -c 'mount --bind " + at.Dir + " /mnt && cat /mnt/*'"),
		"read the shadow file":    open("/etc/shadow", unix.O_RDONLY),
		"list the home":           func() error { _, err := os.ReadDir(os.Getenv("HOME")); return err },
		"read the host's space":   open(parent+"/environ", unix.O_RDONLY),
		"write the host's memory": open(parent+"/mem", unix.O_WRONLY),
		"name the host's victim":  open(parent+"/oom_score_adj", unix.O_WRONLY),
		"write to the system":     open("/proc/sys/kernel/core_pattern", unix.O_WRONLY),
		"mount":                   func() error { return unix.Mount("/", at.Dir, "", unix.MS_BIND, "") },
		"remove a file":           func() error { return os.Remove(at.File) },
	}
}

func connecting(at Target) map[string]func() error {
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
	return map[string]func() error{
		"dial tcp":                 dial("tcp", at.Server),
		"dial udp":                 dial("udp", at.Server),
		"dial a unix socket":       dial("unix", at.Socket),
		"dial an abstract socket":  dial("unix", "@"+filepath.Base(at.Dir)),
		"listen on tcp":            func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"open a raw socket":        socket(unix.AF_INET, unix.SOCK_RAW),
		"open a netlink socket":    socket(unix.AF_NETLINK, unix.SOCK_RAW),
		"open a packet socket":     socket(unix.AF_PACKET, unix.SOCK_RAW),
		"open a vsock":             socket(unix.AF_VSOCK, unix.SOCK_STREAM),
		"open a crypto socket":     socket(unix.AF_ALG, unix.SOCK_SEQPACKET),
		"open a unix datagram":     socket(unix.AF_UNIX, unix.SOCK_DGRAM),
		"open a unix packet":       socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC),
		"have rings connect":       ioUring,
		"socket in a new universe": shell("unshare -Urn sh -c 'echo > /dev/tcp/127.0.0.1/9' || unshare -Urn ip link"),
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
	return raw(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
}
