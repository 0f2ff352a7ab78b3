package plugins

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"noema/methods"
)

// bounded is a host whose plugins may use so much memory together.
func bounded(t *testing.T, memory int64) *Host {
	t.Helper()
	h, err := NewHost(HostOptions{MaxProcesses: 2, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// named opens a plugin that holds memory, as one of several.
func named(t *testing.T, h *Host, name string) *Plugin {
	t.Helper()
	src := misbehaving(t, "hold")
	src.Name = name
	p, err := h.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// insist runs a trial as a run does: again as long as another may be to blame.
func insist(ctx context.Context, p *Plugin, query string) (times int, err error) {
	for {
		times++
		_, err = p.Solve(ctx, methods.Problem{Query: query}, newKernel())
		var f *Failure
		if !errors.As(err, &f) || !f.Shared {
			return times, err
		}
		ctx = Alone(ctx)
	}
}

// TestTotalBlamesTheLeak: of many trials in shared processes, and of another plugin
// beside them, only the one that leaks fails.
func TestTotalBlamesTheLeak(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	h := bounded(t, 256<<20)
	leaky, other := named(t, h, "leaky"), named(t, h, "other")
	var trials sync.WaitGroup
	for i := range 40 {
		trials.Go(func() {
			p, query := leaky, "1"
			if i%2 == 1 {
				p = other
			} else if i == 10 {
				query = "leak"
			}
			_, err := insist(t.Context(), p, query)
			if query != "leak" {
				if err != nil {
					t.Errorf("trial %d: %v", i, err)
				}
				return
			}
			for _, want := range []string{`plugin "leaky" was ended: all plugins together used `, "the limit is 256 MiB, and it used the most (", "--plugin-memory"} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the leak: %v, want %q in it", err, want)
				}
			}
		})
	}
	trials.Wait()
}

// TestTotalLetsAllSucceedInTurn: trials that need most of the memory each all
// succeed, one after the other.
func TestTotalLetsAllSucceedInTurn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	h := bounded(t, 320<<20)
	var trials sync.WaitGroup
	var mu sync.Mutex
	again := 0
	for i := range 3 {
		p := named(t, h, fmt.Sprint("big", i))
		trials.Go(func() {
			times, err := insist(t.Context(), p, "200")
			if err != nil {
				t.Errorf("trial %d: %v", i, err)
			}
			mu.Lock()
			defer mu.Unlock()
			again += times - 1
		})
	}
	trials.Wait()
	if again == 0 {
		t.Skip("the machine was so busy that no two trials were at once: 600 MiB were never too much")
	}
}

// TestTotalEndsIdleProcessesFirst: what is idle makes room for a trial.
func TestTotalEndsIdleProcessesFirst(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("long")
	}
	h := bounded(t, 320<<20)
	for i := range 4 {
		if times, err := insist(t.Context(), named(t, h, fmt.Sprint("big", i)), "200"); err != nil || times != 1 {
			t.Errorf("trial %d: %v after %d times", i, err, times)
		}
	}
}

func TestTotalDefaults(t *testing.T) {
	machine := machineMemory()
	if machine < 64<<20 {
		t.Fatalf("the machine has %d bytes of memory", machine)
	}
	for given, want := range map[int64]int64{0: machine / 2, -1: 0, 5 << 30: 5 << 30} {
		if h := bounded(t, given); h.memory.limit != want {
			t.Errorf("%d: the limit is %d, want %d", given, h.memory.limit, want)
		}
	}
}
