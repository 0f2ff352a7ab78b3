package cluster

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"noema/kernel/base/files"
)

// State is what a coordinator is doing, for people.
type State struct {
	Address string        `json:"address"` // by which workers join
	Since   time.Time     `json:"since"`
	At      time.Time     `json:"at"`
	Queued  int           `json:"queued"`  // trials in the queue, which holds the next few
	Running int           `json:"running"` // trials with the workers
	Done    int           `json:"done"`    // trials that workers finished
	Rate    float64       `json:"rate"`    // trials per second that workers finished, in the last seconds
	Lost    int           `json:"lost"`    // workers that were lost
	Foreign int           `json:"foreign"` // messages that were refused
	Workers []WorkerState `json:"workers"`
}

// WorkerState is one worker of a [State].
type WorkerState struct {
	Name     string            `json:"name"`
	Platform string            `json:"platform"`
	Since    time.Time         `json:"since"`
	Slots    int               `json:"slots"` // trials at once
	Running  int               `json:"running"`
	Done     int               `json:"done"`
	Serves   []string          `json:"serves,omitempty"` // local models
	Cannot   map[string]string `json:"cannot,omitempty"` // methods that it cannot run, and why
}

// aloneTold is after how many looks without a worker a user should know.
const aloneTold = 5

// watch makes the queue again when it is stuck, and keeps the state file.
func (c *Coordinator) watch(ctx context.Context) {
	tick := time.NewTicker(c.o.pace.watch)
	defer tick.Stop()
	defer func() {
		if c.o.Status != "" {
			_ = os.Remove(c.o.Status) // a state without a coordinator is told apart by its time
		}
	}()
	done, alone := 0, 0
	for {
		s := c.State()
		if alone++; !c.working() || len(s.Workers) > 0 || c.o.Here != 0 {
			alone = 0
		}
		if alone == aloneTold {
			c.o.Warn("all trials wait: no worker is here; start one by noema worker --join " + files.Word(s.Address))
		}
		s.Rate = float64(s.Done-done) / c.o.pace.watch.Seconds()
		done = s.Done
		c.save(s)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.mend()
	}
}

// working reports whether a run is under way.
func (c *Coordinator) working() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.run != nil
}

// State returns what the coordinator is doing. Its rate is 0.
func (c *Coordinator) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Address: c.Address(), Since: c.started, At: time.Now(), Done: c.done, Lost: c.gone, Foreign: c.foreign, Workers: []WorkerState{}}
	if c.run != nil {
		s.Queued = len(c.run.queued)
	}
	for _, m := range c.members {
		w := WorkerState{
			Name: shown(m.hello.Shown), Platform: shown(m.hello.Build.Platform), Since: m.since, Slots: m.hello.Slots,
			Running: len(m.places), Done: m.done,
		}
		for _, model := range m.serves {
			w.Serves = append(w.Serves, shown(model.Name))
		}
		for group, fault := range m.ready {
			if c.run != nil && fault != "" && c.run.names[group] != "" {
				if w.Cannot == nil {
					w.Cannot = map[string]string{}
				}
				w.Cannot[c.run.names[group]] = shown(fault)
			}
		}
		s.Running += w.Running
		s.Workers = append(s.Workers, w)
	}
	slices.SortFunc(s.Workers, func(a, b WorkerState) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Workers is how many workers take part.
func (c *Coordinator) Workers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.members)
}

// save writes the state. One that cannot be written is missing for those who look, and
// nothing else.
func (c *Coordinator) save(s State) {
	if c.o.Status == "" {
		return
	}
	if raw, err := json.Marshal(s); err == nil {
		_ = files.Write(c.o.Status, raw, 0o600)
	}
}

// ReadState reads the state that a coordinator keeps in a file. It is false if none has
// written there for a while.
func ReadState(file string) (s State, ok bool) {
	raw, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return s, false
	}
	return s, time.Since(s.At) < 5*usual().watch
}

// mend makes the queue again from what waits, when nothing of it comes to workers that
// have room: its stream is gone with its server, or stuck.
func (c *Coordinator) mend() {
	c.mu.Lock()
	r := c.run
	if r == nil || len(r.queued) == 0 || time.Since(r.claimed) < c.o.pace.stuck || !r.idle() {
		c.mu.Unlock()
		return
	}
	r.claimed = time.Now()
	var all []*queued
	for _, q := range r.queued {
		all = append(all, q)
	}
	clear(r.batches) // those under way are acknowledged when they come again
	clear(r.queued)
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.ctx, 10*time.Second)
	defer cancel()
	c.o.Warn("the queue is stuck: recreating it")
	if err := c.queue.begin(ctx, r.groupIDs()); err != nil {
		c.o.Warn(err.Error())
	}
	filling := map[string]*batchOf{}
	for _, q := range all {
		r.add(filling, q.id)
	}
	r.send(filling)
}

// idle reports whether a worker has room for a trial that waits. The coordinator is locked.
func (r *run) idle() bool {
	for _, q := range r.queued {
		for _, m := range r.c.members {
			if m.can(q.group) && len(m.places) < m.hello.Slots {
				return true
			}
		}
	}
	return false
}
