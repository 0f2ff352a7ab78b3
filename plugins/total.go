package plugins

import (
	"fmt"
	"sync"
	"time"
)

// total is the memory of all plugin processes of a host.
type total struct {
	limit int64 // 0 means no limit

	mu   sync.Mutex
	held map[*child]int64 // resident bytes of each, as last measured
	next time.Time        // when to look again after a false alarm
	busy bool             // someone is looking
}

// note takes a measurement, and reports whether it may be too much now: pages that
// processes share, as those of one program do, are counted for each here.
func (t *total) note(c *child, memory int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.finished() {
		delete(t.held, c)
		return false
	}
	t.held[c] = memory
	var sum int64
	for _, m := range t.held {
		sum += m
	}
	if t.limit == 0 || sum <= t.limit || t.busy || time.Now().Before(t.next) {
		return false
	}
	t.busy = true
	return true
}

// exact counts again, each page once. It is slow, so that after a false alarm the
// next count waits ten times as long as this one took.
func (t *total) exact() (of map[*child]int64, sum int64) {
	t.mu.Lock()
	all := make([]*child, 0, len(t.held))
	for c := range t.held {
		all = append(all, c)
	}
	t.mu.Unlock()
	begun := time.Now()
	of = map[*child]int64{}
	for _, c := range all {
		if !c.finished() {
			of[c] = proportional(kin(c.cmd.Process.Pid, c.dir, c.cage))
			sum += of[c]
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	t.next = time.Now().Add(10 * time.Since(begun))
	return of, sum
}

// relieve ends processes if all together hold too much: those without a trial,
// and, if that is not enough, the largest. The failure of its trials is Shared
// unless it was the only process that served a trial alone.
func (h *Host) relieve() {
	of, sum := h.memory.exact()
	limit := h.memory.limit
	if sum <= limit {
		return
	}
	left := sum
	for _, p := range h.takeIdle() {
		left -= of[p.child]
		delete(of, p.child)
		p.child.end("")
	}
	if left <= limit {
		return
	}
	largest := victim(of, limit)
	largest.endForAll(fmt.Sprintf("was ended: all plugins together used %s of memory, the limit is %s, and it used the most (%s): raise --plugin-memory or lower --max-samples",
		size(sum), size(limit), size(of[largest])))
}

// victim is the largest process; one that serves the last attempt of a trial only if
// it is too large by itself, or nothing else is left to end.
func victim(of map[*child]int64, limit int64) *child {
	var largest *child
	rank := func(c *child) int {
		if c.spared() && of[c] <= limit {
			return 0
		}
		return 1
	}
	for c := range of {
		if largest == nil || rank(c) > rank(largest) || rank(c) == rank(largest) && of[c] > of[largest] {
			largest = c
		}
	}
	return largest
}

// takeIdle takes the processes without a trial out of their pools.
func (h *Host) takeIdle() (idle []*process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.pools {
		for _, c := range p.processes {
			if c.trials == 0 {
				idle = append(idle, c)
			}
		}
	}
	for _, c := range idle {
		c.pool.drop(c)
	}
	return idle
}
