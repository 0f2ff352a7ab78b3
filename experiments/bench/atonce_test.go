package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// TestAtOnce runs as many trials at once as there are samples, each of one call that
// takes a second or more over real HTTP. Beside it, a bare client makes the same
// calls to the same server.
func TestAtOnce(t *testing.T) {
	if os.Getenv("NOEMA_BENCH") == "" {
		t.Skip("set NOEMA_BENCH=1 to run it: it builds noema, and takes a minute")
	}
	levels := map[int]time.Duration{1000: time.Second, 10_000: 10 * time.Second}
	command := buildNoema(t, t.TempDir())
	for samples, latency := range levels {
		t.Run(strconv.Itoa(samples), func(t *testing.T) { atOnce(t, command, samples, latency) })
	}
}

func atOnce(t *testing.T, command string, samples int, latency time.Duration) {
	server := newModelServer(t, latency)
	bare, bareCPU := bareCalls(t, server.URL, samples)
	dir := t.TempDir()
	questions := filepath.Join(dir, "questions.jsonl")
	writeQuestions(t, questions, samples)
	asked := server.Requests()
	n := strconv.Itoa(samples)
	cmd := exec.CommandContext(t.Context(), command, "compare", "--task", questions, "--model", "openai/tiny", "--methods", "direct",
		"--max-samples", n, "--max-connections", n, "--json")
	cmd.Env = append(os.Environ(), "NOEMA_HOME="+filepath.Join(dir, "home"), "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+server.URL)
	began, served := time.Now(), cpuTime(t)
	peak := watchMemory(t)
	out, err := cmd.Output()
	wall := time.Since(began)
	served = cpuTime(t) - served
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		t.Fatalf("%v\n%s\n%.2000s", err, out, exit.Stderr)
	}
	var got struct {
		Methods []struct{ Outcomes map[string]int }
	}
	if err := json.Unmarshal(out, &got); err != nil || len(got.Methods) != 1 || got.Methods[0].Outcomes["answered"] != samples {
		t.Errorf("not all trials answered: %v\n%.2000s", err, out)
	}
	if calls := server.Requests() - asked; calls != samples {
		t.Errorf("%d calls for %d trials", calls, samples)
	}
	memory := peak()
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	least := latency + (cpu+served)/time.Duration(runtime.NumCPU())
	t.Logf("%d trials at once, %v each: noema %.2f s = %.2f x the latency = %.2f x what the %d cores allow (%.2f s of CPU, the server's %.2f s)",
		samples, latency, wall.Seconds(), wall.Seconds()/latency.Seconds(), wall.Seconds()/least.Seconds(), runtime.NumCPU(), cpu.Seconds(), served.Seconds())
	t.Logf("a bare client %.2f s (%.2f s of CPU); %d at once at the server; %d MiB = %d KiB a trial",
		bare.Seconds(), bareCPU.Seconds(), server.MostInFlight(), memory>>20, memory>>10/int64(samples))
}

// bareCalls makes the calls of so many trials at once in another process, with
// nothing around them, and returns how long that takes.
func bareCalls(t *testing.T, url string, n int) (wall, cpu time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "call", url, strconv.Itoa(n))
	began := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("bare client: %v\n%.2000s", err, out)
	}
	return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// callBare is the bare client.
func callBare(url, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n}}
	var calls errgroup.Group
	for i := range n {
		calls.Go(func() error {
			body := fmt.Sprintf(`{"model":"tiny","stream":true,"messages":[{"role":"user","content":"bare %d: %s"}]}`, i, strings.Repeat("word ", 400))
			return bareCall(context.Background(), client, url, body)
		})
	}
	return calls.Wait()
}

func bareCall(ctx context.Context, client *http.Client, url, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err == nil && !bytes.Contains(raw, []byte("yes")) {
		err = fmt.Errorf("%s: %.200s", res.Status, raw)
	}
	return err
}

// cpuTime is the CPU time of this process, which is the server's.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// watchMemory returns a function that ends the watch and tells the most memory, in
// bytes, that all processes below this one had together.
func watchMemory(t *testing.T) func() int64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	most := make(chan int64, 1)
	go func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		var peak int64
		for {
			select {
			case <-ctx.Done():
				most <- peak
				return
			case <-tick.C:
				peak = max(peak, descendantsMemory(os.Getpid()))
			}
		}
	}()
	return func() int64 { stop(); return <-most }
}

// descendantsMemory is the memory of all processes that one has started, each page
// counted once.
func descendantsMemory(pid int) (sum int64) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		raw, _ := os.ReadFile(list) // a thread may have ended
		for _, word := range strings.Fields(string(raw)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			sum += proportional(child) + descendantsMemory(child)
		}
	}
	return sum
}

func proportional(pid int) int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)) // it may have ended
	_, rest, _ := strings.Cut(string(raw), "\nPss:")
	if fields := strings.Fields(rest); len(fields) > 0 {
		if kilobytes, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			return kilobytes << 10
		}
	}
	return 0
}
