//go:build !linux

package plugins

import (
	"io"
	"net"
	"os"
	"os/exec"
	"time"
)

// On other systems than Linux only the plugin's own process is killed, and the
// plugin watches its parent itself, as Serve does.

// awaitsExit says whether awaitExit waits: elsewhere only reaping tells the end.
const awaitsExit = false

func setApart(*exec.Cmd, *cage)                      {}
func endsItself(*exec.Cmd)                           {}
func keepDescriptors()                               {}
func keepSecrets()                                   {}
func limitProcess(int, Limits)                       {}
func limitMemory(int, Limits)                        {}
func limitCPU(int, time.Duration, Limits)            {}
func awaitExit(pid int)                              {}
func (t *tap) copy()                                 { _, _ = io.Copy(t.to, t.pipe) }
func (t *tap) drain()                                {}
func killMarked(string)                              {}
func machineMemory() int64                           { return 0 }
func kin(int, string, *cage) []int                   { return nil }
func proportional([]int) int64                       { return 0 }
func usage(int, string, *cage, Limits) (Usage, bool) { return Usage{}, false }

// servedBy does not know: there the folder of the socket alone tells whose it is.
func servedBy(*net.UnixConn) (pid int, known bool) { return 0, false }

func usageOf(s *os.ProcessState) Usage {
	if s == nil {
		return Usage{}
	}
	return Usage{CPUTime: s.UserTime() + s.SystemTime(), Processes: 1}
}

func killTree(pid int, _ string, _ *cage) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

func killGroup(pid int) { killTree(pid, "", nil) }
func killChildren(int)  {}

func onFirstThread() bool  { return false }
func adoptOrphans()        {}
func killOrphans(bool) int { return 0 }

func terminate(pid int) { killTree(pid, "", nil) }

// There are no cages on this system.
type (
	cages struct{}
	cage  struct{}
)

func openCages() *cages          { return &cages{} }
func (*cages) open(Limits) *cage { return nil }
func (*cages) close()            {}
func (*cage) close()             {}
