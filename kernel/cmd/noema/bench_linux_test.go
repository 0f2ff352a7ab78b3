package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkTrial is what a trial of a program costs beside one of a plugin in Go, one and 16 at
// once: neither makes a call. The process of noema and what it records are a part of both.
func BenchmarkTrial(b *testing.B) {
	const trials = 256
	dir := b.TempDir()
	var quiz strings.Builder
	for i := range trials {
		fmt.Fprintf(&quiz, `{"id": "q%d", "input": "question %d", "target": "yes"}`+"\n", i, i)
	}
	plugin, err := exec.LookPath("fragile")
	if err != nil {
		b.Fatal(err)
	}
	for name, content := range map[string]string{"quiz.jsonl": quiz.String(), "p/a.sh": "echo Answer: yes\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for name, method := range map[string]string{"program": "exec:sh p/a.sh", "plugin": plugin} {
		for _, atOnce := range []int{1, 16} {
			b.Run(fmt.Sprint(name, "/", atOnce), func(b *testing.B) {
				var cpu time.Duration
				runs := 0
				for b.Loop() {
					cmd := exec.Command("noema", "compare", "--task", "quiz.jsonl", "--model", "sim", "--methods", method, "--max-samples", fmt.Sprint(atOnce))
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "NOEMA_HOME="+b.TempDir())
					before := ofChildren()
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v:\n%s", err, out)
					}
					cpu += ofChildren() - before
					runs++
				}
				each := float64(runs * trials)
				b.ReportMetric(b.Elapsed().Seconds()*1000/each, "ms/trial")
				b.ReportMetric(cpu.Seconds()*1000/each, "cpu-ms/trial")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// ofChildren is the CPU time of the processes that this one has waited for, and of theirs.
func ofChildren() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
